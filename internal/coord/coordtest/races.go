package coordtest

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
)

// races: of all who quote a revision exactly one wins, and a counter loses nothing.
func races(t *talk) {
	const writers, rounds = 8, 25
	t.creates("counter", "0")
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		quoted  []int64 // by winners
	)
	for range writers {
		running.Go(func() {
			for won := 0; won < rounds; {
				record, err := t.store.Get(t.ctx, "counter")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(record.Value))
				_, err = t.store.Swap(t.ctx, "counter", record.Revision, fmt.Append(nil, n+1))
				if err != nil && !fault.Is(err, fault.Conflict) {
					t.Error(err)
					return
				}
				if err == nil {
					won++
					mu.Lock()
					quoted = append(quoted, record.Revision)
					mu.Unlock()
				}
			}
		})
	}
	running.Wait()
	record, err := t.store.Get(t.ctx, "counter")
	t.ok(err)
	if string(record.Value) != fmt.Sprint(writers*rounds) {
		t.Errorf("the counter is at %s, want %d", record.Value, writers*rounds)
	}
	slices.Sort(quoted)
	if n := len(slices.Compact(quoted)); n != writers*rounds {
		t.Errorf("%d swaps won, quoting %d revisions", writers*rounds, n)
	}

	for round := range 10 { // one creates, and one deletes
		key := fmt.Sprintf("race/%d", round)
		var created, deleted []int64
		for range writers {
			running.Go(func() {
				if revision, err := t.store.Create(t.ctx, key, nil); err == nil {
					mu.Lock()
					created = append(created, revision)
					mu.Unlock()
				}
			})
		}
		running.Wait()
		if len(created) != 1 {
			t.Fatalf("%d created one record", len(created))
		}
		for range writers {
			running.Go(func() {
				if err := t.store.Delete(t.ctx, key, created[0]); err == nil {
					mu.Lock()
					deleted = append(deleted, created[0])
					mu.Unlock()
				}
			})
		}
		running.Wait()
		if len(deleted) != 1 {
			t.Fatalf("%d deleted one record", len(deleted))
		}
	}
}

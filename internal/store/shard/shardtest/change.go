package shardtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var changes = []test{
	{"each applied write, in order, with what it replaced", changeOrder},
	{"no more than asked for, from any position", changePages},
	{"a position of another incarnation is stale", changeIncarnation},
	{"they are there after reopening", changesReopened},
	{"a follower sees no hole, and nothing that is not synced", changesFollowed},
	{"those that are pruned are expired", changesExpired},
	{"a cancelled iteration says so", changesCancelled},
}

func changeOrder(t *testing.T, c Case) {
	k := begin(t, c)
	k.try(indexed("a", `1`), indexed("b", `1`), created("a", `2`), deleted("a"), deleted("never"), indexed("a", `3`), deleted("never"))
	expected := []shard.Change{
		{Ref: ref("a"), SeqNo: 0, Op: shard.Put, Previous: -1},
		{Ref: ref("b"), SeqNo: 1, Op: shard.Put, Previous: -1},
		{Ref: ref("a"), SeqNo: 2, Op: shard.Delete, Previous: 0},
		{Ref: ref("never"), SeqNo: 3, Op: shard.Delete, Previous: -1},
		{Ref: ref("a"), SeqNo: 4, Op: shard.Put, Previous: 2},
		{Ref: ref("never"), SeqNo: 5, Op: shard.Delete, Previous: 3},
	}
	if found := k.changes(-1, 100); !slices.Equal(found, expected) {
		t.Fatalf("%v, expected %v", found, expected)
	}
}

func changePages(t *testing.T, c Case) {
	k := begin(t, c)
	for i, id := range strange {
		if i%3 == 0 {
			k.write(indexed(id, `{}`))
			continue
		}
		k.write(indexed(id, `{}`), deleted(id), indexed(id, `{}`))
	}
	all := k.changes(-1, 1<<20)
	if int64(len(all)) != k.shard.Stats().SeqNo+1 {
		t.Fatalf("%d changes up to %d", len(all), k.shard.Stats().SeqNo)
	}
	for after := range len(all) + 1 {
		for _, limit := range []int{0, 1, 2, 5, 1 << 30} {
			expected := all[after:min(len(all), after+limit)]
			if found := k.changes(int64(after)-1, limit); !slices.Equal(found, expected) {
				t.Fatalf("after %d, at most %d: %v, expected %v", after-1, limit, found, expected)
			}
		}
	}
	for _, err := range k.shard.Changes(k.ctx, k.at(-1), 10) {
		k.must(err)
		break // a consumer may stop
	}
}

func changeIncarnation(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`))
	old := k.at(1)
	for _, p := range []shard.Position{{Incarnation: 2, SeqNo: -1}, {Incarnation: 0, SeqNo: -1}} {
		if err := k.refusal(p); !errors.As(err, new(*shard.Stale)) {
			t.Fatalf("after %v: %v, expected stale", p, err)
		}
	}
	k.move(func(s *placement.Shard) { s.Term = 2 })
	k.must(k.shard.Reload(k.ctx))
	k.write(indexed("a", `{}`))
	if err := k.refusal(old); !errors.As(err, new(*shard.Stale)) {
		t.Fatalf("after %v: %v, expected stale", old, err)
	}
	if found := k.changes(1, 10); len(found) != 1 || found[0] != (shard.Change{Ref: ref("a"), SeqNo: 2, Previous: 0}) {
		t.Fatalf("the new incarnation goes on with %v", found)
	}
}

func changesReopened(t *testing.T, c Case) {
	k := begin(t, c)
	for _, id := range strange {
		k.write(indexed(id, `{}`), deleted(id))
	}
	was := k.changes(-1, 1<<20)
	k.reopen()
	if is := k.changes(-1, 1<<20); !slices.Equal(was, is) {
		t.Fatalf("%v, before %v", is, was)
	}
	k.write(indexed(strange[0], `{}`))
	if is := k.changes(int64(len(was))-1, 10); len(is) != 1 || is[0].Previous != 1 {
		t.Fatalf("then %v", is)
	}
}

func changesFollowed(t *testing.T, c Case) {
	k := begin(t, c)
	var writers sync.WaitGroup
	defer writers.Wait()
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				k.shard.Write(k.ctx, 1, []shard.Op{indexed(fmt.Sprint(w), fmt.Sprint(i)), indexed("all", `{}`)})
			}
		})
	}
	last, previous := int64(-1), map[string]int64{}
	for last < 399 {
		for change, err := range k.shard.Changes(k.ctx, k.at(last), 7) {
			k.must(err)
			was, known := previous[change.ID]
			if !known {
				was = -1
			}
			if change.SeqNo != last+1 || change.Previous != was {
				t.Fatalf("after %d comes %v; the row had %d", last, change, was)
			}
			if synced := k.shard.Stats().Synced; synced < change.SeqNo {
				t.Fatalf("%v is shown, synced is %d", change, synced)
			}
			last, previous[change.ID] = change.SeqNo, change.SeqNo
		}
	}
	writers.Wait()
	if s := k.shard.Stats(); s.Docs != 5 || s.SeqNo != 399 {
		t.Fatalf("%+v", s)
	}
}

func changesExpired(t *testing.T, c Case) {
	k := begin(t, c)
	for range 4 {
		k.write(indexed("a", `{}`))
	}
	k.refresh()
	k.write(indexed("a", `{}`))
	k.must(k.shard.Prune(k.ctx, later(2*time.Hour)))
	for after := range int64(4) {
		k.expired(k.refusal(k.at(after-1)), after-1, 4)
	}
	if found := k.changes(3, 10); len(found) != 1 || found[0].SeqNo != 4 || found[0].Previous != 3 {
		t.Fatalf("what is left: %v", found)
	}
}

// expired expects a refusal that names the oldest change.
func (k *talk) expired(err error, after, oldest int64) {
	k.Helper()
	var e *shard.Expired
	if !errors.As(err, &e) || e.ID != k.id || e.After != k.at(after) || e.Oldest != oldest {
		k.Fatalf("%v (%+v), expected: expired after %d, the oldest is %d", err, e, after, oldest)
	}
}

func changesCancelled(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`))
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	for _, err := range k.shard.Changes(ctx, k.at(-1), 10) {
		if err == nil {
			t.Fatal("it began although it was cancelled")
		}
		return
	}
	t.Fatal("it shows nothing, and no error")
}

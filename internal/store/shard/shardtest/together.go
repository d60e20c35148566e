package shardtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var histories = []test{
	{"of many who create one id exactly one wins", oneCreates},
	{"counters lose no step", countersLoseNothing},
	{"sequence numbers are given once, without holes", numbersOnce},
	{"histories of documents have an order", linear},
	{"histories over fences and moves have an order", linearOverMoves},
}

const clients = 8

func oneCreates(t *testing.T, c Case) {
	k := begin(t, c)
	for round := range 10 {
		id := fmt.Sprint("id", round%5) // the second time over a tombstone
		winners := make([]bool, clients)
		var racing sync.WaitGroup
		for w := range winners {
			racing.Go(func() {
				r := k.shard.Write(k.ctx, 1, []shard.Op{created(id, fmt.Sprint(w))})[0]
				if winners[w] = r.Err == nil; !winners[w] && !errors.As(r.Err, new(*shard.Conflict)) {
					t.Error(r.Err)
				}
			})
		}
		racing.Wait()
		won := slices.Index(winners, true)
		if won < 0 || slices.Contains(winners[won+1:], true) {
			t.Fatalf("round %d: winners %v", round, winners)
		}
		k.expect(id, fmt.Sprint(won))
		k.write(deleted(id))
	}
}

// countersLoseNothing has each client add steps to each counter, where what it read
// last is still what is stored.
func countersLoseNothing(t *testing.T, c Case) {
	k := begin(t, c)
	const counters, steps = 3, 10
	for i := range counters {
		k.write(indexed(fmt.Sprint(i), "0"))
	}
	var counting sync.WaitGroup
	for range clients {
		counting.Go(func() {
			for i := range counters * steps {
				if err := k.count1(fmt.Sprint(i % counters)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	counting.Wait()
	for i := range counters {
		if row := k.expect(fmt.Sprint(i), fmt.Sprint(clients*steps)); row.Version != clients*steps+1 {
			t.Fatalf("%+v", row)
		}
	}
}

// count1 adds one to a counter, however often it must try.
func (k *talk) count1(id string) error {
	for {
		row, _, err := k.shard.Get(k.ctx, 1, ref(id))
		if err != nil {
			return err
		}
		var n int
		if _, err := fmt.Sscan(string(row.Source), &n); err != nil {
			return err
		}
		op := indexed(id, fmt.Sprint(n+1))
		op.Condition.SeqNo, op.Condition.PrimaryTerm = row.SeqNo, row.PrimaryTerm
		r := k.shard.Write(k.ctx, 1, []shard.Op{op})[0]
		if !errors.As(r.Err, new(*shard.Conflict)) {
			return r.Err
		}
	}
}

func numbersOnce(t *testing.T, c Case) {
	k := begin(t, c)
	given := make([][]int64, clients)
	var writers sync.WaitGroup
	for w := range given {
		writers.Go(func() {
			for i := range 20 {
				for _, r := range k.shard.Write(k.ctx, 1, []shard.Op{indexed("all", `{}`), created("once", `{}`), indexed(fmt.Sprint(w, i), `{}`)}) {
					if r.Err == nil {
						given[w] = append(given[w], r.SeqNo)
					}
				}
				if !slices.IsSorted(given[w]) {
					t.Errorf("one client got %v", given[w])
				}
			}
		})
	}
	writers.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(given...)))
	for i, n := range all {
		if n != int64(i) {
			t.Fatalf("number %d follows %d", n, i-1)
		}
	}
	if len(all) != clients*40+1 {
		t.Fatalf("%d writes were applied", len(all))
	}
	if found := k.changes(-1, 1<<20); len(found) != len(all) {
		t.Fatalf("%d changes", len(found))
	}
}

func linear(t *testing.T, c Case) {
	k := begin(t, c)
	h := newHistory()
	k.play(h)
	h.check(t)
}

// linearOverMoves puts fences up meanwhile, and raises epoch and term.
func linearOverMoves(t *testing.T, c Case) {
	k := begin(t, c)
	h := newHistory()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.play(h)
	}()
	for moving := true; moving; {
		_, release := k.fence()
		k.move(func(s *placement.Shard) { s.Term++ })
		release()
		k.refresh()
		select {
		case <-ended:
			moving = false
		case <-h.noted: // somebody was admitted between two moves
		}
	}
	h.check(t)
}

// play has clients ask random things of few documents, and notes what they see.
func (k *talk) play(h *history) {
	seed := rand.Uint64()
	k.Logf("seed %d", seed)
	var playing sync.WaitGroup
	for client := range clients {
		playing.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(client)))
			known := map[string]stored{}
			for i := range 40 {
				a := action{verb: verb(dice.IntN(int(verbs))), id: fmt.Sprint(dice.IntN(3)), value: fmt.Sprint(client, "-", i)}
				a.seqNo, a.term = known[a.id].SeqNo, known[a.id].PrimaryTerm
				begun := h.now()
				e, err := k.ask(a)
				ended := h.now()
				switch {
				case errors.As(err, new(*shard.Stale)): // nothing happened
				case err != nil:
					k.Errorf("%v: %v", a, err)
				default:
					h.note(client, a, e, begun, ended)
					if known[a.id] = e.stored; !e.known {
						delete(known, a.id) // there are no numbers
					}
				}
			}
		})
	}
	playing.Wait()
}

// ask does an action under the epoch that the shard has now.
func (k *talk) ask(a action) (effect, error) {
	if a.verb == getting {
		row, found, err := k.shard.Get(k.ctx, k.epoch(), ref(a.id))
		return effect{applied: true, stored: stored{known: found, deleted: row.Deleted, value: string(row.Source), Versions: row.Versions}}, err
	}
	op := indexed(a.id, a.value)
	switch a.verb {
	case creating:
		op.MustCreate = true
	case deleting:
		op = deleted(a.id)
	case swapping:
		op.Condition.SeqNo, op.Condition.PrimaryTerm = a.seqNo, a.term
	}
	r := k.shard.Write(k.ctx, k.epoch(), []shard.Op{op})[0]
	var c *shard.Conflict
	if errors.As(r.Err, &c) {
		return effect{stored: stored{known: c.Known, deleted: c.Known && !c.Present, Versions: c.Stored}}, nil
	}
	return effect{applied: true, stored: stored{known: true, deleted: op.Delete, value: string(op.Source), Versions: r.Versions}}, r.Err
}

package shardtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var views = []test{
	{"without an indexer there are none", viewsOfNoIndexer},
	{"what is shown is what a refresh found", viewsOfRefresh},
	{"deleted and replaced documents are shown by none", viewsOfDeleted},
	{"a document that is written often before a refresh is shown once", viewsOfRewritten},
	{"children go with their document", viewsOfChildren},
	{"a document that cannot be indexed wholly is shown all the same", viewsOfBad},
	{"one id under two keys is two documents", viewsOfTwoKeys},
	{"a shard that is opened again shows all that it has", viewsAfterReopen},
	{"pruning takes nothing away", viewsAfterPrune},
	{"a range that shrinks hides what is outside, and not from open readers", viewsOfNarrowed},
	{"a range that grows again shows what is there now", viewsOfWidened},
	{"a range that moves shows what it then covers", viewsOfMoved},
	{"mending what is whole shows what is written", viewsMended},
	{"views agree with scans under random requests", viewPrograms},
	{"readers under writes, refreshes and pruning stay as they are", viewsTogether},
}

func beginIndexed(t testing.TB, c Case) *talk {
	return beginWith(t, c, 1, shard.Settings{Indexer: Words{}})
}

// agree checks the reader that is published, and how many documents it has.
func (k *talk) agree(docs int) {
	k.Helper()
	r := k.acquire()
	defer r.Close()
	if int(r.Docs()) != docs {
		k.Fatalf("the reader has %d documents, expected %d", r.Docs(), docs)
	}
	k.must(Agree(k.ctx, r))
}

// refreshed refreshes and checks.
func (k *talk) refreshed(docs int) {
	k.Helper()
	k.refresh()
	k.agree(docs)
}

func viewsOfNoIndexer(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", "x"))
	k.refresh()
	if found := k.acquire().Views(); len(found) != 0 {
		t.Fatalf("%d views", len(found))
	}
}

func viewsOfRefresh(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.agree(0)
	k.refreshed(0)
	k.write(indexed("a", "x y"), indexed("b", "y z"))
	k.agree(0)
	k.refreshed(2)
	k.write(indexed("c", "z"), indexed("", "empty"))
	k.agree(2)
	k.refreshed(4)
}

func viewsOfDeleted(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.write(indexed("a", "x"), indexed("b", "x"), indexed("c", "x"))
	k.refreshed(3)
	before := k.acquire()
	k.write(deleted("a"), indexed("b", "y"), deleted("never"))
	k.refreshed(2)
	k.must(Agree(k.ctx, before))
	k.write(deleted("b"), deleted("c"))
	k.refreshed(0)
	k.write(indexed("c", "again"))
	k.refreshed(1)
	k.must(Agree(k.ctx, before))
}

func viewsOfRewritten(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	for i := range 5 {
		k.write(indexed("a", fmt.Sprint("x", i)), indexed("a", fmt.Sprint("y", i)), indexed("b", "z"), deleted("b"))
	}
	k.refreshed(1)
	k.write(deleted("a"))
	k.write(indexed("a", "x"), deleted("a"), indexed("b", "z"))
	k.refreshed(1)
}

func viewsOfChildren(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.write(indexed("a", "x +1 +2"), indexed("b", "+3"), indexed("c", "y"), indexed("d", "+4 +5 +6"))
	k.refreshed(4)
	k.write(deleted("b"), indexed("d", "+7 z"))
	k.refreshed(3)
	k.move(func(s *placement.Shard) { s.Range = upTo("a", "c") })
	k.must(k.shard.Reload(k.ctx))
	k.agree(k.within("a", "c", "d"))
}

// upTo is a range that ends before one of the keys of ids, and has at least one of them.
func upTo(ids ...string) routing.Range {
	least, most := routing.MaxKey, routing.Key(0)
	for _, id := range ids {
		least, most = min(least, ref(id).Key), max(most, ref(id).Key)
	}
	return routing.Range{From: 0, To: least + (most-least)/2}
}

// within is how many of the ids have keys in the shard's range.
func (k *talk) within(ids ...string) (n int) {
	for _, id := range ids {
		if k.placed.Shards[0].Range.Contains(ref(id).Key) {
			n++
		}
	}
	return n
}

func viewsOfBad(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.write(indexed("a", "bad! x"), indexed("b", "x +bad! bad!"), indexed("c", "x"))
	k.refreshed(3)
}

func viewsOfTwoKeys(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	for i := range routing.Key(3) {
		k.write(at(i, "x"), at(i, "y"))
	}
	k.refreshed(6)
	gone := at(1, "x")
	gone.Delete, gone.Source = true, nil
	k.write(gone, at(2, "y"))
	k.refreshed(5)
}

func viewsAfterReopen(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	for i := range 30 {
		k.write(indexed(fmt.Sprint(i%20), fmt.Sprint("x +", i)))
		if i%7 == 0 {
			k.refresh()
		}
	}
	for i := range 5 {
		k.write(deleted(fmt.Sprint(i)))
	}
	k.reopen()
	k.agree(15)
	k.write(deleted("7"), indexed("8", "y"), indexed("30", "y"))
	k.refreshed(15)
	k.reopen()
	k.agree(15)
	k.reopen()
	k.agree(15)
}

func viewsAfterPrune(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	for i := range 10 {
		k.write(indexed(fmt.Sprint(i), "x"))
	}
	k.refresh()
	k.write(deleted("1"), indexed("2", "y"))
	for range 2 {
		k.must(k.shard.Prune(k.ctx, later(2*time.Hour)))
		k.refreshed(9)
		k.write(indexed("1", "again"), deleted("1"))
	}
	k.reopen()
	k.agree(9)
	k.must(k.shard.Prune(k.ctx, later(2*time.Hour)))
	k.write(deleted("3"))
	k.refreshed(8)
}

// some writes ids from first on.
func (k *talk) some(first, n int) {
	k.Helper()
	for i := first; i < first+n; i++ {
		k.write(indexed(fmt.Sprint(i), fmt.Sprint("x +", i)))
	}
}

// owned is how many of the ids below n are in the shard's range.
func (k *talk) owned(n int) (owned int) {
	for i := range n {
		owned += k.within(fmt.Sprint(i))
	}
	return owned
}

func viewsOfNarrowed(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.some(0, 40)
	k.refreshed(40)
	before := k.acquire()
	k.some(40, 10) // not refreshed
	k.move(func(s *placement.Shard) { s.Range.To = routing.MaxKey / 2 })
	k.must(k.shard.Reload(k.ctx))
	k.agree(k.owned(40))
	k.must(Agree(k.ctx, before))
	if before.Docs() != 40 {
		t.Fatalf("the open reader has %d documents", before.Docs())
	}
	k.refreshed(k.owned(50))
	k.must(before.Close())
	k.reopen()
	k.agree(k.owned(50))
	k.move(func(s *placement.Shard) { s.Range.From = routing.MaxKey / 4 })
	k.must(k.shard.Reload(k.ctx))
	k.agree(k.owned(50))
	k.reopen()
	k.agree(k.owned(50))
}

// viewsOfWidened has another shard own a part for a while, and write there.
func viewsOfWidened(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.some(0, 40)
	k.refresh()
	k.move(func(s *placement.Shard) { s.Range.To = routing.MaxKey / 2 })
	k.must(k.shard.Reload(k.ctx))
	k.agree(k.owned(40))
	k.placed.Shards = append(k.placed.Shards, placement.Shard{Number: 1, Range: routing.Range{From: routing.MaxKey/2 + 1, To: routing.MaxKey},
		Node: k.placed.Shards[0].Node, Epoch: k.placed.Version, Term: 1})
	k.places.Put(k.placed)
	o := k.other(shard.ID{Index: k.id.Index, Number: 1})
	for i := range 40 {
		if id := fmt.Sprint(i); ref(id).Key > routing.MaxKey/2 && i%3 == 0 {
			o.write(deleted(id))
		} else if ref(id).Key > routing.MaxKey/2 && i%3 == 1 {
			o.write(indexed(id, "other"))
		}
	}
	o.refresh()
	o.close()
	k.placed.Shards = k.placed.Shards[:1]
	k.move(func(s *placement.Shard) { s.Range = routing.Whole })
	k.must(k.shard.Reload(k.ctx))
	k.refresh() // whether shards see each other's rows is the engine's own
	r := k.acquire()
	k.must(Agree(k.ctx, r))
	k.must(r.Close())
	k.write(indexed("new", "y"))
	for i := range 40 {
		if i%3 == 1 {
			k.write(deleted(fmt.Sprint(i)))
		}
	}
	k.refresh()
	k.agree(int(k.shard.Stats().Docs))
	k.reopen()
	k.agree(int(k.shard.Stats().Docs))
}

func viewsOfMoved(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.some(0, 40)
	k.refresh()
	for _, r := range []routing.Range{
		{From: 0, To: routing.MaxKey / 2}, {From: routing.MaxKey / 4, To: routing.MaxKey / 4 * 3},
		{From: routing.MaxKey / 8 * 7, To: routing.MaxKey}, {From: 0, To: routing.MaxKey / 8}, routing.Whole,
	} {
		k.move(func(s *placement.Shard) { s.Range = r })
		k.must(k.shard.Reload(k.ctx))
		k.refreshed(k.owned(40))
		k.reopen()
		k.agree(k.owned(40))
	}
}

func viewsMended(t *testing.T, c Case) {
	k := beginIndexed(t, c)
	k.must(k.shard.Mend(k.ctx))
	k.some(0, 10)
	k.must(k.shard.Mend(k.ctx))
	k.agree(10)
	k.reopen()
	k.write(deleted("1"))
	k.must(k.shard.Mend(k.ctx))
	k.agree(9)
	k.close()
	k.shard = k.open()
	k.agree(9)
}

// viewsTogether checks readers while others write, refresh, prune and reload.
func viewsTogether(t *testing.T, c Case) {
	k := beginWith(t, c, 1, shard.Settings{Indexer: Words{}, MinimumAge: time.Nanosecond})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	var writers, others sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(w)))
			for range rounds {
				var ops []shard.Op
				for range 1 + dice.IntN(20) {
					id := fmt.Sprint(dice.IntN(100))
					if dice.IntN(4) == 0 {
						ops = append(ops, deleted(id))
					} else {
						ops = append(ops, indexed(id, fmt.Sprint("w", dice.IntN(30), " +", dice.IntN(9))))
					}
				}
				for _, r := range k.shard.Write(k.ctx, 1, ops) {
					if r.Err != nil {
						t.Error(r.Err)
					}
				}
			}
		})
	}
	over := make(chan struct{})
	keep := func(do func() error) {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	keep(func() error { _, err := k.shard.Refresh(k.ctx); return err })
	keep(func() error { return k.shard.Prune(k.ctx, later(time.Hour)) })
	for range 2 {
		keep(func() error {
			r, err := k.shard.Acquire(k.ctx, 1)
			if err != nil {
				return err
			}
			for range 2 { // what it shows stays
				err = errors.Join(err, Agree(k.ctx, r))
			}
			return errors.Join(err, r.Close())
		})
	}
	writers.Wait()
	close(over)
	others.Wait()
	k.refresh()
	k.agree(int(k.shard.Stats().Docs))
}

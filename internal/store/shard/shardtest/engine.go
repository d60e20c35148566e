package shardtest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var engines = []test{
	{"a shard is opened once", openedOnce},
	{"shards of one engine do not touch each other", shardsApart},
	{"shards of one index number for themselves", shardsOfOneIndex},
	{"an index that is dropped is gone", dropped},
	{"an index is not dropped while a shard is open", droppedOpen},
	{"a closed shard refuses", closedShard},
	{"closing refuses those who wait", closedUnderWaiters},
	{"closing waits for readers", closedUnderReader},
	{"closing waits for writes, and keeps what they acknowledged", closedUnderWrites},
}

func openedOnce(t *testing.T, c Case) {
	k := begin(t, c)
	for range 2 {
		if s, err := k.engine.Open(k.ctx, k.id, k.places, k.settings); !fault.Is(err, fault.Conflict) {
			t.Fatalf("%v, %v", s, err)
		}
	}
	k.write(indexed("a", `{}`))
	k.close()
	k.shard = k.open()
	k.expect("a", `{}`)
}

// other opens a second shard of the engine; the test closes it.
func (k *talk) other(id shard.ID) *talk {
	k.Helper()
	o := *k
	o.id = id
	o.shard = nil
	if _, err := k.places.Placement(k.ctx, id.Index); err != nil {
		o.placed = placement.New(id.Index, 1, placement.Local, placement.Change{By: "shardtest", Why: "a test"})
		k.places.Put(o.placed)
	}
	o.shard = o.open()
	return &o
}

func shardsApart(t *testing.T, c Case) {
	k := begin(t, c)
	for _, index := range []uint32{6, 8, 256, 0, 1<<32 - 1} { // neighbours in many orders
		o := k.other(shard.ID{Index: index})
		o.write(indexed("a", fmt.Sprint(index)), deleted("b"))
		o.hold("holder", 0)
		o.refresh()
		o.expect("a", fmt.Sprint(index))
		o.close()
	}
	k.absent("a")
	k.holding(nil)
	if r := k.write(indexed("b", `7`)); r.SeqNo != 0 || r.Version != 1 {
		t.Fatalf("%+v", r)
	}
	k.expectReader(1)
	if found := k.changes(-1, 10); len(found) != 1 {
		t.Fatalf("%v", found)
	}
	o := k.other(shard.ID{Index: 8})
	o.expect("a", `8`)
	o.holding(map[string]int64{"holder": 0})
	o.close()
}

func shardsOfOneIndex(t *testing.T, c Case) {
	k := beginWith(t, c, 2, shard.Settings{})
	half := k.placed.Shards[0].Range
	o := k.other(shard.ID{Index: k.id.Index, Number: 1})
	if o.shard.ID().Number != 1 || o.shard.Placed() != k.placed.Shards[1] {
		t.Fatalf("%v %v", o.shard.ID(), o.shard.Placed())
	}
	for i := range routing.Key(3) {
		lower, upper := at(half.To-i, "x"), at(half.To+1+i, "x")
		if r := k.write(lower); r.SeqNo != int64(i) {
			t.Fatalf("%+v", r)
		}
		if r := o.write(upper, upper); r.SeqNo != 2*int64(i)+1 {
			t.Fatalf("%+v", r)
		}
		_, _, err := o.shard.Get(k.ctx, 1, shard.Ref{Key: lower.Key, ID: "x"})
		o.stale(err, 1, 1)
	}
	k.expectReader(3)
	o.expectReader(3)
	if mine, theirs := k.changes(-1, 10), o.changes(-1, 10); len(mine) != 3 || len(theirs) != 6 {
		t.Fatalf("%v %v", mine, theirs)
	}
	o.close()
	k.reopen()
	k.expectReader(3)
	if s := k.shard.Stats(); s.Docs != 3 || s.SeqNo != 2 {
		t.Fatalf("%+v", s)
	}
}

// indices expects exactly these of the engine.
func (k *talk) indices(expected ...uint32) {
	k.Helper()
	found, err := k.engine.Indices(k.ctx)
	k.must(err)
	slices.Sort(found)
	if !slices.Equal(found, expected) {
		k.Fatalf("indices %v, expected %v", found, expected)
	}
}

func dropped(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), deleted("b"))
	k.hold("holder", 0)
	for _, index := range []uint32{6, 8} {
		o := k.other(shard.ID{Index: index})
		o.write(indexed("a", `{}`))
		o.close()
	}
	k.other(shard.ID{Index: 9}).close() // never written to
	k.indices(6, 7, 8)
	k.close()
	for range 2 {
		k.must(k.engine.Drop(k.ctx, 7))
		k.indices(6, 8)
	}
	k.must(k.engine.Drop(k.ctx, 99))
	k.shard = k.open()
	k.absent("a")
	k.absent("b")
	k.holding(nil)
	if s := k.shard.Stats(); s.SeqNo != -1 || s.Pruned != -1 || s.Docs != 0 || s.Tombstones != 0 {
		t.Fatalf("%+v", s)
	}
	if r := k.write(indexed("a", `{}`)); r.SeqNo != 0 || r.Version != 1 {
		t.Fatalf("%+v", r)
	}
	k.close()
	k.must(k.engine.Drop(k.ctx, 7))
	k.shard = k.open()
	k.reopen()
	k.absent("a")
	k.expectReader(0)
	for _, index := range []uint32{6, 8} {
		o := k.other(shard.ID{Index: index})
		o.expect("a", `{}`)
		o.close()
	}
}

func droppedOpen(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`))
	if err := k.engine.Drop(k.ctx, k.id.Index); !fault.Is(err, fault.Conflict) {
		t.Fatalf("%v", err)
	}
	k.expect("a", `{}`)
}

func closedShard(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`))
	s := k.shard
	k.close()
	for _, r := range s.Write(k.ctx, 1, []shard.Op{indexed("b", `{}`), deleted("a")}) {
		k.stale(r.Err, 1, 0)
	}
	_, _, err := s.Get(k.ctx, 1, ref("a"))
	k.stale(err, 1, 0)
	_, err = s.Acquire(k.ctx, 1)
	k.stale(err, 1, 0)
	_, err = s.Refresh(k.ctx)
	k.over(err)
	k.over(s.AwaitRefresh(k.ctx, 5))
	k.over(s.Mend(k.ctx))
	k.over(s.Hold(k.ctx, "holder", shard.Position{Incarnation: 1, SeqNo: -1}))
	k.over(s.Release(k.ctx, "holder"))
	k.over(s.Prune(k.ctx, later(0)))
	_, _, err = s.Fence(k.ctx)
	k.over(err)
	for _, err := range s.Changes(k.ctx, shard.Position{Incarnation: 1, SeqNo: -1}, 10) {
		k.over(err)
	}
	k.shard = k.open()
	k.absent("b")
	k.expect("a", `{}`)
	k.holding(nil)
}

// over expects the refusal of a closed shard by a request that quotes no epoch.
func (k *talk) over(err error) {
	k.Helper()
	var s *shard.Stale
	if !errors.As(err, &s) || s.ID != k.id || s.Epoch != 0 {
		k.Fatalf("%v, expected: stale, the shard has 0", err)
	}
}

func closedUnderWaiters(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`))
	_, _, err := k.shard.Fence(k.ctx)
	k.must(err)
	w, s := k.wait(), k.shard
	awaited := make(chan error, 1)
	go func() { awaited <- s.AwaitRefresh(k.ctx, 5) }()
	k.close()
	k.stalled(w, 0)
	k.over(<-awaited)
	k.shard = k.open()
	k.absent("waited")
	k.expect("there", `{}`)
}

// closedUnderReader closes a shard of which somebody still reads: the reader goes on,
// and the shard cannot be opened again before it is closed.
func closedUnderReader(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`), indexed("b", `{}`))
	k.refresh()
	r, s := k.acquire(), k.shard
	k.shard = nil
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	for {
		if _, _, err := s.Get(k.ctx, 1, ref("a")); err != nil {
			k.stale(err, 1, 0)
			break
		}
		select {
		case err := <-closed:
			t.Fatalf("closed before its reader: %v", err)
		default:
			runtime.Gosched()
		}
	}
	if rows := k.scan(r, everything); len(rows) != 2 {
		t.Fatalf("the reader shows %v", rows)
	}
	if again, err := k.engine.Open(k.ctx, k.id, k.places, k.settings); !fault.Is(err, fault.Conflict) {
		t.Fatalf("%v, %v: it is closed before its reader", again, err)
	}
	k.must(r.Close())
	k.must(<-closed)
	k.shard = k.open()
	k.expect("a", `{}`)
}

func closedUnderWrites(t *testing.T, c Case) {
	k := begin(t, c)
	s, acknowledged := k.shard, make([]int, 4)
	begun := make(chan struct{}, len(acknowledged))
	var writers sync.WaitGroup
	for w := range acknowledged {
		writers.Go(func() {
			for i := 0; ; i++ {
				r := s.Write(k.ctx, 1, []shard.Op{created(fmt.Sprint(w, "-", i), `{}`)})[0]
				if r.Err != nil {
					if !fault.Is(r.Err, fault.Stale) {
						t.Error(r.Err)
					}
					return
				}
				if acknowledged[w]++; i == 10 {
					begun <- struct{}{}
				}
			}
		})
	}
	<-begun
	k.close()
	writers.Wait()
	k.shard = k.open()
	all := 0
	for w, n := range acknowledged {
		all += n
		for i := range n {
			k.expect(fmt.Sprint(w, "-", i), `{}`)
		}
	}
	if s := k.shard.Stats(); s.SeqNo != int64(all-1) {
		t.Fatalf("acknowledged were %d, there are %d", all, s.SeqNo+1)
	}
}

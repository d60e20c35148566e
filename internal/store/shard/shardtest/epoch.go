package shardtest

import (
	"errors"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var epochs = []test{
	{"a request with another epoch is stale, and nothing of it applied", otherEpoch},
	{"a reload takes the new epoch", reloadTakesEpoch},
	{"a reload never goes back", reloadNeverGoesBack},
	{"a reload that fails changes nothing", reloadFails},
	{"a key of another shard is stale, the others are applied", foreignKey},
	{"a range that shrank", rangeShrinks},
	{"a shard that the placement names no longer", namedNoLonger},
	{"a shard whose index is gone", indexGone},
	{"an open without a placement", openUnplaced},
	{"an open while the placement cannot be read", openUnreadable},
	{"an open of a shard that the placement does not name", openUnnamed},
}

// refuses expects every request under an epoch to be stale.
func (k *talk) refuses(asked, has int64) {
	k.Helper()
	before := k.shard.Stats().SeqNo
	for _, r := range k.shard.Write(k.ctx, asked, []shard.Op{indexed("a", `{}`), deleted("b")}) {
		k.stale(r.Err, asked, has)
	}
	_, _, err := k.shard.Get(k.ctx, asked, ref("a"))
	k.stale(err, asked, has)
	_, err = k.shard.Acquire(k.ctx, asked)
	k.stale(err, asked, has)
	if s := k.shard.Stats(); s.SeqNo != before {
		k.Fatalf("a stale write took sequence numbers up to %d", s.SeqNo)
	}
}

func otherEpoch(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("b", `{"kept":1}`))
	for _, asked := range []int64{0, 2, -1, 1 << 60} {
		k.refuses(asked, 1)
	}
	k.absent("a")
	k.expect("b", `{"kept":1}`)
}

func reloadTakesEpoch(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("b", `{}`))
	k.move(func(*placement.Shard) {})
	k.refuses(2, 1) // not read yet
	k.must(k.shard.Reload(k.ctx))
	if k.shard.Placed() != k.placed.Shards[0] {
		t.Fatalf("placed %v", k.shard.Placed())
	}
	k.refuses(1, 2)
	k.write(indexed("a", `{}`))
	k.expect("b", `{}`)
}

func reloadNeverGoesBack(t *testing.T, c Case) {
	k := begin(t, c)
	first := k.placed
	k.move(func(*placement.Shard) {})
	k.must(k.shard.Reload(k.ctx))
	k.places.Put(first)
	k.must(k.shard.Reload(k.ctx))
	k.refuses(1, 2)
	k.write(indexed("a", `{}`))
}

func reloadFails(t *testing.T, c Case) {
	k := begin(t, c)
	k.move(func(*placement.Shard) {})
	k.places.Break(fault.New(fault.Unavailable, "the coordination store is away"))
	k.unavailable(k.shard.Reload(k.ctx))
	k.refuses(2, 1)
	k.write(indexed("a", `{}`))
	k.places.Break(nil)
	k.must(k.shard.Reload(k.ctx))
	k.expect("a", `{}`)
}

// at is an operation on an id under a key that the test chose.
func at(key routing.Key, id string) shard.Op {
	return shard.Op{Key: key, ID: id, Source: []byte(`{}`), Condition: document.Always}
}

func foreignKey(t *testing.T, c Case) {
	k := beginWith(t, c, 2, shard.Settings{}) // it owns the lower half
	last := k.placed.Shards[0].Range.To
	results := k.try(at(0, "first"), at(last+1, "foreign"), at(last, "last"), at(routing.MaxKey, "foreign"))
	for i, r := range results {
		if i == 1 || i == 3 {
			k.stale(r.Err, 1, 1)
		} else if r.Err != nil || r.SeqNo != int64(i/2) {
			t.Fatalf("operation %d: %+v", i, r)
		}
	}
	for _, key := range []routing.Key{last + 1, routing.MaxKey} {
		_, _, err := k.shard.Get(k.ctx, 1, shard.Ref{Key: key, ID: "foreign"})
		k.stale(err, 1, 1)
	}
	for key, id := range map[routing.Key]string{0: "first", last: "last"} {
		if _, ok, err := k.shard.Get(k.ctx, 1, shard.Ref{Key: key, ID: id}); err != nil || !ok {
			t.Fatalf("%v %q: %t %v", key, id, ok, err)
		}
	}
}

func rangeShrinks(t *testing.T, c Case) {
	k := begin(t, c)
	half := routing.Equal(2)[0]
	k.write(at(1, "a"), at(half.To, "b"), at(half.To+1, "c"), at(routing.MaxKey, "d"))
	gone := at(half.To+2, "gone")
	gone.Delete = true
	k.write(gone)
	k.refresh()
	whole := k.acquire()
	k.move(func(s *placement.Shard) { s.Range = half })
	k.must(k.shard.Reload(k.ctx))
	_, _, err := k.shard.Get(k.ctx, 2, shard.Ref{Key: half.To + 1, ID: "c"})
	k.stale(err, 2, 2)
	narrow := k.acquire()
	if rows := k.scan(narrow, everything); len(rows) != 2 || narrow.Docs() != 2 {
		t.Fatalf("the reader shows %v and counts %d", rows, narrow.Docs())
	}
	if rows := k.scan(whole, everything); len(rows) != 5 || whole.Docs() != 4 {
		t.Fatalf("the reader of before shows %v and counts %d", rows, whole.Docs())
	}
	if s := k.shard.Stats(); s.Docs != 2 || s.Tombstones != 0 || s.Bytes != 6 || s.SeqNo != 4 {
		t.Fatalf("%+v", s)
	}
	k.must(whole.Close())
	k.must(narrow.Close())
	k.write(at(2, "e"))
	k.reopen()
	if s := k.shard.Stats(); s.Docs != 3 || s.Tombstones != 0 || s.SeqNo != 5 {
		t.Fatalf("after reopening: %+v", s)
	}
}

// unnamed removes the shard from the placement, for the benefit of its neighbour.
func (k *talk) unnamed() {
	k.placed.Version++
	k.placed.Shards = append([]placement.Shard{}, k.placed.Shards[1:]...)
	k.placed.Shards[0].Range.From, k.placed.Shards[0].Epoch = 0, k.placed.Version
	k.places.Put(k.placed)
}

func namedNoLonger(t *testing.T, c Case) {
	k := beginWith(t, c, 2, shard.Settings{})
	k.write(at(1, "a"))
	k.unnamed()
	k.must(k.shard.Reload(k.ctx))
	for _, asked := range []int64{0, 1, 2} {
		for _, r := range k.shard.Write(k.ctx, asked, []shard.Op{at(1, "a"), at(2, "b")}) {
			k.stale(r.Err, asked, 0)
		}
		_, _, err := k.shard.Get(k.ctx, asked, shard.Ref{Key: 1, ID: "a"})
		k.stale(err, asked, 0)
		_, err = k.shard.Acquire(k.ctx, asked)
		k.stale(err, asked, 0)
	}
}

func indexGone(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`))
	k.places.Forget(k.id.Index)
	if err := k.shard.Reload(k.ctx); err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	k.refuses(1, 0)
	k.refuses(0, 0)
}

// openUnplaced and openUnreadable allow an engine to give a shard that is closed
// until it is reloaded, instead of no shard.
func openUnplaced(t *testing.T, c Case) {
	k := begin(t, c)
	k.close()
	k.places.Forget(k.id.Index)
	k.openClosed(fault.NotFound)
}

func openUnreadable(t *testing.T, c Case) {
	k := begin(t, c)
	k.close()
	k.places.Break(fault.New(fault.Unavailable, "the coordination store is away"))
	k.openClosed(fault.Unavailable)
}

// openClosed expects that nothing is admitted before the placement can be read.
func (k *talk) openClosed(kind fault.Kind) {
	k.Helper()
	s, err := k.engine.Open(k.ctx, k.id, k.places, k.settings)
	if err == nil {
		r := s.Write(k.soon(), 1, []shard.Op{indexed("a", `{}`)})[0]
		if !errors.As(r.Err, new(*shard.Stale)) && !fault.Is(r.Err, fault.Unavailable) {
			k.Fatalf("it admits a write: %+v", r)
		}
		k.must(s.Close())
	} else if !fault.Is(err, kind) {
		k.Fatalf("%v (%v), expected the kind %v", err, fault.KindOf(err), kind)
	}
	k.places.Break(nil)
	k.places.Put(k.placed)
	k.shard = k.open()
	k.absent("a")
	k.write(indexed("a", `{}`))
}

func openUnnamed(t *testing.T, c Case) {
	k := beginWith(t, c, 2, shard.Settings{})
	k.close()
	k.unnamed()
	k.shard = k.open()
	k.refuses(1, 0)
	k.refuses(0, 0)
}

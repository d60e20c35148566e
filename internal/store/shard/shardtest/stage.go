package shardtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var stages = []test{
	{"a shard becomes several, and they one again", becomesSeveral},
	{"cuts may be anywhere", becomesUneven},
	{"neighbours become one, which is cut elsewhere", becomesOne},
	{"several become several at once", becomesRedrawn},
	{"an empty shard becomes two", becomesOfNothing},
	{"numbers go on behind the highest", becomesNumbered},
	{"conditions hold across", becomesConditioned},
	{"old epochs are refused on both sides", becomesStale},
	{"who waits behind the fence is told of the move", becomesWaiters},
	{"who awaits a refresh is told", becomesAwaited},
	{"readers that are open stay as they are", becomesRead},
	{"what one writes and deletes, the other does not see", becomesApart},
	{"what is deleted stays so on the way back", becomesBack},
	{"changes and holds stay with who goes on alone", becomesHeld},
	{"what is staged tells of both sides", stagedTells},
	{"what is staged changes nothing", stagedIsNothing},
	{"what is staged again counts", stagedAgain},
	{"what is staged under a term that nobody names is nobody's", stagedForAnother},
	{"what is no longer staged is gone", unstaged},
	{"what the placement names stays staged", unstagedTooLate},
	{"stopped at every point", becomesStopped},
	{"what cannot be staged is refused", stageRefused},
	{"a shard that is forgotten leaves nothing", forgotten},
	{"who waits for a fence is counted", waitsCounted},
	{"shards that are cut and joined answer as a plain map does", familyPrograms},
}

func becomesSeveral(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	f.become(f.cut(0, sixteenth(5), sixteenth(11)))
	f.holds()
	f.fill()
	f.holds()
	f.reopen()
	f.holds()
	f.become(f.join(0, 1, 2))
	f.holds()
	f.fill()
	f.reopen()
	f.holds()
}

func becomesUneven(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	inside := sixteenth(3) + 5 // the key of some documents
	f.become(f.cut(0, 1, inside, inside+1, routing.MaxKey))
	f.holds()
	f.fill()
	f.reopen()
	f.holds()
}

func becomesOne(t *testing.T, c Case) {
	f := beginFamily(t, c, 4)
	f.fill()
	f.become(f.join(1, 2))
	f.holds()
	f.fill()
	f.become(f.cut(1, sixteenth(5), sixteenth(9)))
	f.holds()
	f.become(f.join(0, 1, 4, 5, 3))
	f.fill()
	f.reopen()
	f.holds()
}

func becomesRedrawn(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	f.fill()
	f.become([]uint32{0, 1}, []shard.Incarnation{
		{Number: 1, Range: routing.Range{From: 0, To: sixteenth(2) - 1}, Term: 2},
		{Number: 2, Range: routing.Range{From: sixteenth(2), To: sixteenth(9) - 1}, Term: 2},
		{Number: 0, Range: routing.Range{From: sixteenth(9), To: routing.MaxKey}, Term: 2},
	})
	f.holds()
	f.fill()
	f.reopen()
	f.holds()
}

func becomesOfNothing(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.become(f.cut(0, sixteenth(8)))
	for _, s := range f.open {
		if s := s.Stats(); s.SeqNo != -1 {
			t.Fatalf("%+v", s)
		}
	}
	f.holds()
	f.reopen()
	f.become(f.join(0, 1))
	f.fill()
	f.holds()
}

func becomesNumbered(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	for i := range 5 {
		f.put(spread(1, fmt.Sprint(i), "x"))
	}
	for range 12 {
		f.put(spread(9, "a", "x"))
	}
	f.become(f.join(0, 1))
	if s := f.open[0].Stats(); s.SeqNo != 11 || s.Synced != 11 || s.Refreshed != 11 || s.Pruned != 11 {
		t.Fatalf("joined: %+v", s)
	}
	if r := f.put(spread(1, "0", "y")); r.SeqNo != 12 || r.PrimaryTerm != 2 || r.Version != 2 {
		t.Fatalf("behind 4 and 11 comes %+v", r)
	}
	f.become(f.cut(0, sixteenth(4)))
	f.reopen()
	for _, part := range []int{2, 10} {
		if r := f.put(spread(part, "new", "y")); r.SeqNo != 13 || r.PrimaryTerm != 3 {
			t.Fatalf("behind 12 comes %+v", r)
		}
	}
	f.holds()
}

func becomesConditioned(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	low, high := f.put(spread(1, "low", "x")), f.put(spread(9, "high", "x"))
	gone := spread(9, "gone", "")
	gone.Condition.Version, gone.Condition.VersionType = 40, document.External
	f.put(gone)
	f.become(f.cut(0, sixteenth(8)))
	for round := range 2 {
		for _, d := range []struct {
			op  shard.Op
			was *shard.Result
		}{{spread(1, "low", "y"), &low}, {spread(9, "high", "y"), &high}} {
			f.conflicts(d.op, func(op *shard.Op) { op.MustCreate = true })
			f.conflicts(d.op, func(op *shard.Op) { op.Condition.SeqNo, op.Condition.PrimaryTerm = d.was.SeqNo, d.was.PrimaryTerm+1 })
			op := d.op
			op.Condition.SeqNo, op.Condition.PrimaryTerm = d.was.SeqNo, d.was.PrimaryTerm
			*d.was = f.put(op)
			if d.was.Version != int64(round)+2 || d.was.Outcome != document.Updated {
				t.Fatalf("%+v", d.was)
			}
			f.conflicts(op, func(*shard.Op) {})
		}
		f.conflicts(spread(9, "gone", "z"), func(op *shard.Op) {
			op.Condition.Version, op.Condition.VersionType = 40, document.External
		})
		if round == 0 {
			f.become(f.join(0, 1))
		}
	}
	again := spread(9, "gone", "z")
	again.Condition.Version, again.Condition.VersionType = 41, document.External
	if r := f.put(again); r.Outcome != document.Created || r.Version != 41 {
		t.Fatalf("%+v", r)
	}
	f.holds()
}

// conflicts expects that of the owner, after a change of the operation.
func (f *family) conflicts(op shard.Op, change func(*shard.Op)) {
	f.Helper()
	change(&op)
	owner := f.placed.Owner(op.Key)
	var c *shard.Conflict
	if r := f.open[owner.Number].Write(f.ctx, owner.Epoch, []shard.Op{op})[0]; !errors.As(r.Err, &c) {
		f.Fatalf("%+v was answered %+v, expected a conflict", op, r)
	}
}

func becomesStale(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	f.become(f.cut(0, sixteenth(8)))
	for _, number := range []uint32{0, 1} {
		f.one(number).refuses(1, 2)
	}
	for number, foreign := range []shard.Op{spread(9, "a", "x"), spread(1, "a", "x")} {
		k := f.one(uint32(number))
		k.stale(k.shard.Write(f.ctx, 2, []shard.Op{foreign})[0].Err, 2, 2)
		_, _, err := k.shard.Get(f.ctx, 2, shard.Ref{Key: foreign.Key, ID: "a"})
		k.stale(err, 2, 2)
	}
	f.handOver(f.join(0, 1))
	f.one(0).refuses(2, 3)
	f.one(1).refuses(2, 0)
	f.one(1).refuses(3, 0)
	f.leave()
	f.holds()
}

func becomesWaiters(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	k := f.one(0)
	_, release := k.fence()
	w := k.wait()
	from, to := f.cut(0, sixteenth(8))
	f.stage(from, to)
	f.name(from, to)
	f.follow(from)
	release()
	k.stalled(w, 2)
	f.holds()
}

func becomesAwaited(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	told := make(chan error, 2)
	for number, part := range []int{1, 9} {
		last, s := f.put(spread(part, "a", "x")), f.open[uint32(number)]
		go func() { told <- s.AwaitRefresh(f.ctx, last.SeqNo) }()
	}
	f.handOver(f.join(0, 1))
	for range 2 {
		f.must(<-told)
	}
	f.leave() // only now: a shard that is closed answers that it is gone, and the goroutine may come late
	last, s := f.put(spread(1, "b", "x")), f.open[0]
	go func() { told <- s.AwaitRefresh(f.ctx, last.SeqNo) }()
	f.become(f.cut(0, sixteenth(8)))
	f.must(<-told)
}

func becomesRead(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	f.holds()
	whole := f.acquired(0)
	f.become(f.cut(0, sixteenth(8)))
	f.fill()
	f.put(spread(3, "a", ""), spread(12, "a", ""))
	f.holds()
	whole.stays()
	parts := []*readerOf{f.acquired(0), f.acquired(1)}
	f.handOver(f.join(0, 1))
	f.put(spread(3, "b", ""), spread(12, "b", ""))
	f.holds()
	for _, r := range append(parts, whole) {
		r.stays()
		f.must(r.Close())
	}
	f.leave()
	f.holds()
}

// readerOf is a reader and what it must show.
type readerOf struct {
	shard.Reader
	f    *family
	rows []shard.Row
}

// acquired is a reader of a shard that was just refreshed.
func (f *family) acquired(number uint32) *readerOf {
	f.Helper()
	k := f.one(number)
	r := k.acquire()
	row, _ := f.placed.Shard(number)
	return &readerOf{r, f, snapshot{rows: f.within(row.Range)}.scan(everything)}
}

// stays expects what it showed at first.
func (r *readerOf) stays() {
	r.f.Helper()
	if found := r.f.scan(r, everything); !slices.EqualFunc(found, r.rows, same) {
		r.f.Fatalf("an open reader shows %v, expected %v", found, r.rows)
	}
	r.f.must(Agree(r.f.ctx, r))
}

func becomesApart(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	f.become(f.cut(0, sixteenth(8)))
	f.holds()
	lower, upper := f.acquired(0), f.acquired(1)
	for i := range 16 {
		if i < 8 {
			f.put(spread(i, "a", ""), spread(i, "c", "new"))
		}
	}
	f.holds()
	again := f.acquired(1)
	for i := 8; i < 16; i++ {
		f.put(spread(i, "b", ""), spread(i, "a", "other"))
	}
	f.holds()
	lower.stays()
	upper.stays()
	again.stays()
}

// becomesBack has the new shard delete and write, and its range go back.
func becomesBack(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	for i := range 3 {
		f.become(f.cut(0, sixteenth(8)))
		for part := range 16 {
			switch part % 4 {
			case i:
				f.put(spread(part, "a", ""))
			case i + 1:
				f.put(spread(part, "b", fmt.Sprint("round", i)))
			}
		}
		f.become(f.join(0, f.placed.Next-1))
		f.holds()
	}
	f.reopen()
	f.holds()
}

func becomesHeld(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	last := f.open[0].Stats().SeqNo
	f.one(0).hold("follower", 3)
	history := f.one(0).changes(3, 1000)
	f.become(f.cut(0, sixteenth(8)))
	for range 2 {
		if found := f.open[0].Holds(); len(found) != 1 || found["follower"].SeqNo != 3 {
			t.Fatalf("who goes on holds %v", found)
		}
		if found := f.one(0).changes(3, 1000); !slices.Equal(found, history) {
			t.Fatalf("who goes on has the changes %v, expected %v", found, history)
		}
		f.begins(1, last)
		f.reopen()
	}
	f.put(spread(1, "a", "x"), spread(9, "a", "x"))
	for number := range uint32(2) {
		if found := f.one(number).changes(last, 10); len(found) != 1 || found[0].SeqNo != last+1 {
			t.Fatalf("shard %d has the changes %v", number, found)
		}
	}
	f.become(f.join(0, 1))
	f.begins(0, last+1)
}

// begins expects of a shard that its first change is the one behind last, and no hold.
func (f *family) begins(number uint32, last int64) {
	f.Helper()
	k := f.one(number)
	k.holding(map[string]int64{})
	if found := k.changes(last, 10); len(found) != 0 {
		f.Fatalf("shard %d has the changes %v", number, found)
	}
	var e *shard.Expired
	if err := k.refusal(k.at(last - 1)); !errors.As(err, &e) || e.Oldest != last+1 {
		f.Fatalf("%v, expected: expired, the oldest is %d", err, last+1)
	}
	if s := k.shard.Stats(); s.SeqNo != last || s.Pruned != last {
		f.Fatalf("%+v, expected to begin behind %d", s, last)
	}
}

package shardtest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

func stagedTells(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	f.fill()
	_, joined := f.join(0, 1)
	to := []shard.Incarnation{joined[0], {Number: 2, Term: 2}, {Number: 3, Term: 2}}
	for i, r := range routing.Equal(3) {
		to[i].Range = r
	}
	staged, err := f.engine.Stage(f.ctx, f.placed.Index, []uint32{0, 1}, to)
	f.must(err)
	defer staged.Close()
	expected := maps.Clone(f.rows)
	f.fill()
	f.put(spread(4, "b", ""))
	if len(staged.From) != 2 || len(staged.To) != 3 {
		t.Fatalf("%d sources and %d incarnations", len(staged.From), len(staged.To))
	}
	for i, r := range staged.From {
		within := (&family{rows: expected}).within(f.placed.Shards[i].Range)
		if found := f.scan(r, everything); !slices.EqualFunc(found, snapshot{rows: within}.scan(everything), same) {
			t.Fatalf("source %d shows %v, expected %v", i, found, within)
		}
		f.must(Agree(f.ctx, r))
	}
	for i, views := range staged.To {
		shown := map[shard.Ref]shard.Row{}
		for at, row := range (&family{rows: expected}).within(to[i].Range) {
			if !row.Deleted {
				shown[at] = row
			}
		}
		if err := segment.Guard(func() error { return agree(views, shown) }); err != nil {
			t.Fatalf("incarnation %d: %v", i, err)
		}
	}
	for range 2 {
		f.must(staged.Close())
	}
	f.holds()
}

func stagedIsNothing(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	k := f.one(0)
	k.refresh()
	k.hold("follower", 3)
	for _, cuts := range [][]routing.Key{{sixteenth(8)}, {sixteenth(2), sixteenth(9)}} {
		before, history := k.shard.Stats(), k.changes(3, 1000)
		f.stage(f.cut(0, cuts...))
		f.must(k.shard.Reload(f.ctx))
		after := k.shard.Stats()
		after.Segments = before.Segments // they are merged when it pleases the engine
		if after != before {
			t.Fatalf("%+v, before %+v", after, before)
		}
		k.holding(map[string]int64{"follower": 3})
		if found := k.changes(3, 1000); !slices.Equal(found, history) {
			t.Fatalf("changes %v, before %v", found, history)
		}
		f.holds()
		f.fill()
		f.holds()
		f.reopen()
		f.holds()
		k = f.one(0)
		k.holding(map[string]int64{"follower": 3})
	}
}

func stagedAgain(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	f.fill()
	f.stage(f.cut(0, sixteenth(4)))
	f.fill()
	f.stage(f.cut(0, sixteenth(2), sixteenth(5)))
	f.put(spread(1, "a", ""), spread(5, "b", ""))
	f.reopen()
	f.put(spread(3, "a", ""))
	f.become(f.cut(0, sixteenth(3)))
	f.holds()
	f.fill()
	f.stage(f.join(0, 2, 1))
	f.fill()
	f.become(f.join(0, 2, 1))
	f.holds()
	f.reopen()
	f.holds()
}

// stagedForAnother is overtaken by a change of ownership that nothing was staged for.
func stagedForAnother(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	f.fill()
	from, to := f.cut(0, sixteenth(8))
	f.stage(from, to)
	f.name(from, []shard.Incarnation{{Number: 0, Range: routing.Whole, Term: 3}})
	f.follow(from)
	f.fill()
	f.holds()
	f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	f.reopen()
	f.holds()
	f.become(f.cut(0, sixteenth(8)))
	f.holds()
}

func unstaged(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	f.fill()
	f.stage(f.cut(0, sixteenth(4)))
	f.stage(f.join(0, 1))
	for range 2 {
		f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	}
	f.holds()
	f.reopen()
	f.fill()
	f.become(f.cut(1, sixteenth(12)))
	f.holds()
	f.places.Break(fault.New(fault.Unavailable, "the coordination store is away"))
	f.stage(f.cut(0, sixteenth(4)))
	f.unavailable(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	f.places.Break(nil)
	f.must(f.engine.Unstage(f.ctx, f.placed.Index+1, f.places))
	f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	f.holds()
}

func unstagedTooLate(t *testing.T, c Case) {
	for _, joining := range []bool{false, true} {
		f := beginFamily(t, c, 2)
		f.fill()
		from, to := f.cut(0, sixteenth(4))
		if joining {
			from, to = f.join(0, 1)
		}
		f.stage(from, to)
		f.name(from, to)
		f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
		f.reopen()
		f.holds()
		f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
		f.fill()
		f.reopen()
		f.holds()
	}
}

// becomesStopped stops a change of ownership at each point, looks, and goes on.
func becomesStopped(t *testing.T, c Case) {
	for _, way := range []string{"cut", "join"} {
		for stop := range 5 {
			t.Run(fmt.Sprint(way, " ", stop), func(t *testing.T) { stoppedAt(t, c, way == "join", stop) })
		}
	}
}

func stoppedAt(t *testing.T, c Case, joining bool, stop int) {
	f := beginFamily(t, c, 2)
	f.fill()
	from, to := f.cut(0, sixteenth(4))
	if joining {
		from, to = f.join(0, 1)
	}
	var named bool
	steps := []func(){
		func() { f.stage(from, to); f.fill() },
		func() { f.stage(from, to) },
		func() { f.name(from, to); named = true },
		func() { f.openAll() },
		func() { f.must(f.open[0].Reload(f.ctx)) },
	}
	for _, step := range steps[:stop+1] {
		step()
	}
	for range 2 {
		f.reopen()
		f.holds()
		f.fill()
	}
	if !named {
		f.become(from, to)
	}
	f.holds()
	f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places))
	f.reopen()
	f.holds()
	f.become(f.cut(0, sixteenth(1)))
	f.holds()
}

func stageRefused(t *testing.T, c Case) {
	f := beginFamily(t, c, 3)
	f.fill()
	first, second, whole := f.placed.Shards[0].Range, f.placed.Shards[1].Range, routing.Whole
	becoming := func(number uint32, r routing.Range, term int64) shard.Incarnation {
		return shard.Incarnation{Number: number, Range: r, Term: term}
	}
	for name, try := range map[string]struct {
		from []uint32
		to   []shard.Incarnation
		kind fault.Kind
	}{
		"nothing":             {nil, []shard.Incarnation{becoming(3, first, 2)}, fault.Bug},
		"into nothing":        {[]uint32{0}, nil, fault.Bug},
		"less":                {[]uint32{0}, []shard.Incarnation{becoming(0, routing.Range{From: 0, To: first.To - 1}, 2)}, fault.Bug},
		"more":                {[]uint32{0}, []shard.Incarnation{becoming(0, first, 2), becoming(3, second, 2)}, fault.Bug},
		"a gap":               {[]uint32{0, 2}, []shard.Incarnation{becoming(0, whole, 2)}, fault.Bug},
		"an overlap":          {[]uint32{0}, []shard.Incarnation{becoming(0, first, 2), becoming(3, first, 2)}, fault.Bug},
		"a number twice":      {[]uint32{0, 1}, []shard.Incarnation{becoming(0, first, 2), becoming(0, second, 2)}, fault.Bug},
		"a source twice":      {[]uint32{0, 0}, []shard.Incarnation{becoming(0, first, 2)}, fault.Bug},
		"the old term":        {[]uint32{0}, []shard.Incarnation{becoming(0, first, 1)}, fault.Bug},
		"a shard not open":    {[]uint32{7}, []shard.Incarnation{becoming(7, first, 2)}, fault.NotFound},
		"another's number":    {[]uint32{0}, []shard.Incarnation{becoming(2, first, 2)}, fault.Conflict},
		"an index not opened": {[]uint32{0}, nil, fault.NotFound},
	} {
		index := f.placed.Index
		if try.kind == fault.NotFound && try.to == nil {
			index, try.to = 99, []shard.Incarnation{becoming(0, first, 2)}
		}
		if staged, err := f.engine.Stage(f.ctx, index, try.from, try.to); !refusedAs(staged, err, try.kind) {
			t.Errorf("%s: %v, %v", name, staged, err)
		}
	}
	f.holds()
	f.places.Put(placement.Placement{Index: f.placed.Index, Version: 2, Next: 4, Shards: []placement.Shard{
		{Number: 3, Range: whole, Epoch: 2, Term: 2, Node: placement.Local}}})
	f.must(f.open[0].Reload(f.ctx))
	if staged, err := f.engine.Stage(f.ctx, f.placed.Index, []uint32{0}, []shard.Incarnation{becoming(0, first, 2)}); !refusedAs(staged, err, fault.Stale) {
		t.Errorf("a shard that owns nothing: %v, %v", staged, err)
	}
}

// refusedAs closes what was staged nevertheless, for which the end of the test would wait.
func refusedAs(staged *shard.Staged, err error, kind fault.Kind) bool {
	if staged != nil {
		staged.Close()
	}
	return staged == nil && err != nil && fault.Is(err, kind)
}

func forgotten(t *testing.T, c Case) {
	f := beginFamily(t, c, 2)
	f.fill()
	f.one(1).hold("follower", 2)
	id := shard.ID{Index: f.placed.Index, Number: 1}
	f.handOver(f.join(0, 1))
	if err := f.engine.Forget(f.ctx, id); !fault.Is(err, fault.Conflict) {
		t.Fatalf("an open shard was forgotten: %v", err)
	}
	f.leave()
	for range 2 {
		f.must(f.engine.Forget(f.ctx, id))
	}
	f.must(f.engine.Forget(f.ctx, shard.ID{Index: f.placed.Index, Number: 55}))
	f.holds()
	f.reopen()
	f.holds()
	s, err := f.engine.Open(f.ctx, id, f.places, f.settings) // the placement does not name it
	f.must(err)
	f.open[1] = s
	f.one(1).refuses(2, 0)
	if held := s.Holds(); len(held) != 0 {
		t.Fatalf("holds %v", held)
	}
	f.leave()
	f.must(f.engine.Forget(f.ctx, id))
	f.fill()
	f.holds()
}

func waitsCounted(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`))
	if w := k.shard.Waits(); w != (shard.Waits{}) {
		t.Fatalf("%v", w)
	}
	_, release := k.fence()
	k.fenced() // a write, a get and an acquire, until their deadlines
	release()
	k.write(indexed("there", `{}`))
	k.expect("there", `{}`)
	w, counted := k.shard.Waits(), int64(0)
	for i, n := range w.Counts {
		if counted += n; n > 0 && shard.WaitBound(i) < time.Millisecond {
			t.Errorf("%d waited for less than %v", n, shard.WaitBound(i))
		}
	}
	if counted != 3 || w.Longest < time.Millisecond || w.Longest > patience {
		t.Errorf("%d requests have waited, at most for %v", counted, w.Longest)
	}
}

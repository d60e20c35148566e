package transfer

import (
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// wish applies what concerns the whole reshaping.
func (r *Record) wish(e Event) (changed bool, err error) {
	switch e.Happened {
	case Finish:
		return r.finish()
	case Abort:
		return r.abort()
	case Reverse:
		return r.reverse()
	}
	return false, fault.New(fault.Usage, "%q is nothing that happens to a transfer", e.Happened)
}

// finish closes the way back, when every group that goes on is equal at its hand-off.
func (r *Record) finish() (bool, error) {
	switch r.Course {
	case Finishing:
		return false, nil
	case Aborting:
		return false, late("it is being aborted: finish comes too late")
	}
	for i := range r.Groups {
		switch g := &r.Groups[i]; {
		case g.Status != Goes:
		case !g.in(InSplit):
			return false, refused("wait until all are in SPLIT, or go back", "group %d: SPLIT to DONE while a target is in %s", i, g.slowest())
		case g.AtH.Run == 0:
			return false, refused("verify it first", "group %d: SPLIT to DONE before it was compared at the hand-off", i)
		case !g.AtH.Equal():
			return false, refused("mend them and verify it again, or reverse", "group %d: SPLIT to DONE with %d differences at the hand-off", i, g.AtH.Differences)
		}
	}
	r.Course = Finishing
	return true, nil
}

// slowest is the first state in which a target is.
func (g *Group) slowest() TargetState {
	for _, s := range TargetStates {
		if slices.ContainsFunc(g.Targets, func(t TargetLine) bool { return t.State == s }) {
			return s
		}
	}
	return Done
}

// handed is the first group that was handed off; -1 when there is none.
func (r *Record) handed() int {
	return slices.IndexFunc(r.Groups, func(g Group) bool { return g.Status == Goes && g.HandedOff() })
}

func (r *Record) abort() (bool, error) {
	if r.Course == Aborting {
		return false, nil
	}
	if r.Kind.Back() {
		return false, late("it leads back already: abort comes too late")
	}
	if r.Course == Finishing {
		return false, closed()
	}
	if i := r.handed(); i >= 0 {
		return false, fault.WithNext(fault.New(fault.Conflict, "group %d was handed off", i), "reverse it")
	}
	r.Course = Aborting
	for i := range r.Groups {
		r.Groups[i].Status = Dropping
	}
	return true, nil
}

// closed is the answer to who wants to go back too late.
func closed() error {
	return fault.WithNext(fault.New(fault.Conflict, "the way back is closed: what was not owned is being shed"), "wait until it is finished, and plan another one")
}

// reverse turns every group that was handed off around, by the same protocol; the others
// are dropped. What is led back gets numbers that no shard had.
func (r *Record) reverse() (bool, error) {
	switch {
	case r.Kind.Back():
		return false, nil
	case r.Course == Aborting:
		return false, late("it is being aborted: reverse comes too late")
	case r.Course == Finishing:
		return false, closed()
	case r.handed() < 0:
		return false, fault.WithNext(fault.New(fault.Conflict, "nothing was handed off"), "abort it")
	}
	r.Past = r.clone().Groups
	for i := range r.Groups {
		g := &r.Groups[i]
		switch {
		case !g.HandedOff():
			g.Status = Dropping
		case len(g.Sources) == 1:
			*g = g.joined()
		default:
			*g = g.parted(&r.Next)
		}
	}
	r.Kind, r.Before, r.After = map[Kind]Kind{Split: SplitBack, Merge: MergeBack}[r.Kind], r.now(), r.Before
	return true, nil
}

// now is how many shards the index has after those groups of the past that were handed off.
func (r *Record) now() int {
	n := r.Before
	for i := range r.Past {
		if g := &r.Past[i]; g.HandedOff() {
			n += len(g.Targets) - len(g.Sources)
			if g.Sources[0].Keeps != nil {
				n++
			}
		}
	}
	return n
}

// joined is the way back of a split: what the source kept and its targets become the source.
func (g *Group) joined() Group {
	s := &g.Sources[0]
	back := Group{Targets: []TargetLine{{Shard: s.Shard, State: Clone, Shape: Shape{Range: s.Before.Range}}},
		Sources: []SourceLine{{Shard: s.Shard, State: Source, Before: *s.Keeps}}}
	for i := range g.Targets {
		t := &g.Targets[i]
		back.Sources = append(back.Sources, SourceLine{Shard: t.Shard, State: Source, Before: t.Shape})
	}
	return back
}

// parted is the way back of a merge: the lowest part stays with the number that all have
// now, the others get numbers from next on.
func (g *Group) parted(next *uint32) Group {
	t := &g.Targets[0]
	part := func(i int) Shape {
		return Shape{Range: routing.Range{From: g.Sources[i].Before.Range.From, To: g.Sources[i].Before.Range.To}}
	}
	keeps := part(0)
	back := Group{Sources: []SourceLine{{Shard: t.Shard, State: Source, Before: t.Shape, Keeps: &keeps}}}
	for i := 1; i < len(g.Sources); i++ {
		back.Left = append(back.Left, LeftLine{Shard: g.Sources[i].Shard, State: Source})
		back.Targets = append(back.Targets, TargetLine{Shard: *next, State: Clone, Shape: part(i)})
		*next++
	}
	return back
}

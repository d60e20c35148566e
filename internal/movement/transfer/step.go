package transfer

import (
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

const readAgain = "read the placement again"

// Step is the whole machine: what becomes of r by e, and what is newly to be done once
// that has been stored. An event that was applied, or comes again from before, leaves r as
// it is: then changed is false. An edge that is not open yet is fault.Refused, and names it;
// what comes too late, or from another incarnation, is fault.Conflict; an event that is
// none is fault.Usage. R itself is not changed.
func Step(r Record, e Event) (next Record, effects []Effect, changed bool, err error) {
	if err := r.Check(); err != nil {
		return r, nil, false, err
	}
	next = r.clone()
	if e.Happened.ofGroup() {
		changed, err = next.inGroup(e)
	} else {
		changed, err = next.wish(e)
	}
	if err != nil || !changed {
		return r, nil, false, fault.At(err, "transfer "+r.Movement)
	}
	before := r.Owed()
	effects = slices.DeleteFunc(next.Owed(), func(e Effect) bool { return slices.Contains(before, e) })
	return next, effects, true, nil
}

// late is the error for a stale event.
func late(format string, args ...any) error {
	return fault.WithNext(fault.New(fault.Conflict, format, args...), readAgain)
}

// refused is the answer to an edge that is not open: why, and what comes first.
func refused(next, format string, args ...any) error {
	return fault.WithNext(fault.New(fault.Refused, format, args...), "%s", next)
}

// inGroup applies what happened to one group.
func (r *Record) inGroup(e Event) (changed bool, err error) {
	if e.Group < 0 || e.Group >= len(r.Groups) {
		return false, late("there is no group %d", e.Group)
	}
	g := &r.Groups[e.Group]
	if g.Status != Goes || e.Happened == WasDropped {
		return g.drop(e)
	}
	if e.Happened.placed() {
		if err := g.fits(e.At); err != nil {
			return false, err
		}
	}
	switch e.Happened {
	case WasCloned:
		return g.cloned(e)
	case Verified:
		return g.verified(e)
	case WasHanded:
		return g.handOff(e)
	case Opened:
		return g.opened(e)
	case VerifiedAtH:
		return g.verifiedAtH(e, r.Course)
	case WasShed:
		return g.shed(e, r.Course)
	case Retired:
		return g.retired(e, r.Course)
	}
	return false, fault.New(fault.Usage, "%q is nothing that happens to a transfer", e.Happened)
}

// drop ends a group of which nothing is left.
func (g *Group) drop(e Event) (bool, error) {
	switch {
	case e.Happened != WasDropped:
		return false, late("group %d is %s: %s comes too late", e.Group, g.Status, e.Happened)
	case g.Status == Goes:
		return false, refused("abort it first", "group %d is not to be dropped", e.Group)
	case g.Status == Dropped:
		return false, nil
	}
	g.Status = Dropped
	return true, nil
}

func (g *Group) cloned(e Event) (bool, error) {
	s := g.positions(func(l *SourceLine) Position { return l.S })
	switch fresh := s[0] == (Position{}); {
	case !fresh && reaches(s, e.At):
		return false, nil
	case g.HandedOff():
		return false, late("group %d is in %s: cloned comes too late", e.Group, g.Targets[0].State)
	case !fresh && !reaches(e.At, s):
		return false, late("group %d was cloned at %s, and partly further than %s", e.Group, positionsText(s), positionsText(e.At))
	}
	for i := range g.Sources {
		g.Sources[i].S = e.At[i]
	}
	g.Cloned = Verdict{Run: g.Cloned.Run} // what was compared is no more
	return true, nil
}

func (g *Group) verified(e Event) (bool, error) {
	s := g.positions(func(l *SourceLine) Position { return l.S })
	switch {
	case s[0] == Position{}:
		return false, refused("clone it first", "group %d: there is nothing to compare before it was cloned", e.Group)
	case e.Run <= g.Cloned.Run || g.HandedOff():
		return false, g.Cloned.repeated(e, g.HandedOff())
	case !reaches(e.At, s):
		return false, refused("compare it at a later position", "group %d was compared at %s, before its clone at %s", e.Group, positionsText(e.At), positionsText(s))
	}
	return g.Cloned.take(e)
}

// take is one more run.
func (v *Verdict) take(e Event) (bool, error) {
	switch {
	case e.Differences < 0:
		return false, fault.New(fault.Usage, "%d differences", e.Differences)
	case e.Run != v.Run+1:
		return false, refused("count runs one by one", "run %d of comparing group %d comes after run %d", e.Run, e.Group, v.Run)
	}
	*v = Verdict{Run: e.Run, At: slices.Clone(e.At), Differences: e.Differences}
	return true, nil
}

// repeated is nil for a run that is known and says the same, or was followed by others.
func (v *Verdict) repeated(e Event, closed bool) error {
	switch {
	case closed && e.Run > v.Run:
		return late("group %d was handed off: another comparison in CLONE comes too late", e.Group)
	case e.Run == v.Run && len(v.At) > 0 && (e.Differences != v.Differences || !slices.Equal(e.At, v.At)):
		return late("run %d of comparing group %d was told otherwise: %d differences at %s", e.Run, e.Group, v.Differences, positionsText(v.At))
	}
	return nil
}

// handOff is the one step in which all targets of a group go from CLONE to HANDOFF.
func (g *Group) handOff(e Event) (bool, error) {
	switch h := g.positions(func(l *SourceLine) Position { return l.H }); {
	case g.HandedOff() && slices.Equal(h, e.At):
		return false, nil
	case g.HandedOff():
		return false, late("group %d was handed off at %s", e.Group, positionsText(h))
	case len(g.Cloned.At) == 0:
		return false, refused("verify it first", "group %d: CLONE to HANDOFF before it was compared", e.Group)
	case !g.Cloned.Equal():
		return false, refused("mend them and verify it again, or abort", "group %d: CLONE to HANDOFF with %d differences", e.Group, g.Cloned.Differences)
	case !reaches(e.At, g.Cloned.At):
		return false, refused("bring the targets up to the last change", "group %d: CLONE to HANDOFF at %s, before the comparison at %s", e.Group, positionsText(e.At), positionsText(g.Cloned.At))
	}
	for i := range g.Sources {
		if s := &g.Sources[i]; e.Version <= s.Before.Epoch {
			return false, fault.New(fault.Usage, "version %d of the placement is not above epoch %d of shard %d", e.Version, s.Before.Epoch, s.Shard)
		}
	}
	g.flip(e)
	return true, nil
}

func (g *Group) flip(e Event) {
	term := g.term()
	for i := range g.Sources {
		s := &g.Sources[i]
		s.H = e.At[i]
		if s.Keeps != nil {
			s.Keeps = &Shape{Range: s.Keeps.Range, Epoch: e.Version, Term: term}
		}
	}
	for i := range g.Targets {
		t := &g.Targets[i]
		t.State, t.Epoch, t.Term = Handoff, e.Version, term
	}
}

// target is the one with the event's shard.
func (g *Group) target(e Event) (*TargetLine, error) {
	for i := range g.Targets {
		if g.Targets[i].Shard == e.Shard {
			return &g.Targets[i], nil
		}
	}
	return nil, late("group %d has no target %d", e.Group, e.Shard)
}

func (g *Group) opened(e Event) (bool, error) {
	t, err := g.target(e)
	if err != nil {
		return false, err
	}
	h := g.positions(func(l *SourceLine) Position { return l.H })
	switch {
	case t.State == Clone:
		return false, refused("hand its group off first", "target %d: CLONE to SPLIT", e.Shard)
	case !reaches(e.At, h):
		return false, refused("bring it up to there first", "target %d: HANDOFF to SPLIT at %s, before the hand-off at %s", e.Shard, positionsText(e.At), positionsText(h))
	case t.State != Handoff:
		return false, nil
	}
	t.State = InSplit
	return true, nil
}

func (g *Group) verifiedAtH(e Event, course Course) (bool, error) {
	h := g.positions(func(l *SourceLine) Position { return l.H })
	switch {
	case !g.HandedOff():
		return false, refused("hand it off first", "group %d is in CLONE: it has no position of a hand-off", e.Group)
	case !slices.Equal(e.At, h):
		return false, refused("compare it there", "group %d was compared at %s, which is not the hand-off at %s", e.Group, positionsText(e.At), positionsText(h))
	case e.Run <= g.AtH.Run:
		return false, g.AtH.repeated(e, false)
	case course == Finishing:
		return false, late("group %d is being finished: another comparison at the hand-off comes too late", e.Group)
	case !g.in(InSplit):
		return false, refused("open its targets first", "group %d: compared at the hand-off before all its targets are in SPLIT", e.Group)
	}
	return g.AtH.take(e)
}

func (g *Group) shed(e Event, course Course) (bool, error) {
	t, err := g.target(e)
	switch {
	case err != nil:
		return false, err
	case t.State == Done:
		return false, nil
	case course != Finishing:
		return false, refused("finish it first", "target %d: %s to DONE while the way back is open", e.Shard, t.State)
	}
	t.State = Done
	return true, nil
}

func (g *Group) retired(e Event, course Course) (bool, error) {
	state := g.source(e.Shard)
	switch {
	case state == nil:
		return false, late("group %d has no source %d", e.Group, e.Shard)
	case *state == SourceDone:
		return false, nil
	case course != Finishing:
		return false, refused("finish it first", "source %d: SOURCE to DONE while the way back is open", e.Shard)
	case !g.in(Done):
		return false, refused("shed them first", "source %d: SOURCE to DONE before all its targets are DONE", e.Shard)
	}
	*state = SourceDone
	return true, nil
}

// source is the state of a source, or of what is left of one; nil when it is neither.
func (g *Group) source(shard uint32) *SourceState {
	for i := range g.Sources {
		if g.Sources[i].Shard == shard {
			return &g.Sources[i].State
		}
	}
	for i := range g.Left {
		if g.Left[i].Shard == shard {
			return &g.Left[i].State
		}
	}
	return nil
}

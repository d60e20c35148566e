package transfer

import (
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Check is fault.Corrupt for a record that no sequence of events makes.
func (r Record) Check() error {
	damaged := func(err error) error {
		return fault.At(fault.Wrap(fault.Corrupt, err), fmt.Sprintf("transfer %s of index %d", r.Movement, r.Index))
	}
	switch {
	case !slices.Contains([]Kind{Split, Merge, SplitBack, MergeBack}, r.Kind):
		return damaged(fmt.Errorf("%q is no kind", r.Kind))
	case !slices.Contains([]Course{Onward, Finishing, Aborting}, r.Course), r.Kind.Back() && r.Course == Aborting:
		return damaged(fmt.Errorf("%s cannot be %q", r.Kind, r.Course))
	case len(r.Groups) == 0:
		return damaged(fmt.Errorf("it has no groups"))
	case r.Kind.Back() != (len(r.Past) > 0):
		return damaged(fmt.Errorf("%s with %d groups that are past", r.Kind, len(r.Past)))
	case r.At.IsZero(), r.Movement == "":
		return damaged(fmt.Errorf("it does not tell whose it is, or since when"))
	}
	used := map[uint32]bool{}
	end := routing.Key(0)
	for i := range r.Groups {
		g := &r.Groups[i]
		if err := g.check(r); err != nil {
			return damaged(fmt.Errorf("group %d: %w", i, err))
		}
		first, last := g.Sources[0].Before.Range.From, g.Sources[len(g.Sources)-1].Before.Range.To
		if i > 0 && first <= end {
			return damaged(fmt.Errorf("group %d begins at %s, inside of the one before it", i, first))
		}
		end = last
		for _, number := range g.numbers() {
			if used[number] || number >= r.Next {
				return damaged(fmt.Errorf("group %d: shard number %d is used twice, or not given out: next is %d", i, number, r.Next))
			}
			used[number] = true
		}
	}
	return nil
}

// numbers are those of the group's shards, each once.
func (g *Group) numbers() (numbers []uint32) {
	for i := range g.Sources {
		numbers = append(numbers, g.Sources[i].Shard)
	}
	for i := range g.Targets {
		if n := g.Targets[i].Shard; len(g.Sources) == 1 || n != g.Sources[0].Shard {
			numbers = append(numbers, n)
		}
	}
	for _, l := range g.Left {
		numbers = append(numbers, l.Shard)
	}
	return numbers
}

func (g *Group) check(r Record) error {
	if len(g.Sources) == 0 || len(g.Targets) == 0 {
		return fmt.Errorf("%d sources and %d targets", len(g.Sources), len(g.Targets))
	}
	merges := len(g.Sources) > 1
	switch {
	case merges && (len(g.Targets) != 1 || g.Targets[0].Shard != g.Sources[0].Shard):
		return fmt.Errorf("the target of several sources is not their lowest")
	case merges != r.Kind.merges() && (!r.Kind.Back() || g.Status == Goes):
		return fmt.Errorf("%d sources and %d targets are no %s", len(g.Sources), len(g.Targets), r.Kind)
	case !slices.Contains([]GroupStatus{Goes, Dropping, Dropped}, g.Status), (r.Course == Aborting) && g.Status == Goes,
		g.Status != Goes && (g.HandedOff() || (r.Course != Aborting && !r.Kind.Back())):
		return fmt.Errorf("it is %q while its targets are in %s and all is %s", g.Status, g.Targets[0].State, r.Course)
	}
	if err := g.checkRanges(merges); err != nil {
		return err
	}
	return g.checkStates(r)
}

// checkRanges: the sources' ranges join, and what is kept and the targets' ranges are
// exactly the same keys.
func (g *Group) checkRanges(merges bool) error {
	whole := routing.Range{From: g.Sources[0].Before.Range.From, To: g.Sources[len(g.Sources)-1].Before.Range.To}
	var before, after []routing.Range
	for i := range g.Sources {
		s := &g.Sources[i]
		before = append(before, s.Before.Range)
		if (s.Keeps == nil) != merges {
			return fmt.Errorf("source %d: what it keeps is not that of a split or merge", s.Shard)
		}
		if s.Keeps != nil {
			after = append(after, s.Keeps.Range)
		}
	}
	for i := range g.Targets {
		after = append(after, g.Targets[i].Range)
	}
	if !tiles(whole, before) || !tiles(whole, after) {
		return fmt.Errorf("the ranges before and after do not cover %s, each key once and in order", whole)
	}
	return nil
}

// tiles tells whether parts are whole, in order, without gap or overlap.
func tiles(whole routing.Range, parts []routing.Range) bool {
	next := whole.From
	for i, p := range parts {
		if p.From != next || p.To < p.From || (i > 0 && next == 0) {
			return false
		}
		next = p.To + 1
	}
	return next == whole.To+1
}

// checkStates: each state with what it needs, and nothing that comes later.
func (g *Group) checkStates(r Record) error {
	handed, done := g.HandedOff(), g.in(Done)
	for i := range g.Targets {
		t := &g.Targets[i]
		switch {
		case !slices.Contains(TargetStates, t.State), (t.State == Clone) == handed:
			return fmt.Errorf("target %d is in %q, its sibling in %s", t.Shard, t.State, g.Targets[0].State)
		case t.State == Done && r.Course != Finishing:
			return fmt.Errorf("target %d is DONE, and nobody finishes", t.Shard)
		case r.Course == Finishing && t.State == Handoff, r.Course == Finishing && g.Status == Goes && !handed:
			return fmt.Errorf("target %d is in %s while all is finishing", t.Shard, t.State)
		}
		if err := g.checkShape(t.Shard, t.Shape, handed); err != nil {
			return err
		}
	}
	for i := range g.Sources {
		if err := g.checkSource(&g.Sources[i], handed, done); err != nil {
			return err
		}
	}
	for _, l := range g.Left {
		if r.Kind != MergeBack || l.State != Source && l.State != SourceDone || l.State == SourceDone && !done {
			return fmt.Errorf("shard %d is left of a %s, and %q", l.Shard, r.Kind, l.State)
		}
	}
	return g.checkPositions(r)
}

// checkSource: it is DONE after its targets, and has an H when they were handed off.
func (g *Group) checkSource(s *SourceLine, handed, done bool) error {
	switch {
	case s.State != Source && s.State != SourceDone, s.State == SourceDone && !done:
		return fmt.Errorf("source %d is %q before its targets are DONE", s.Shard, s.State)
	case s.Before.Epoch < 1, s.Before.Term < 1:
		return fmt.Errorf("source %d had epoch %d and term %d", s.Shard, s.Before.Epoch, s.Before.Term)
	case handed != (s.H != Position{}):
		return fmt.Errorf("source %d: the position of its hand-off is %s in %s", s.Shard, s.H, g.Targets[0].State)
	case s.Keeps != nil:
		return g.checkShape(s.Shard, *s.Keeps, handed)
	}
	return nil
}

// checkShape: epochs and terms are those of the hand-off, above all before it.
func (g *Group) checkShape(shard uint32, s Shape, handed bool) error {
	if !handed {
		if s.Epoch != 0 || s.Term != 0 {
			return fmt.Errorf("shard %d has epoch %d and term %d before the hand-off", shard, s.Epoch, s.Term)
		}
		return nil
	}
	first := g.Targets[0].Shape
	if s.Epoch != first.Epoch || s.Term != first.Term || s.Term != g.term() {
		return fmt.Errorf("shard %d has epoch %d and term %d after the hand-off, expected %d and %d", shard, s.Epoch, s.Term, first.Epoch, g.term())
	}
	for i := range g.Sources {
		if b := g.Sources[i].Before; b.Epoch >= s.Epoch {
			return fmt.Errorf("shard %d has epoch %d after the hand-off, and a source had %d", shard, s.Epoch, b.Epoch)
		}
	}
	return nil
}

// term is that of the incarnations after the hand-off: above all that they come from.
func (g *Group) term() int64 {
	highest := int64(0)
	for i := range g.Sources {
		highest = max(highest, g.Sources[i].Before.Term)
	}
	return highest + 1
}

// checkPositions: S, the comparison in CLONE and H are in this order, and no comparison
// stands that nothing allowed.
func (g *Group) checkPositions(r Record) error {
	s, h := g.positions(func(l *SourceLine) Position { return l.S }), g.positions(func(l *SourceLine) Position { return l.H })
	cloned := s[0] != Position{}
	for name, at := range map[string][]Position{"S": s, "H": h, "a comparison in CLONE": g.Cloned.At, "a comparison at H": g.AtH.At} {
		known := slices.ContainsFunc(at, func(p Position) bool { return p != Position{} })
		if err := g.fits(at); known && err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case g.Cloned.wrong(), g.AtH.wrong(), len(g.AtH.At) == 0 && g.AtH.Run > 0:
		return fmt.Errorf("a comparison counts %d runs, one %d", g.Cloned.Run, g.AtH.Run)
	case len(g.Cloned.At) > 0 && (!cloned || !reaches(g.Cloned.At, s)), g.Cloned.Run > 0 && !cloned:
		return fmt.Errorf("it was compared at what had not been cloned")
	case g.HandedOff() && (!g.Cloned.Equal() || !reaches(h, g.Cloned.At)):
		return fmt.Errorf("it was handed off, and the comparison in CLONE does not allow that")
	case len(g.AtH.At) > 0 && (!slices.Equal(g.AtH.At, h) || g.Targets[0].State == Clone):
		return fmt.Errorf("it was compared at what is not the hand-off")
	case r.Course == Finishing && g.Status == Goes && !g.AtH.Equal():
		return fmt.Errorf("it is finishing, and the comparison at the hand-off does not allow that")
	}
	return nil
}

// wrong tells whether no comparisons give this: differences need a position.
func (v Verdict) wrong() bool {
	return v.Run < 0 || v.Differences < 0 || len(v.At) == 0 && v.Differences > 0 || len(v.At) > 0 && v.Run == 0
}

package transfer

import (
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Asked says whose reshaping it is: the movement, the name of the index, and who, when
// and why.
type Asked struct {
	Movement string
	Name     string
	Change   placement.Change
}

// Of is the reshaping that p's index is in; found is false when there is none. What does
// not fit the map is fault.Corrupt.
func Of(p placement.Placement) (r Record, found bool, err error) {
	if len(p.Transfer) == 0 {
		return Record{}, false, nil
	}
	if r, err = Decode(p.Transfer); err != nil {
		return Record{}, false, err
	}
	if r.Index != p.Index || r.Next > p.Next {
		return Record{}, false, fault.New(fault.Corrupt, "the transfer in the placement of index %d is one of index %d, next %d", p.Index, r.Index, r.Next)
	}
	for i := range r.Groups {
		if err := r.Groups[i].stands(p); err != nil {
			return Record{}, false, fault.Wrap(fault.Corrupt, err)
		}
	}
	return r, true, nil
}

// Begin puts the reshaping of a plan into p, in CLONE: new shards get their numbers, and
// nobody's ownership changes. One index has one reshaping: another movement is
// fault.Conflict, the same one has begun already and p comes back as it is. A plan that p
// has outgrown is fault.Conflict.
func Begin(p placement.Placement, plan placement.Plan, asked Asked) (placement.Placement, error) {
	switch r, found, err := Of(p); {
	case err != nil:
		return p, err
	case found && r.Movement == asked.Movement:
		return p, nil
	case found:
		return p, fault.WithNext(fault.New(fault.Conflict, "index %s is being reshaped by movement %s", r.Name, r.Movement), "wait until it has ended, or end it")
	}
	r := Record{Movement: asked.Movement, Kind: Split, Index: p.Index, Name: asked.Name, Before: len(p.Shards), Next: p.Next,
		By: asked.Change.By, Why: asked.Change.Why, At: asked.Change.At.UTC(), Course: Onward}
	r.After = r.Before
	for _, g := range plan.Groups {
		for _, s := range g.From {
			if now, ok := p.Shard(s.Number); !ok || now != s {
				return p, fault.WithNext(fault.New(fault.Conflict, "shard %d is not what was planned for", s.Number), "plan again")
			}
		}
		if len(g.From) > 1 {
			r.Kind = Merge
		}
		r.After += len(g.To) - len(g.From)
		r.Groups = append(r.Groups, begun(g, &r.Next))
	}
	if err := r.Check(); err != nil {
		return p, fault.Wrap(fault.Usage, err)
	}
	return r.into(p, asked.Change), nil
}

// begun is the group of a plan in CLONE, with numbers from next on.
func begun(planned placement.Group, next *uint32) (g Group) {
	for _, s := range planned.From {
		g.Sources = append(g.Sources, SourceLine{Shard: s.Number, State: Source, Before: Shape{Range: s.Range, Epoch: s.Epoch, Term: s.Term}})
	}
	to := planned.To
	if len(planned.From) == 1 && len(to) > 0 {
		g.Sources[0].Keeps = &Shape{Range: to[0].Range}
		to = to[1:]
	}
	for _, part := range to {
		t := TargetLine{State: Clone, Shape: Shape{Range: part.Range}}
		if len(planned.From) > 1 {
			t.Shard = planned.From[0].Number
		} else {
			t.Shard = *next
			*next++
		}
		g.Targets = append(g.Targets, t)
	}
	return g
}

// into is p's next version, with r in it.
func (r Record) into(p placement.Placement, change placement.Change) placement.Placement {
	p.Version++
	p.Next, p.Last, p.Transfer = r.Next, change, r.Encode()
	return p
}

// Advance is [Step] for the record in p: p's next version, to be stored by compare-and-set
// against the one that was read. A hand-off changes the map in the same version. When
// nothing changed p comes back as it is. Without a reshaping it is fault.NotFound, which
// for a late worker means that it has ended; with that of another movement, fault.Conflict.
func Advance(p placement.Placement, movement string, e Event, change placement.Change) (placement.Placement, []Effect, error) {
	r, found, err := Of(p)
	switch {
	case err != nil:
		return p, nil, err
	case !found:
		return p, nil, fault.WithNext(fault.New(fault.NotFound, "index %d is not being reshaped", p.Index), readAgain)
	case r.Movement != movement:
		return p, nil, late("index %s is being reshaped by movement %s: what movement %s tells comes too late", r.Name, r.Movement, movement)
	}
	if e.Happened == WasHanded {
		e.Version = p.Version + 1
	}
	next, effects, changed, err := Step(r, e)
	if err != nil || !changed {
		return p, nil, err
	}
	placed := p
	if e.Happened == WasHanded {
		if placed, err = Apply(p, r, e.Group, change); err != nil {
			return p, nil, err
		}
		placed.Version-- // into raises it, once for both
	}
	return next.into(placed, change), effects, nil
}

// Apply is the map after the hand-off of a group of r: what the source keeps and the
// targets have Version as their epoch and a term above all that they come from; a source
// that keeps nothing is no longer in it.
func Apply(p placement.Placement, r Record, group int, change placement.Change) (placement.Placement, error) {
	g := &r.Groups[group]
	if err := g.stands(p); err != nil || g.HandedOff() {
		return p, late("group %d of transfer %s does not stand as it was: %v", group, r.Movement, err)
	}
	p.Version++
	p.Last, p.Next = change, max(p.Next, r.Next)
	node := ""
	rows := slices.DeleteFunc(slices.Clone(p.Shards), func(s placement.Shard) bool {
		i := slices.IndexFunc(g.Sources, func(l SourceLine) bool { return l.Shard == s.Number })
		if i == 0 {
			node = s.Node
		}
		return i >= 0
	})
	add := func(number uint32, r routing.Range) {
		rows = append(rows, placement.Shard{Number: number, Range: r, Epoch: p.Version, Term: g.term(), Node: node})
	}
	if s := &g.Sources[0]; s.Keeps != nil {
		add(s.Shard, s.Keeps.Range)
	}
	for i := range g.Targets {
		add(g.Targets[i].Shard, g.Targets[i].Range)
	}
	slices.SortFunc(rows, func(a, b placement.Shard) int {
		if a.Range.From < b.Range.From {
			return -1
		}
		return 1
	})
	p.Shards = rows
	return p, p.Check()
}

// Clear takes the reshaping of a movement out of p, once it is over; p comes back as it is
// when there is none of that movement. Before that it is fault.Conflict.
func Clear(p placement.Placement, movement string, change placement.Change) (placement.Placement, error) {
	r, found, err := Of(p)
	switch {
	case err != nil || !found || r.Movement != movement:
		return p, err
	case !r.Over():
		return p, fault.WithNext(fault.New(fault.Conflict, "transfer %s is not over", movement), "do the steps that are left of it")
	}
	p.Version++
	p.Last, p.Transfer = change, nil
	return p, nil
}

// stands is an error unless the map has what g says: its sources before the hand-off, what
// they keep and its targets after it.
func (g *Group) stands(p placement.Placement) error {
	is := func(number uint32, want Shape) error {
		s, ok := p.Shard(number)
		if got := (Shape{Range: s.Range, Epoch: s.Epoch, Term: s.Term}); !ok || got != want {
			return fault.New(fault.Conflict, "shard %d is %v in the map, and %v in its transfer", number, got, want)
		}
		return nil
	}
	for i := range g.Sources {
		s := &g.Sources[i]
		var err error
		switch {
		case !g.HandedOff():
			err = is(s.Shard, s.Before)
		case s.Keeps != nil:
			err = is(s.Shard, *s.Keeps)
		}
		if err != nil {
			return err
		}
	}
	for i := range g.Targets {
		if t := &g.Targets[i]; g.HandedOff() {
			if err := is(t.Shard, t.Shape); err != nil {
				return err
			}
		}
	}
	return nil
}

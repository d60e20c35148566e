package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// How long a movement that is about to start waits for another that has been stored, and has
// not started: it starts, or is forgotten, within a moment, unless the process that stored it is dead.
const (
	conflictWait  = 10 * time.Second
	conflictPause = 100 * time.Millisecond
)

// otherMovement is another movement that writes to a target.
type otherMovement struct {
	id      string
	state   movement.State
	at      string // where it is recorded; "": in the same place
	indices []string
}

// conflict is another movement that writes to an index of a plan.
type conflict struct {
	other otherMovement
	index string
}

// refusal is the conflict; place is where both movements are recorded, if that is one.
func (m *conflict) refusal(place string) error {
	if m.other.state == movement.Damaged {
		err := fault.New(fault.Conflict, "movement %s, whose record is damaged, wrote to index %s", m.other.id, m.index)
		return fault.WithNext(err, "make sure that none of its workers is running, and then: %s", Command("movement", "set-aside", m.other.id, "--at", place))
	}
	if m.other.state == movement.Newer {
		err := fault.New(fault.Conflict, "movement %s, whose record a newer release has written, wrote to index %s", m.other.id, m.index)
		return fault.WithNext(err, "update this program; or let the release that works for that movement bring it to its end")
	}
	if m.other.at == "" {
		err := fault.New(fault.Conflict, "movement %s, which is %s, writes to index %s", m.other.id, m.other.state, m.index)
		return fault.WithNext(err, "let it go on, which takes a worker when the process that began it has ended: %s; or abort it: %s",
			Command("worker", "--join", place, "--once"), Command("movement", "abort", m.other.id, "--at", place))
	}
	err := fault.New(fault.Conflict, "movement %s, which is recorded at %s, writes to index %s", m.other.id, m.other.at, m.index)
	return fault.WithNext(err, "wait for it, or abort it: %s; if its records there are lost: %s lifts its claim",
		Command("movement", "abort", m.other.id, "--at", m.other.at), Command("movement", "abort", "--records-lost", m.other.id, "--at", place))
}

// yields reports whether the other one, which was stored as own was, may still give way.
//
// A movement looks for others when its own record has been stored, and its claim where that lies
// beside the target; so of two that start at the same time at least one sees the other. Were the
// one that was stored later with the lesser ID to go on whatever it sees, both would: the other
// had looked before. So no movement passes one that may have looked; the greater ID gives way, and the
// lesser waits to see what became of it.
func (m *conflict) yields(own string) bool {
	return m.other.state == movement.Planned && own != "" && m.other.id > own
}

// refuseTwice refuses a plan whose indices another movement, which has not ended, writes to:
// one of the same place, or one that the target itself knows of. Own is the plan's own movement,
// when it has been stored.
func (c *Control) refuseTwice(ctx context.Context, s *side, plan *migrate.Plan, own string) (err error) {
	ctx, stop := context.WithTimeout(ctx, conflictWait)
	defer stop()
	place := plan.Target
	if s.beside {
		place = s.at
	}
	if err := refuseAmong(ctx, plan, own, place, func() ([]otherMovement, error) { return recorded(ctx, s.coord, plan, s.beside) }); err != nil || !s.beside {
		return err
	}
	records, leave, err := c.recordsAt(ctx, s, plan.Target, false)
	if fault.Is(err, fault.Unauthorised) || err == nil && records == nil {
		return nil // a process that records elsewhere may have no right to read here
	} else if err != nil {
		return err
	}
	err = refuseAmong(ctx, plan, own, plan.Target, func() ([]otherMovement, error) { return recorded(ctx, records, plan, false) })
	return errors.Join(fault.At(err, "the records on the target itself"), leave())
}

// refuseAmong refuses a plan that meets another movement, when that does not give way.
func refuseAmong(ctx context.Context, plan *migrate.Plan, own, place string, others func() ([]otherMovement, error)) error {
	for {
		all, err := others()
		if err != nil {
			return err
		}
		met := meets(all, plan, own)
		if met == nil {
			return nil
		}
		if !met.yields(own) || drive.Wait(ctx, conflictPause) != nil {
			return met.refusal(place)
		}
	}
}

// recorded are the movements that write to the plan's target, of a place that is the target's
// own or, where several says so, that of several targets.
func recorded(ctx context.Context, records coord.Store, plan *migrate.Plan, several bool) (all []otherMovement, err error) {
	found, err := drive.New(records, 0).Movements(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		other, err := writerOf(ctx, records, &found[i], plan, several)
		if err != nil {
			return nil, err
		}
		if other != nil {
			all = append(all, *other)
		}
	}
	if several {
		return all, nil
	}
	claims, err := migrate.Claims(ctx, records)
	for _, c := range claims {
		all = append(all, otherMovement{c.ID, c.State, c.At, c.Indices})
	}
	return all, err
}

// meets is the other movement that the plan meets, one that does not give way before any that may; nil
// when there is none.
func meets(all []otherMovement, plan *migrate.Plan, own string) (met *conflict) {
	indices := written(plan)
	for _, other := range all {
		n := slices.IndexFunc(indices, func(name string) bool { return slices.Contains(other.indices, name) })
		if other.id == own || n < 0 {
			continue
		}
		met = &conflict{other, indices[n]}
		if !met.yields(own) {
			return met
		}
	}
	return met
}

// written are the indices to which a plan writes.
func written(p *migrate.Plan) (names []string) {
	for i := range p.Indices {
		names = append(names, p.Indices[i].Targets()...)
	}
	return names
}

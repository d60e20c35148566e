package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Movements are those that a place records, by ID, without their progress.
func (c *Control) Movements(ctx context.Context, at string) (all []movement.Record, err error) {
	err = c.with(ctx, at, func(ctx context.Context, d *drive.Driver, s *side) error {
		if all, err = movementsAt(ctx, d, at); err != nil {
			return err
		}
		return idleMovements(ctx, d, s, all, at)
	})
	return all, err
}

// movementsAt are all movements that a place records.
func movementsAt(ctx context.Context, d *drive.Driver, at string) ([]movement.Record, error) {
	all, err := d.Movements(ctx)
	for i := range all {
		all[i].Next = Orders(all[i].Next, all[i].ID, at)
	}
	return all, err
}

// Movement is one, with its progress.
func (c *Control) Movement(ctx context.Context, at, id string) (m *Movement, err error) {
	err = c.with(ctx, at, func(ctx context.Context, d *drive.Driver, side *side) error {
		m, err = (&lookout{d: d, side: side, id: id, at: at, alone: side.alone}).look(ctx)
		return ordered(claimed(ctx, side, id, at, err), id, at)
	})
	return m, err
}

// rests tells whether nothing more happens to a movement unless somebody asks for it. One
// that is paused is thought to go on.
func rests(r *movement.Record) bool {
	switch r.State {
	case movement.Held, movement.Failed, movement.Switched, movement.Damaged, movement.Newer:
		return true
	}
	return r.State.Ended()
}

// Order is a verb for a movement.
type Order struct {
	At, ID  string
	Verb    movement.Verb
	By, Why string
	Rate    json.RawMessage // with throttle
	// Overwrite and DeleteExtra are with repair: it makes both sides equal, whoever has written on the target.
	Overwrite, DeleteExtra bool
}

// apply lets the verb happen. Of a split and a merge nothing is sent that could be sent again; and an abort is taken
// until something was handed off, though the switch has begun.
func (o *Order) apply(ctx context.Context, d *drive.Driver, s *side) error {
	_, _, err := d.ApplyTo(ctx, o.ID, func(r *movement.Record) (movement.Event, error) {
		reshapes := Reshapes(r.Kind)
		if reshapes && (o.Verb == movement.Repair || o.Verb == movement.Redrive) {
			return movement.Event{}, fault.WithNext(fault.New(fault.Refused, "a %s sends no documents that could be sent again", r.Kind), "verify it again, or reverse it")
		}
		if r.Kind == movement.Comparison && o.Verb == movement.Redrive {
			err := fault.New(fault.Refused, "a comparison of its own has sent no documents that could have failed")
			return movement.Event{}, fault.WithNext(err, "repair it, which sends what differs")
		}
		e := movement.Event{Verb: o.Verb, By: o.By, Why: o.Why, Rate: o.Rate, Overwrite: o.Overwrite, DeleteExtra: o.DeleteExtra}
		if reshapes && o.Verb == movement.Abort && r.Ask(o.Verb).When == movement.HasFlipped {
			e.Unswitched = unswitched(ctx, d, s, r)
		}
		return e, nil
	})
	return unsteered(err)
}

// unsteered is the error of an order for a movement whose record cannot be read: as in every state in which a verb does not
// go, it is a conflict, with what does.
func unsteered(err error) error {
	if drive.IsUnread(err) {
		return fault.Wrap(fault.Conflict, err)
	}
	return err
}

// unswitched tells whether a split or a merge has handed nothing off; false: it has, or that is not known here.
func unswitched(ctx context.Context, d *drive.Driver, s *side, r *movement.Record) bool {
	told, err := s.reshaping(ctx, d, r)
	if err != nil || told == nil || len(told.Reshaping) == 0 {
		return false
	}
	reshaping, err := transfer.Decode(told.Reshaping)
	return err == nil && !slices.ContainsFunc(reshaping.Groups, func(g transfer.Group) bool { return g.HandedOff() })
}

// Tell lets a verb happen to a movement. It does not wait for what workers then do. To verify one that has finished is a
// comparison of its own, which is the movement that it gives.
func (c *Control) Tell(ctx context.Context, o Order) (m *Movement, err error) {
	err = c.with(ctx, o.At, func(ctx context.Context, d *drive.Driver, side *side) error {
		id, err := c.carryOut(ctx, d, side, &o, nil)
		if err != nil {
			return ordered(claimed(ctx, side, o.ID, o.At, err), o.ID, o.At)
		}
		m, err = movementOf(ctx, d, side, id, o.At)
		return err
	})
	return m, err
}

// with opens the coordination store of a place for a while. Somebody waits for what is done with it.
func (c *Control) with(ctx context.Context, at string, use func(context.Context, *drive.Driver, *side) error) error {
	side, err := c.side(ctx, at, false, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(use(drive.WithPatience(ctx, verbSilence), drive.New(side.coord, work.Default.ClockTolerance), side), side.leave())
}

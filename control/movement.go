package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/work"
)

// Movements are those that a place records, by ID, without their progress.
func (c *Control) Movements(ctx context.Context, at string) (all []movement.Record, err error) {
	err = c.with(ctx, at, func(d *drive.Driver, _ *side) error {
		all, err = d.Movements(ctx)
		return err
	})
	return all, err
}

// Movement is one, with its progress.
func (c *Control) Movement(ctx context.Context, at, id string) (m *Movement, err error) {
	err = c.with(ctx, at, func(d *drive.Driver, _ *side) error {
		m, err = movementOf(ctx, d, id)
		return err
	})
	return m, err
}

// Order is a verb for a movement.
type Order struct {
	At, ID  string
	Verb    movement.Verb
	By, Why string
	Rate    json.RawMessage // with throttle
}

// Tell lets a verb happen to a movement. It does not wait for what workers then do.
func (c *Control) Tell(ctx context.Context, o Order) (m *Movement, err error) {
	err = c.with(ctx, o.At, func(d *drive.Driver, _ *side) error {
		if _, _, err := d.Apply(ctx, o.ID, movement.Event{Verb: o.Verb, By: o.By, Why: o.Why, Rate: o.Rate}); err != nil {
			return err
		}
		m, err = movementOf(ctx, d, o.ID)
		return err
	})
	return m, err
}

// with opens the coordination store of a place for a while.
func (c *Control) with(ctx context.Context, at string, use func(*drive.Driver, *side) error) error {
	side, err := c.side(ctx, at, false, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(use(drive.New(side.coord, work.Default.ClockTolerance), side), side.leave())
}

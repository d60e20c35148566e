package control

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reshard"
)

// LimitsChange are limits of a movement that are to be others; Hours are those of each day in which
// it may be at work.
type (
	LimitsChange = migrate.Change
	Hours        = migrate.Hours
)

// ParseHours reads "22:00-06:00 Europe/Berlin"; fault.Usage for anything else.
func ParseHours(text string) (Hours, error) { return migrate.ParseHours(text) }

// Throttle changes the limits of a movement: Rate of the order, if any, takes their place, and
// then change is made. Workers obey within a heartbeat.
func (c *Control) Throttle(ctx context.Context, o Order, change LimitsChange) (m *Movement, err error) {
	err = c.with(ctx, o.At, func(ctx context.Context, d *drive.Driver, side *side) error {
		m, err = throttle(ctx, d, side, o, change)
		return ordered(err, o.ID, o.At)
	})
	return m, err
}

func throttle(ctx context.Context, d *drive.Driver, side *side, o Order, change LimitsChange) (*Movement, error) {
	_, _, err := d.ApplyTo(ctx, o.ID, func(r *movement.Record) (movement.Event, error) {
		e := movement.Event{Verb: movement.Throttle, By: o.By, Why: o.Why}
		rate := r.Rate
		if o.Rate != nil {
			rate = o.Rate
		}
		limits, err := migrate.ReadLimits(rate)
		if err == nil {
			limits, err = limits.With(change)
		}
		e.Rate = limits.JSON()
		if err == nil && Reshapes(r.Kind) {
			e.Rate, err = reshapingRate(r.Kind, limits)
		}
		return e, err
	})
	if err != nil {
		return nil, unsteered(err)
	}
	return (&lookout{d: d, side: side, id: o.ID, at: o.At}).look(ctx)
}

// reshapingRate is how a split or a merge is limited: in bytes alone.
func reshapingRate(kind movement.Kind, limits Throttle) (json.RawMessage, error) {
	if limits.DocumentsPerSecond != 0 || limits.Hours != (Hours{}) {
		return nil, fault.WithNext(fault.New(fault.Refused, "a %s sends no documents: it has no limit of them, and no hours", kind), "limit its bytes in a second")
	}
	return json.Marshal(reshard.AtMost(limits.BytesPerSecond))
}

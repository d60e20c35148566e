package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// movements is the prefix of the records of movements; all else of one lies under
// "movement/ID/", where a list of movements does not meet it.
const movements = "movements/"

// Plan stores a new movement; fault.Conflict when there is one with its ID.
func (d *Driver) Plan(ctx context.Context, r movement.Record) error {
	value, err := json.Marshal(r)
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	return again(ctx, func() error {
		_, err := d.store.Create(ctx, movements+r.ID, value)
		if fault.Is(err, fault.Conflict) { // by an attempt of ours whose answer was lost?
			if there, e := d.store.Get(ctx, movements+r.ID); e == nil && bytes.Equal(there.Value, value) {
				return nil
			}
		}
		return fault.At(err, "movement "+r.ID)
	})
}

// Forget removes the record of a movement that has not been started.
func (d *Driver) Forget(ctx context.Context, id string) error { return d.Remove(ctx, movements+id) }

// Movement is the one with this ID.
func (d *Driver) Movement(ctx context.Context, id string) (movement.Record, error) {
	var r movement.Record
	err := again(ctx, func() error {
		record, err := d.store.Get(ctx, movements+id)
		if err == nil {
			r, err = readMovement(record)
		}
		return fault.At(noMovement(err), "movement "+id)
	})
	return r, err
}

// noMovement makes of a record that is not there a movement that is not.
func noMovement(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "there is no such movement")
	}
	return err
}

// Movements are all of the store's, in the order in which they were made. Those of which the record is
// damaged are shown as such: they hinder no other.
func (d *Driver) Movements(ctx context.Context) (all []movement.Record, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, movements)
		if err != nil {
			return err
		}
		all = make([]movement.Record, len(records))
		for i, record := range records {
			all[i] = shown(record)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b movement.Record) int { return a.Created.Compare(b.Created) }) // two of one second are in no order by ID
	return all, err
}

// Apply lets an event happen to a movement, at the store's time, and gives the record after
// it and what is to be done.
func (d *Driver) Apply(ctx context.Context, id string, e movement.Event) (movement.Record, []movement.Effect, error) {
	return d.ApplyTo(ctx, id, func(*movement.Record) (movement.Event, error) { return e, nil })
}

// ApplyTo is Apply of an event that depends on the record: event is asked again whenever somebody
// else has changed that meanwhile. What it gives must not depend on whether it has happened.
func (d *Driver) ApplyTo(ctx context.Context, id string, event func(*movement.Record) (movement.Event, error)) (movement.Record, []movement.Effect, error) {
	var next movement.Record
	var effects []movement.Effect
	now, err := d.Now(ctx)
	if err != nil {
		return next, nil, err
	}
	wanted := []byte(nil)
	err = again(ctx, func() error {
		for {
			record, err := d.store.Get(ctx, movements+id)
			if err != nil {
				return noMovement(err)
			}
			if wanted != nil && bytes.Equal(record.Value, wanted) {
				return nil
			}
			r, err := readMovement(record)
			if err != nil {
				return err
			}
			e, err := event(&r)
			if err != nil {
				return err
			}
			e.At = now
			if next, effects, err = movement.Step(r, e); err != nil {
				return err
			}
			if wanted, err = json.Marshal(next); err != nil {
				return fault.Wrap(fault.Bug, err)
			}
			if bytes.Equal(record.Value, wanted) {
				return nil
			}
			_, err = d.store.Swap(ctx, movements+id, record.Revision, wanted)
			if !fault.Is(err, fault.Conflict) {
				return err
			}
		}
	})
	return next, effects, fault.At(err, "movement "+id)
}

// decode reads a record; one that is none is fault.Corrupt.
func decode(value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		err := fault.New(fault.Corrupt, "the record is not understood: %w", err)
		return fault.WithNext(err, "delete that record from the coordination store: verify finds what was not done; what a ledger entry names is then yours to undo")
	}
	return nil
}

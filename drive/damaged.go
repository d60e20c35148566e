package drive

import (
	"bytes"
	"context"
	"strings"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
)

// setAside is the prefix of records of movements that were damaged, and that somebody has set aside.
const setAside = "set-aside/"

// readMovement reads the record of a movement: fault.Corrupt when it is none, or another's, with what
// to do about it.
func readMovement(record coord.Record) (r movement.Record, err error) {
	id := strings.TrimPrefix(record.Key, movements)
	err = decode(record.Value, &r)
	if err == nil && r.ID != id {
		err = fault.New(fault.Corrupt, "the record is of movement %q", r.ID)
	}
	if err == nil {
		err = r.Check()
	}
	if err == nil {
		return r, nil
	}
	err = fault.New(fault.Corrupt, "the record of the movement is damaged: %w", err)
	return r, fault.WithNext(err, "reshelve movement set-aside")
}

// shown is the record of a movement; one that is damaged is shown as such.
func shown(record coord.Record) movement.Record {
	r, err := readMovement(record)
	if err != nil {
		return movement.DamagedRecord(strings.TrimPrefix(record.Key, movements), err.Error(), fault.Next(err))
	}
	return r
}

// Shown is Movement of a record that may be damaged: then its state says so.
func (d *Driver) Shown(ctx context.Context, id string) (r movement.Record, err error) {
	err = again(ctx, func() error {
		record, err := d.store.Get(ctx, movements+id)
		if err == nil {
			r = shown(record)
		}
		return fault.At(noMovement(err), "movement "+id)
	})
	return r, err
}

// SetAside takes the damaged record of a movement out of the way, and keeps it under "set-aside/ID".
// What the movement has made, and what else is recorded of it, stays. It is fault.Refused of a record
// that can be read.
func (d *Driver) SetAside(ctx context.Context, id string) error {
	return again(ctx, func() error {
		record, err := d.store.Get(ctx, movements+id)
		if err != nil {
			return fault.At(noMovement(err), "movement "+id)
		}
		if _, err := readMovement(record); err == nil {
			err = fault.New(fault.Refused, "the record of the movement is not damaged")
			return fault.At(fault.WithNext(err, "reshelve movement abort"), "movement "+id)
		}
		if _, err := coord.Update(ctx, d.store, setAside+id, func([]byte) ([]byte, error) { return bytes.Clone(record.Value), nil }); err != nil {
			return fault.At(err, setAside+id)
		}
		return fault.At(d.store.Delete(ctx, record.Key, record.Revision), "movement "+id)
	})
}

package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// setAside is the prefix of records of movements that were damaged, and that somebody has set aside.
const setAside = "set-aside/"

// readMovement reads the record of a movement: fault.Corrupt when it is none, or another's, and fault.Refused when a newer
// release has written it (see IsUnread), with what to do about it. As in all next actions of movements, the order names neither the movement nor its place: what
// knows both completes it (control.Orders).
func readMovement(record coord.Record) (r movement.Record, err error) {
	id := strings.TrimPrefix(record.Key, movements)
	var version struct {
		Schema work.Schema `json:"schemaVersion"`
	}
	if err := json.Unmarshal(record.Value, &version); work.IsNewer(err) {
		err = fault.New(fault.Refused, "a newer release has written the record of the movement: %w", err)
		return r, fault.WithNext(err, "update this program: the movement is left alone until then")
	}
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

// IsUnread tells whether an error says of the record of a movement that it cannot be read: no order can reach the movement.
func IsUnread(err error) bool { return fault.Is(err, fault.Corrupt) || work.IsNewer(err) }

// shown is the record of a movement; one that is damaged, or of a newer release, is shown as such.
func shown(record coord.Record) movement.Record {
	r, err := readMovement(record)
	if err == nil {
		return r
	}
	state := movement.Damaged
	if work.IsNewer(err) {
		state = movement.Newer
	}
	return movement.UnreadRecord(strings.TrimPrefix(record.Key, movements), state, err.Error(), fault.Next(err))
}

// Shown is Movement of a record that perhaps cannot be read: then its state says so.
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

// SetAside moves the damaged record of a movement out of the way, and gives the key under which it is
// kept: "set-aside/ID", or, where another one is, that with a number. What was set aside before stays, and
// so does what the movement has made, and what else is recorded of it. It is fault.Refused of a record
// that can be read, here or by a newer release.
func (d *Driver) SetAside(ctx context.Context, id string) (key string, err error) {
	err = again(ctx, func() error {
		for {
			record, err := d.store.Get(ctx, movements+id)
			if key != "" && fault.Is(err, fault.NotFound) { // others, or an attempt that was not heard of, have deleted it
				return nil
			}
			if err != nil {
				return fault.At(noMovement(err), "movement "+id)
			}
			switch _, err := readMovement(record); {
			case work.IsNewer(err):
				return fault.At(err, "movement "+id)
			case err == nil:
				err = fault.New(fault.Refused, "the record of the movement is not damaged")
				return fault.At(fault.WithNext(err, "reshelve movement abort"), "movement "+id)
			}
			if key, err = d.keepAside(ctx, id, record.Value); err != nil {
				return fault.At(err, setAside+id)
			}
			err = d.store.Delete(ctx, record.Key, record.Revision)
			if !fault.Is(err, fault.Conflict) { // else somebody has deleted it, or put another in its place
				return fault.At(err, "movement "+id)
			}
		}
	})
	return key, err
}

// keepAside stores what a damaged record held where nothing else is. It only ever creates, so that
// nothing that is kept there is lost, whoever else does the same.
func (d *Driver) keepAside(ctx context.Context, id string, value []byte) (key string, err error) {
	for n := 1; ; {
		key = setAside + id
		if n > 1 {
			key += "~" + strconv.Itoa(n)
		}
		_, err := d.store.Create(ctx, key, value)
		if !fault.Is(err, fault.Conflict) {
			return key, err
		}
		there, err := d.store.Get(ctx, key)
		switch {
		case fault.Is(err, fault.NotFound): // it was there a moment ago
		case err != nil:
			return "", err
		case bytes.Equal(there.Value, value): // by others, or by an attempt before
			return key, nil
		default:
			n++
		}
	}
}

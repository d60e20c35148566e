package drive

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
)

// Ledger is what a movement has made or is about to make, the newest first.
func (d *Driver) Ledger(ctx context.Context, id string) (entries []movement.Entry, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, movement.LedgerPrefix(id))
		if err != nil {
			return err
		}
		entries = make([]movement.Entry, len(records))
		for i, record := range records {
			if err := decode(record.Value, &entries[i]); err != nil {
				return fault.At(err, record.Key)
			}
		}
		return nil
	})
	return movement.Closing(entries), err
}

// Intend writes down what is about to be made. An entry that stands there stays as it is:
// it was written by an attempt before, and knows what was there before that.
func (d *Driver) Intend(ctx context.Context, id string, e movement.Entry) error {
	at, err := d.Now(ctx)
	if err != nil {
		return err
	}
	e.At = at
	value, err := json.Marshal(e)
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	return again(ctx, func() error {
		if _, err := d.store.Create(ctx, entryKey(id, e), value); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
		return nil
	})
}

// Made writes down that the thing of an entry was made, and what tells it from others.
func (d *Driver) Made(ctx context.Context, id string, e movement.Entry, identity string) error {
	return again(ctx, func() error {
		_, err := coord.Update(ctx, d.store, entryKey(id, e), func(there []byte) ([]byte, error) {
			if there == nil {
				return nil, fault.New(fault.Conflict, "the entry is gone")
			}
			var now movement.Entry
			if err := decode(there, &now); err != nil {
				return nil, err
			}
			now.Made, now.Identity = true, identity
			return json.Marshal(now)
		})
		return fault.At(err, entryKey(id, e))
	})
}

// Strike removes an entry: what it names is gone, or belongs to someone else from now on.
func (d *Driver) Strike(ctx context.Context, id string, e movement.Entry) error {
	return d.Remove(ctx, entryKey(id, e))
}

func entryKey(id string, e movement.Entry) string { return movement.LedgerKey(id, e.Kind, e.Name) }

// Remove deletes a record whatever it holds; one that is gone is no error.
func (d *Driver) Remove(ctx context.Context, key string) error {
	return again(ctx, func() error {
		for {
			record, err := d.store.Get(ctx, key)
			if err == nil {
				err = d.store.Delete(ctx, key, record.Revision)
			}
			if fault.Is(err, fault.NotFound) {
				return nil
			}
			if !fault.Is(err, fault.Conflict) {
				return err
			}
		}
	})
}

// Make creates a record if there is none; what stands there stays.
func (d *Driver) Make(ctx context.Context, key string, record any) error {
	_, err := d.MakeNew(ctx, key, record)
	return err
}

// MakeNew does what Make does, and tells whether the record is surely its own.
func (d *Driver) MakeNew(ctx context.Context, key string, record any) (made bool, err error) {
	value, err := json.Marshal(record)
	if err != nil {
		return false, fault.Wrap(fault.Bug, err)
	}
	err = again(ctx, func() error {
		_, err := d.store.Create(ctx, key, value)
		made = err == nil
		if err != nil && !fault.Is(err, fault.Conflict) {
			return fault.At(err, key)
		}
		return nil
	})
	return made, err
}

// Pieces are the records under prefix, by what follows it in their keys.
func Pieces[T any](ctx context.Context, d *Driver, prefix string) (pieces map[string]T, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, prefix)
		if err != nil {
			return err
		}
		pieces = make(map[string]T, len(records))
		for _, record := range records {
			var piece T
			if err := decode(record.Value, &piece); err != nil {
				return fault.At(err, record.Key)
			}
			pieces[strings.TrimPrefix(record.Key, prefix)] = piece
		}
		return nil
	})
	return pieces, err
}

// Put stores a record whatever stood there.
func (d *Driver) Put(ctx context.Context, key string, record any) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	return again(ctx, func() error {
		_, err := coord.Update(ctx, d.store, key, func([]byte) ([]byte, error) { return value, nil })
		return fault.At(err, key)
	})
}

// RemoveAll deletes the records under prefix.
func (d *Driver) RemoveAll(ctx context.Context, prefix string) error {
	return again(ctx, func() error {
		records, err := d.store.List(ctx, prefix)
		if err != nil {
			return err
		}
		for _, record := range records {
			if err := d.Remove(ctx, record.Key); err != nil {
				return err
			}
		}
		return nil
	})
}

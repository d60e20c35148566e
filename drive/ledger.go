package drive

import (
	"context"
	"encoding/json"

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

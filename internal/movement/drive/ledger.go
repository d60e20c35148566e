package drive

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// Ledger is what a movement has made or is about to make, the newest first.
func (d *Driver) Ledger(ctx context.Context, id string) ([]movement.Entry, error) {
	entries, unread, err := d.ReadLedger(ctx, id)
	if err == nil && len(unread) > 0 {
		return nil, fault.At(unread[0].Err, unread[0].Key)
	}
	return entries, err
}

// Unread is a record that cannot be read, and why. The key of one of the ledger still names
// the kind and the thing; see [movement.LedgerKey].
type Unread struct {
	Key string
	Err error
}

// ReadLedger is Ledger past what cannot be read.
func (d *Driver) ReadLedger(ctx context.Context, id string) (entries []movement.Entry, unread []Unread, err error) {
	err = again(ctx, func() error {
		entries, unread = nil, nil
		records, err := d.store.List(ctx, movement.LedgerPrefix(id))
		if err != nil {
			return err
		}
		for _, record := range records {
			var e movement.Entry
			err := decode(record.Value, &e)
			if err == nil && entryKey(id, e) != record.Key { // that other thing would be undone, and this one not
				err = fault.New(fault.Corrupt, "the record is of %s %s", e.Kind, e.Name)
			}
			if err != nil {
				unread = append(unread, Unread{record.Key, err})
				continue
			}
			entries = append(entries, e)
		}
		return nil
	})
	return movement.Closing(entries), unread, err
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

package drive

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Read is the record at key; fault.NotFound when there is none.
func Read[T any](ctx context.Context, d *Driver, key string) (piece T, err error) {
	err = again(ctx, func() error {
		record, err := d.store.Get(ctx, key)
		if err == nil {
			err = decode(record.Value, &piece)
		}
		return fault.At(err, key)
	})
	return piece, err
}

// Pieces are the records under prefix, with a lease or without, by what follows it in their
// keys.
func Pieces[T any](ctx context.Context, d *Driver, prefix string) (pieces map[string]T, err error) {
	return PiecesBut[T](ctx, d, prefix, nil)
}

// Readable are those of Pieces that can be decoded: of records that nothing depends on.
func Readable[T any](ctx context.Context, d *Driver, prefix string) (pieces map[string]T, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, prefix)
		pieces = make(map[string]T, len(records))
		for _, record := range records {
			var piece T
			if decode(record.Value, &piece) == nil {
				pieces[strings.TrimPrefix(record.Key, prefix)] = piece
			}
		}
		return err
	})
	return pieces, err
}

// PiecesBut are those of Pieces whose keys are not to be left out; nil leaves none out.
func PiecesBut[T any](ctx context.Context, d *Driver, prefix string, leftOut func(key string) bool) (pieces map[string]T, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, prefix)
		if err != nil {
			return err
		}
		pieces = make(map[string]T, len(records))
		for _, record := range records {
			if leftOut != nil && leftOut(record.Key) {
				continue
			}
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

// Keys are what follows prefix in the keys of records, in their order, whatever the records hold.
func (d *Driver) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = again(ctx, func() error {
		records, err := d.store.List(ctx, prefix)
		keys = make([]string, 0, len(records))
		for _, record := range records {
			keys = append(keys, strings.TrimPrefix(record.Key, prefix))
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
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

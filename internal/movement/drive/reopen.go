package drive

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// RemoveFailed deletes the piece at key if it has failed; one that others have begun anew meanwhile stays,
// and one that is gone is no error.
func (d *Driver) RemoveFailed(ctx context.Context, key string) error {
	return again(ctx, func() error {
		record, err := d.store.Get(ctx, key)
		if err != nil {
			return unless(err, fault.NotFound)
		}
		var piece work.Lease
		if err := decode(record.Value, &piece); err != nil || piece.State != work.Failed {
			return fault.At(err, key)
		}
		return unless(d.store.Delete(ctx, key, record.Revision), fault.Conflict)
	})
}

// unless is err, but for errors of a kind that is none here.
func unless(err error, kind fault.Kind) error {
	if fault.Is(err, kind) {
		return nil
	}
	return err
}

// Reopen makes the piece at key waiting again, with all its attempts, if it has failed; in
// any other state it stays as it is, and one that is gone is no error.
func Reopen[T any, P Piece[T]](ctx context.Context, d *Driver, key string) error {
	return again(ctx, func() error {
		_, err := coord.Update(ctx, d.store, key, func(value []byte) ([]byte, error) {
			if value == nil {
				return nil, nil
			}
			var piece T
			if err := decode(value, &piece); err != nil {
				return nil, err
			}
			lease := P(&piece).Base()
			if lease.State != work.Failed {
				return value, nil
			}
			reopened, err := lease.Again()
			if err != nil {
				return nil, err
			}
			*lease = reopened
			next, err := json.Marshal(&piece)
			return next, fault.Wrap(fault.Bug, err)
		})
		return fault.At(err, key)
	})
}

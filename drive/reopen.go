package drive

import (
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/work"
)

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

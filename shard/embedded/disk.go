package embedded

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
)

func (e *Engine) writable(context.Context) error { return nil }

func (e *Engine) logBroken() error { return nil }

func (e *Engine) applyNow(db *pebble.DB, b *pebble.Batch) error {
	return db.ApplyNoSyncWait(b, pebble.Sync)
}

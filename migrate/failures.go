package migrate

import (
	"context"
	"strconv"

	"github.com/reshelve/reshelve/work"
)

// Failure is a document that is not on the target, and why.
type Failure struct {
	Position int64  `json:"position"` // in the item's shard
	ID       string `json:"id"`
	Type     string `json:"type"`
	Reason   string `json:"reason"`
	Status   int    `json:"status,omitempty"` // of the target's answer; 0 when it was not asked
}

// failures is the record of those of one batch.
type failures struct {
	Documents []Failure `json:"documents"`
}

// keepFailures lists the documents of a batch that failed for good, before anything says that
// the batch is done. A repeated batch writes the same record.
func (c *copying) keepFailures(ctx context.Context, b *batch) error {
	if len(b.bad) == 0 {
		return nil
	}
	item := c.held.Piece()
	key := c.key("failure", work.Safe(item.Name()), strconv.FormatInt(b.from, 10))
	return c.Driver.Put(ctx, key, failures{b.bad})
}

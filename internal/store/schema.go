package store

import (
	"encoding/json"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// indexer puts the documents of one index into segments, by the newest schema that a
// view has shown: a document is written after its fields are, so it knows all of them.
type indexer struct{ schema atomic.Pointer[fields.Schema] }

// Into makes a writer that follows the schema.
func (x *indexer) Into(b *segment.Builder) func(shard.Row) error {
	w := fields.NewWriter(b)
	return func(row shard.Row) error {
		return w.Add(x.schema.Load(), segment.Identity{Key: row.Key, ID: row.ID, SeqNo: row.SeqNo}, row.Routing, row.Source)
	}
}

// list is a setting that may have several values: they are kept as JSON. Nil when it is
// not set.
func list(value string) (values []string) {
	if value != "" && json.Unmarshal([]byte(value), &values) != nil {
		values = []string{value}
	}
	return values
}

package memory

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// TestInheritedTombstonesGo when they are old enough, though no changes of their shard tell
// of them.
func TestInheritedTombstonesGo(t *testing.T) {
	was, at := newTruth(), time.Unix(1000, 0)
	for _, gone := range []bool{false, true} {
		was.apply(&shard.Op{Key: 7, ID: "a", Condition: document.Always, Source: []byte("w"), Delete: gone}, 1, at)
	}
	now := gather([]shard.Reader{&Reader{view: view{rows: was.rows, within: routing.Whole, seqNo: was.last()}}}, routing.Whole)
	now.inherits = at
	now.prune(now.last(), at.Add(-time.Second), routing.Whole)
	if now.counts.tombstones != 1 {
		t.Errorf("it forgets too early: %+v", now.counts)
	}
	now.prune(now.last(), at.Add(time.Second), routing.Whole)
	if _, known := now.rows.get(shard.Ref{Key: 7, ID: "a"}); known || now.counts.tombstones != 0 {
		t.Errorf("it keeps %+v", now.counts)
	}
}

package embedded_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestOpeningDoesNotWaitForIndexing: after a crash gets and writes are answered at once,
// and a reader waits until all that was written is found.
func TestOpeningDoesNotWaitForIndexing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	disk := vfs.NewCrashableMem()
	places := &shardtest.Places{}
	places.Put(placement.New(7, 1, placement.Local, placement.Change{By: "test", Why: "test"}))
	settings := shard.Settings{Indexer: shardtest.Words{}}
	open := func(fs vfs.FS) (*embedded.Engine, shard.Shard) {
		t.Helper()
		e, err := embedded.Open(ctx, "data", embedded.Options{FS: fs, Ballast: -1, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Open(ctx, shard.ID{Index: 7}, places, settings)
		if err != nil {
			t.Fatal(err)
		}
		return e, s
	}
	e, s := open(disk)
	const documents = 5000
	var ops []shard.Op
	for i := range documents {
		id := fmt.Sprint(i)
		ops = append(ops, shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Source: []byte(`{"a":"b"}`), Condition: document.Always})
	}
	for _, r := range s.Write(ctx, 1, ops) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	closeAll(t, e, s)

	e, s = open(crashed)
	defer closeAll(t, e, s)
	if _, found, err := s.Get(ctx, 1, shard.Ref{Key: routing.KeyOf("17", "", 0), ID: "17"}); err != nil || !found {
		t.Fatalf("a get: %v %v", found, err)
	}
	r, err := s.Acquire(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	shown := 0
	for _, v := range r.Views() {
		for doc := range v.Docs() {
			if v.IsRoot(uint32(doc)) && v.Shows(uint32(doc)) {
				shown++
			}
		}
	}
	if shown != documents || r.Docs() != documents {
		t.Errorf("%d documents are shown, %d counted, %d were written", shown, r.Docs(), documents)
	}
}

func closeAll(t *testing.T, e *embedded.Engine, s shard.Shard) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

package store_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestDeletingDuringRefreshesIsQuiet deletes indices whose shards are being refreshed: that
// a refresh fails then is nobody's trouble, and the log does not tell it.
func TestDeletingDuringRefreshesIsQuiet(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), memory.New(), engine, store.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		name := fmt.Sprint("books-", round)
		if _, err := s.CreateIndex(t.Context(), name, []byte(`{"settings":{"number_of_shards":2,"refresh_interval":"1ms"}}`)); err != nil {
			t.Fatal(err)
		}
		var writes []document.Write
		for i := range 1000 {
			writes = append(writes, document.Write{Operation: document.Index, Target: name, ID: fmt.Sprint(i), Condition: document.Always,
				Source: fmt.Appendf(nil, `{"t":"word%d all"}`, i%7)})
		}
		for _, w := range s.Write(t.Context(), writes, document.Eventually) {
			if w.Err != nil {
				t.Fatal(w.Err)
			}
		}
		if err := s.DeleteIndices(t.Context(), expression([]string{name}, deleted)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("the log tells\n%s", &log)
	}
}

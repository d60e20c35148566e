package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// heard is a log that is written to by many.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(line []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(line)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestDamagedRowsThatAreNotIndexedYet flips a byte in a file of rows that a process had not indexed when it
// was killed: a search does not wait for what cannot be indexed, the other index is searched, what tells of the
// indices answers at once, and the log has each cause once.
func TestDamagedRowsThatAreNotIndexedYet(t *testing.T) {
	dir, records := t.TempDir(), memory.New()
	log := &heard{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	open := func(dir string) (*store.Store, func()) {
		engine, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: logger, Memory: 1 << 20, Ballast: -1, Quiet: -1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), records, engine, store.Options{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		return s, func() { _, _ = s.Close(), engine.Close() }
	}
	s, end := open(dir)
	for _, name := range []string{"books", "other"} {
		if _, err := s.CreateIndex(t.Context(), name, []byte(`{"settings":{"number_of_shards":1}}`)); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{"books": 12000, "other": 3}[name]
		var writes []document.Write
		for i := range count {
			writes = append(writes, document.Write{Operation: document.Index, Target: name, ID: fmt.Sprint(i), Condition: document.Always, Source: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		for _, w := range s.Write(t.Context(), writes, document.AtOnce) {
			if w.Err != nil {
				t.Fatal(w.Err)
			}
		}
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	end()
	if err := os.RemoveAll(filepath.Join(killed, "segments")); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(killed, "truth", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no table of rows", err)
	}
	for _, name := range tables {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := len(data) / 4; at < len(data)*3/4; at += 20 << 10 {
			data[at] ^= 16
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, end = open(killed)
	defer end()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r := search.NewRequest()
	var phase *store.PhaseError
	if _, err := s.Find(ctx, store.Where{Expression: expression([]string{"books"}, searched)}, r); !errors.As(err, &phase) || !fault.Is(err, fault.Corrupt) || fault.Next(phase.Failed[0].Cause) == "" {
		t.Errorf("of the damaged index alone: %v", err)
	}
	found, err := s.Find(ctx, store.Where{Expression: expression([]string{"*"}, searched)}, r)
	if err != nil {
		t.Fatal(err)
	}
	if found.Total != 3 || found.Shards != 2 || len(found.Failed) != 1 || found.Failed[0].Index != "books" || !fault.Is(found.Failed[0].Cause, fault.Corrupt) {
		t.Errorf("of both: %d in %d shards, %v", found.Total, found.Shards, found.Failed)
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Find(ctx, store.Where{Expression: expression([]string{"*"}, searched), Whole: true}, r); !errors.As(err, &phase) || !phase.Partial {
		t.Errorf("of both, wholly: %v", err)
	}
	begun := time.Now()
	statuses, err := s.Status(ctx, expression([]string{"*"}, searched))
	if err != nil || len(statuses) != 2 || time.Since(begun) > 5*time.Second {
		t.Errorf("the status: %d %v after %v", len(statuses), err, time.Since(begun))
	}
	if _, err := s.Get(ctx, document.Read{Target: "other", ID: "1", Version: document.Unset}); err != nil {
		t.Error(err)
	}
	for ctx.Err() == nil && !strings.Contains(log.String(), "indexing failed") {
		time.Sleep(time.Millisecond)
	}
	said := log.String()
	if n := strings.Count(said, "indexing failed"); n != 1 {
		t.Errorf("the log has it %d times:\n%s", n, said)
	}
	if n := strings.Count(said, "\n"); n > 10 || strings.Contains(said, "stack trace") || strings.Contains(said, "detail carrier") {
		t.Errorf("the log has %d lines:\n%s", n, said)
	}
}

package store_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestASearchMendsDamagedSegments cuts all files of segments under a store that serves them:
// the search that meets it answers as if nothing had been.
func TestASearchMendsDamagedSegments(t *testing.T) {
	dir, records := t.TempDir(), memory.New()
	open := func() (*store.Store, func()) {
		quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
		engine, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), records, engine, store.Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		return s, func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	s, end := open()
	if _, err := s.CreateIndex(t.Context(), "books", []byte(`{"settings":{"number_of_shards":2},"mappings":{"properties":{"t":{"type":"text"}}}}`)); err != nil {
		t.Fatal(err)
	}
	var writes []document.Write
	for i := range 500 {
		writes = append(writes, document.Write{Operation: document.Index, Target: "books", ID: fmt.Sprint(i), Condition: document.Always,
			Source: fmt.Appendf(nil, `{"t":"word%d all"}`, i%7)})
	}
	for _, w := range s.Write(t.Context(), writes, document.AtOnce) {
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	end() // which writes the segments out

	s, end = open()
	defer end()
	ask := func() int64 {
		r := search.NewRequest()
		r.Query = &search.Match{Common: search.Common{Boost: 1}, Field: "t", Text: fields.Value{Kind: token.String, Text: "word3"}}
		found, err := s.Find(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		for i := range found.Hits {
			if _, err := found.Document(t.Context(), &found.Hits[i], false); err != nil {
				t.Error(err)
			}
		}
		return found.Total
	}
	want := ask()
	if want != 71 {
		t.Fatalf("%d documents are found", want)
	}
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no segments", err)
	}
	for _, name := range files {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := ask(); got != want {
			t.Errorf("%d documents are found, not %d", got, want)
		}
	}
}

package reshard_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestACheckGoesOnBehindADamagedShard cuts a file of segments of a store that is open: the other shards are compared,
// and the damaged one is told with its file.
func TestACheckGoesOnBehindADamagedShard(t *testing.T) {
	dir, records, quiet := t.TempDir(), memory.New(), slog.New(slog.NewTextHandler(io.Discard, nil))
	open := func() (*store.Store, func()) {
		engine, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet, Ballast: -1, Quiet: -1})
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
	if _, err := s.CreateIndex(t.Context(), "books", []byte(`{"settings":{"number_of_shards":3}}`)); err != nil {
		t.Fatal(err)
	}
	var writes []document.Write
	for i := range 300 {
		writes = append(writes, document.Write{Operation: document.Index, Target: "books", ID: fmt.Sprint(i), Condition: document.Always, Source: []byte(`{"t":"all"}`)})
	}
	for _, w := range s.Write(t.Context(), writes, document.AtOnce) {
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	end() // which writes the segments out
	s, end = open()
	defer end()
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*", "*.seg"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	if err := os.Truncate(files[0], 0); err != nil {
		t.Fatal(err)
	}
	damaged, compared := 0, 0
	err = reshard.Check(t.Context(), s, "books", func(c reshard.Checked) {
		switch {
		case c.Damage == "":
			compared++
		case strings.Contains(c.Damage, files[0]) && c.Rebuilds:
			damaged++
		}
	})
	if err != nil || damaged != 1 || compared != 2 {
		t.Errorf("%d damaged, %d compared: %v", damaged, compared, err)
	}
	p, err := s.PlacementOf(t.Context(), "books")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range p.Shards {
		if err := s.Reindex(t.Context(), p.Index, row.Number, func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	err = reshard.Check(t.Context(), s, "books", func(c reshard.Checked) {
		if c.Damage != "" || c.Differences() != 0 {
			t.Errorf("after a rebuild: %+v", c)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

package embedded

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// TestAFolderWithoutItsDocumentsIsNotMadeAnEmptyStore: where the rows have gone and something
// else is left, nothing new is made in their place, neither at a start nor by the process that
// had them open.
func TestAFolderWithoutItsDocumentsIsNotMadeAnEmptyStore(t *testing.T) {
	dir := t.TempDir()
	o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	e, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(e.truth()); err != nil {
		t.Fatal(err)
	}
	e.failing(errors.New("the folder is away"))
	time.Sleep(200 * time.Millisecond)
	if e.Health().ReadOnly == nil {
		t.Error("writes are taken again, into another store")
	}
	if err := e.Close(); err != nil {
		t.Logf("closing: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "coord.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err = Open(t.Context(), dir, o)
	if err == nil {
		_ = e.Close()
	}
	if !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
		t.Errorf("a start: %v", err)
	}
	for _, name := range []string{"coord.db", "segments"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if e, err = Open(t.Context(), dir, o); err != nil { // as a first start that was interrupted leaves it
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

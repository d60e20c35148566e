package embedded_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestAFolderOfSomethingElse is not taken: it was hardly meant.
func TestAFolderOfSomethingElse(t *testing.T) {
	dir := t.TempDir()
	letter := filepath.Join(dir, "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet}); !fault.Is(err, fault.Refused) {
		t.Fatalf("a folder with a letter: %v %v", e, err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Fatalf("it left %v %v", names, err)
	}
	if err := os.Remove(letter); err != nil {
		t.Fatal(err)
	}
	e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

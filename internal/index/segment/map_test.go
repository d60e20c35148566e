//go:build unix

package segment_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
)

func TestAMappedFileThatIsCutIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	if err := os.WriteFile(path, sample(t, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(data); err != nil {
			t.Error(err)
		}
	}()
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	err = segment.Guard(func() error {
		dump(s, 1<<20)
		return nil
	})
	if !isDamaged(err) {
		t.Fatalf("%v", err)
	}
	var out bytes.Buffer
	if err := segment.Merge(t.Context(), &out, []segment.View{{Segment: s}}); !isDamaged(err) {
		t.Fatalf("%v", err)
	}
}

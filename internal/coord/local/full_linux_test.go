package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/fault"
)

// smallDisk is a file system of so many bytes, which ends with the test.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("may not mount a small file system: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestAFullDisk: writes fail and say why, reads go on, a small write is not refused
// for a large one beside it, and all recovers when there is space.
func TestAFullDisk(t *testing.T) {
	disk := smallDisk(t, 4<<20)
	dir := filepath.Join(disk, "data")
	s, err := local.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	value := []byte(strings.Repeat("x", 1<<10)) // small: bbolt writes neighbours again
	kept := map[string]int64{}
	for i := 0; err == nil; i++ {
		key := fmt.Sprint("key/", i)
		var revision int64
		if revision, err = s.Create(t.Context(), key, value); err == nil {
			kept[key] = revision
		}
	}
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "no space left") || fault.Next(err) == "" {
		t.Fatalf("full: %v (next: %q)", err, fault.Next(err))
	}
	readsGoOn := func() {
		t.Helper()
		listed, err := s.List(t.Context(), "")
		if err != nil || len(listed) != len(kept) {
			t.Fatalf("%d records are listed (%v), want %d", len(listed), err, len(kept))
		}
		for key, revision := range kept {
			record, err := s.Get(t.Context(), key)
			if err != nil || record.Revision != revision || len(record.Value) != len(value) {
				t.Fatalf("%s: revision %d (%v), want %d", key, record.Revision, err, revision)
			}
		}
	}
	readsGoOn()

	if err := os.Truncate(ballast, 2<<20-100<<10); err != nil { // space for small ones
		t.Fatal(err)
	}
	var running sync.WaitGroup
	small := make([]int64, 8)
	for w := range small {
		running.Go(func() {
			var err error
			if small[w], err = s.Create(t.Context(), fmt.Sprint("small/", w), nil); err != nil {
				t.Errorf("a small write beside large ones: %v", err)
			}
			if _, err := s.Create(t.Context(), fmt.Sprint("large/", w), make([]byte, 1<<20)); !fault.Is(err, fault.Unavailable) {
				t.Errorf("a large write: %v", err)
			}
		})
	}
	running.Wait()
	for w, revision := range small {
		if err := s.Delete(t.Context(), fmt.Sprint("small/", w), revision); err != nil {
			t.Fatal(err)
		}
	}
	readsGoOn()

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if kept["key/new"], err = s.Create(t.Context(), "key/new", value); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	readsGoOn()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = local.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	readsGoOn()
}

// TestAFolderOnAFullDisk: what cannot be made is not there by half.
func TestAFolderOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, 1<<20)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), dir); !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" {
		t.Fatalf("full: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Fatalf("left over: %v, %v", left, err)
	}
	s, err := local.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

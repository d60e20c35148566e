package control

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestPreviewsOfKilledProcessesAreSwept: those of processes that are gone, when they are old, and nothing else.
func TestPreviewsOfKilledProcessesAreSwept(t *testing.T) {
	under := t.TempDir()
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * previewLasts)
	dead, alive := ended.Process.Pid, os.Getpid()
	for name, at := range map[string]time.Time{
		fmt.Sprintf("%s%d-1", previewName, dead):  old,
		fmt.Sprintf("%s%d-2", previewName, dead):  time.Now(),
		fmt.Sprintf("%s%d-3", previewName, alive): old,
		previewName + "1383947632":                old,
		previewName + "x-1":                       old,
		previewName + "-1":                        old,
		fmt.Sprintf("other-%d-1", dead):           old,
	} {
		dir := filepath.Join(under, name)
		if err := os.MkdirAll(filepath.Join(dir, "truth"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	sweepPreviews(under, time.Now())
	var left []string
	all, err := os.ReadDir(under)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		left = append(left, one.Name())
	}
	if swept := fmt.Sprintf("%s%d-1", previewName, dead); len(left) != 6 || slices.Contains(left, swept) {
		t.Errorf("%s should be gone, and nothing else: %q", swept, left)
	}
	t.Setenv("TMPDIR", under)
	if dir, err := previewFolder(); err != nil || filepath.Dir(dir) != under {
		t.Errorf("%s, %v", dir, err)
	}
}

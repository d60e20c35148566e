package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// The folders of previews are named by the process that has made them, so that another one can remove what a process
// that was killed has left. A process of another container, whose number says nothing here, is not as slow as previewLasts.
const (
	previewName  = "reshelve-preview-"
	previewLasts = time.Hour
)

// previewFolder makes a folder for a preview of a target that is not there yet, and removes those of processes that are gone.
func previewFolder() (string, error) {
	sweepPreviews(os.TempDir(), time.Now())
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", previewName, os.Getpid()))
	return dir, fault.Wrap(fault.Unavailable, err)
}

// sweepPreviews removes the folders of previews whose process is gone. What cannot be removed stays: it is in nobody's way.
func sweepPreviews(under string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(under, previewName+"*-*")) // the pattern is a good one
	for _, dir := range found {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), previewName), "-")
		pid, err := strconv.Atoi(number)
		about, e := os.Lstat(dir)
		if err != nil || e != nil || !about.IsDir() || now.Sub(about.ModTime()) < previewLasts || !gone(pid) {
			continue
		}
		_ = os.RemoveAll(dir)
	}
}

// gone tells whether no process has this number; false where that is not known.
func gone(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

package embedded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
)

// format is the line that the file "format" of a data folder begins with. The
// number grows with every change of FORMAT.md that an older version cannot read.
const (
	format  = "reshelve embedded shards, format 4"
	format1 = "reshelve embedded shards, format 1" // no source is packed in it
	format2 = "reshelve embedded shards, format 2" // nothing is staged in it
	format3 = "reshelve embedded shards, format 3" // no manifest of it names documents behind its number
)

// claim makes the folder where there is none, locks it, and checks its format. It
// reports whether the folder is new.
func (e *Engine) claim() (isNew bool, err error) {
	fs := e.options.FS
	if err := e.refuseForeign(); err != nil {
		return false, err
	}
	if err := fs.MkdirAll(e.truth(), 0o700); err != nil {
		return false, fault.WithNext(fault.Wrap(fault.Unavailable, err), "let this user write there, or run as the one whose folder it is; a folder that is served is reached by its URL, too")
	}
	if e.lock, err = pebble.LockDirectory(e.truth(), fs); err != nil {
		if errors.Is(err, os.ErrPermission) {
			return false, fault.WithNext(fault.Wrap(fault.Unavailable, err), "let this user write there, or run as the one whose folder it is; a folder that is served is reached by its URL, too")
		}
		return false, fault.WithNext(fault.New(fault.Conflict, "another process has the folder open: %w", err),
			"stop the other process, or choose another folder")
	}
	if isNew, err = e.checkFormat(); err != nil {
		_ = e.lock.Close()
	}
	return isNew, fault.At(err, "format")
}

// refuseForeign refuses a folder that holds something and is no data folder: it was
// hardly meant.
func (e *Engine) refuseForeign() error {
	names, err := e.options.FS.List(e.dir)
	if err != nil || len(names) == 0 || slices.Contains(names, "format") || slices.Contains(names, filepath.Base(e.truth())) {
		return nil // what cannot be listed cannot be written either
	}
	slices.Sort(names)
	for _, name := range names {
		if name != "lost+found" && name != "ballast" {
			return fault.WithNext(fault.New(fault.Refused, "the folder is no data folder, and holds %q", name), "choose an empty folder, or one that does not exist")
		}
	}
	return nil
}

// checkFormat reads the file "format", or writes it into a folder that is new.
func (e *Engine) checkFormat() (isNew bool, err error) {
	fs, name := e.options.FS, filepath.Join(e.dir, "format")
	found, err := readFile(fs, name)
	switch {
	case err == nil && found == format:
		return false, e.checkTruth()
	case err == nil && (found == format1 || found == format2 || found == format3):
		if err := e.checkTruth(); err != nil {
			return false, err
		}
		return false, fault.Wrap(fault.Unavailable, writeFile(fs, e.dir, name, format+"\n"))
	case err == nil && strings.HasPrefix(found, "reshelve embedded"):
		return false, fault.WithNext(fault.New(fault.Refused, "the folder has the format %q, this version knows %q", found, format),
			"use the version of reshelve that wrote the folder")
	case err == nil:
		return false, fault.WithNext(fault.New(fault.Corrupt, "the file holds no format"), "restore the folder from a backup")
	case !errors.Is(err, os.ErrNotExist):
		return false, fault.Wrap(fault.Unavailable, err)
	}
	if desc, err := pebble.Peek(e.truth(), fs); err != nil || desc.Exists {
		return false, fault.WithNext(fault.New(fault.Corrupt, "the file is missing, but there are data"), "restore the folder from a backup")
	}
	for _, dir := range []string{filepath.Dir(e.dir), e.dir} { // a crash must not take the folder itself away
		if err := syncDir(fs, dir); err != nil {
			return true, fault.Wrap(fault.Unavailable, err)
		}
	}
	return true, fault.Wrap(fault.Unavailable, writeFile(fs, e.dir, name, format+"\n"))
}

// checkTruth refuses a folder from which the documents are gone: opened, it would be an empty
// store under the names of the old one. Where nothing else is there a first start was interrupted.
func (e *Engine) checkTruth() error {
	if desc, err := pebble.Peek(e.truth(), e.options.FS); err != nil || desc.Exists {
		return nil // opening it tells
	}
	names, err := e.options.FS.List(e.dir)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains([]string{"format", filepath.Base(e.truth()), "ballast", "lost+found"}, name) {
			return fault.WithNext(fault.New(fault.Corrupt, "there are no documents in %s, and %q is there", e.truth(), name), "restore the folder from a backup")
		}
	}
	return nil
}

// readFile is the first line of a small file.
func readFile(fs vfs.FS, name string) (string, error) {
	file, err := fs.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 1<<10))
	line, _, _ := strings.Cut(string(data), "\n")
	return line, err
}

// writeFile puts a small file in place at once and durably.
func writeFile(fs vfs.FS, dir, name, text string) error {
	file, err := fs.Create(name+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(text))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := fs.Rename(name+".new", name); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

func syncDir(fs vfs.FS, name string) error {
	dir, err := fs.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// opening gives a failure to open Pebble its kind: what the system does not refuse is
// damage.
func opening(err error) error {
	var errno syscall.Errno
	switch {
	case strings.Contains(err.Error(), "unknown format major version"):
		return fault.WithNext(fault.Wrap(fault.Refused, err), "use the version of reshelve that wrote the folder")
	case errors.As(err, &errno) && errno != syscall.ENOENT:
		return fault.WithNext(fault.Wrap(fault.Unavailable, err), "see to the disk and to the rights on the folder")
	case fault.KindOf(err) == fault.Bug:
		err = fault.Wrap(fault.Corrupt, damage{err})
	}
	return fault.WithNext(err, "restore the folder from a backup")
}

// failure gives an error of Pebble its kind.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case pebble.IsCorruptionError(err):
		return fault.Wrap(fault.Corrupt, damage{err})
	case fault.KindOf(err) != fault.Bug:
		return err
	}
	return fault.Wrap(fault.Unavailable, err)
}

func (e *Engine) failed(err error) error { return fault.At(failure(err), e.dir) }

package embedded

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
)

// leftOut is the folder that keeps logs as they were before something of them was left out.
const leftOut = "left-out"

// checkEnds refuses a folder of which something is missing that was synced, where Pebble would take it for a write
// that was interrupted. What Options.LeaveOut names is left out instead.
func (e *Engine) checkEnds() (n noted, there bool, err error) {
	fs, dir := e.options.FS, e.truth()
	if n, there, err = readNoted(fs, dir); err != nil {
		return n, there, err
	}
	desc, err := pebble.Peek(dir, fs)
	if err != nil || !desc.Exists {
		return n, there, nil // opening it tells
	}
	if number, _, ok := numberOf(filepath.Base(desc.ManifestFilename)); ok {
		bad, err := e.missing(filepath.Base(desc.ManifestFilename), chunks{}, n.manifest.of(number), there)
		if err == nil && bad != nil {
			err = bad.refusal("")
		}
		if err != nil {
			return n, there, err
		}
	}
	newest, err := newestLog(fs, dir)
	if err != nil {
		return n, there, err
	}
	if newest < n.log.number && n.log.bytes > 0 { // a log goes only when there is a newer one
		newest = n.log.number
	}
	if newest == 0 {
		return n, there, nil
	}
	name := fmt.Sprintf("%06d.log", newest)
	bad, err := e.missing(name, chunks{number: uint32(newest)}, n.log.of(newest), there)
	if err != nil || bad == nil {
		return n, there, err
	}
	if e.options.LeaveOut != bad.place() {
		return n, there, bad.refusal(e.dir)
	}
	n.log = extent{newest, bad.at}
	return n, there, e.leaveOut(bad, n)
}

// of is how many bytes of the file with a number were synced, as far as is known.
func (x extent) of(number uint64) int64 {
	if x.number != number {
		return 0
	}
	return x.bytes
}

// newestLog is the highest number of a log; 0: there is none.
func newestLog(fs vfs.FS, dir string) (newest uint64, err error) {
	names, err := fs.List(dir)
	for _, name := range names {
		if number, manifest, ok := numberOf(name); ok && !manifest {
			newest = max(newest, number)
		}
	}
	return newest, err
}

// lost is the end of a file behind which something was synced that is not there as it was.
type lost struct {
	path   string
	chunks chunks
	there  bool  // the file is
	at     int64 // where the first chunk is missing
	synced int64 // up to where chunks were there; 0: it is not known
	noted  bool  // the folder says how much was synced
}

// missing compares the chunks of a file with what was synced of it; nil: nothing is missing. Where nothing was ever
// noted, any chunk behind the end says that something is: a loss of power in the middle of a long write that nobody
// was told of may look the same then, so the refusal claims less.
func (e *Engine) missing(name string, c chunks, synced int64, noted bool) (*lost, error) {
	l := &lost{path: filepath.Join(e.truth(), name), synced: synced, there: true, noted: noted}
	data, err := readWhole(e.options.FS, l.path)
	if errors.Is(err, os.ErrNotExist) {
		l.there, err = false, nil
	}
	if err != nil {
		return nil, err
	}
	c.data = data
	l.chunks, l.at = c, c.tail()
	for _, behind := range c.behind(l.at) {
		if behind.synced > l.at || !noted {
			l.synced = max(l.synced, behind.synced, behind.end)
		}
	}
	if l.synced-l.at < c.header() { // the mark of an end at most
		return nil, nil
	}
	return l, nil
}

func readWhole(fs vfs.FS, name string) ([]byte, error) {
	file, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}

// place is what Options.LeaveOut has to be.
func (l *lost) place() string { return fmt.Sprintf("%s:%d", filepath.Base(l.path), l.at) }

// refusal names what is lost, and how to go on without it where that is possible: dir is the data folder.
func (l *lost) refusal(dir string) error {
	what := fmt.Sprintf("it is damaged at byte %d, and %d bytes from there on were on disk when they were acknowledged", l.at, l.synced-l.at)
	switch {
	case !l.noted:
		what = fmt.Sprintf("it is damaged at byte %d, and intact changes are behind it, up to byte %d; no version that notes what was acknowledged has served the folder", l.at, l.synced)
	case !l.there:
		what = fmt.Sprintf("it is missing, and %d bytes of it were on disk when they were acknowledged", l.synced)
	case l.at >= int64(len(l.chunks.data)):
		what = fmt.Sprintf("it ends at byte %d, and %d bytes more were on disk when they were acknowledged", l.at, l.synced-l.at)
	}
	if dir == "" {
		return fault.WithNext(fault.At(fault.New(fault.Corrupt, "%s: files of documents are missing without them", what), l.path), "restore the folder from a backup")
	}
	groups, rows := rowsIn(l.chunks.behind(l.at))
	return fault.WithNext(fault.At(fault.New(fault.Corrupt, "%s: changes of documents are missing without them", what), l.path),
		"restore the folder from a backup; or give these changes up: with --leave-out %s of reshelve serve the folder %s is opened as it was before them, "+
			"without what was damaged and without the %d documents in %d later groups of changes that can still be read. The log as it is now is kept in %s",
		l.place(), dir, rows, groups, filepath.Join(dir, leftOut))
}

// leaveOut ends a log where it is damaged, and keeps it beside the store as it was. After a kill between its writes it can be
// done again.
func (e *Engine) leaveOut(l *lost, n noted) error {
	fs, kept := e.options.FS, ""
	if err := e.allowed(l); err != nil {
		return err
	}
	if int64(len(l.chunks.data)) > l.at { // else it was ended already
		// Numbers of logs come again when a backup is restored: so the name says what the log holds.
		dir := filepath.Join(e.dir, leftOut)
		kept = filepath.Join(dir, fmt.Sprintf("%s-%.8x", filepath.Base(l.path), sha256.Sum256(l.chunks.data)))
		if err := errors.Join(fs.MkdirAll(dir, 0o700), syncDir(fs, e.dir)); err != nil {
			return err
		}
		if err := writeFile(fs, dir, kept, string(l.chunks.data)); err != nil {
			return err
		}
		if err := writeFile(fs, e.truth(), l.path, string(l.chunks.data[:l.at])); err != nil {
			return err
		}
	}
	e.options.Logger.Warn("store: changes are left out, as ordered", "log", l.path, "from", l.at, "bytes", l.synced-l.at, "kept", kept)
	return writeFile(fs, e.truth(), filepath.Join(e.truth(), endsName), string(n.encode()))
}

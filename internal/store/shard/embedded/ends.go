package embedded

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble reads its newest log, and its manifest, up to the first chunk that is not as it was written, and takes what
// is behind for a write that was interrupted. Whether it was, only who has synced knows: so the store notes, beside
// the files, how many bytes of them were synced. The note is not synced itself, and never wrong: after a kill it is that
// of the last sync, and after a loss of power perhaps that of an earlier one.
type ends struct {
	mu     sync.Mutex
	file   vfs.File // nil: nothing is noted
	now    noted
	failed bool // the last note could not be written
	log    *slog.Logger
}

// noted is the newest log and the newest manifest that something was synced of; number 0: none.
type noted struct{ log, manifest extent }

// extent is how many bytes of a file were synced.
type extent struct {
	number uint64
	bytes  int64
}

// endsName is the name of the file beside those of Pebble.
const endsName = "synced"

func (n noted) encode() []byte {
	line := fmt.Appendf(nil, "log %020d %020d manifest %020d %020d ", n.log.number, n.log.bytes, n.manifest.number, n.manifest.bytes)
	return fmt.Appendf(line, "%08x\n", crc32.ChecksumIEEE(line))
}

// readNoted is what was noted last; there is false for a folder in which nothing ever was.
func readNoted(fs vfs.FS, dir string) (n noted, there bool, err error) {
	line, err := readFile(fs, filepath.Join(dir, endsName))
	if errors.Is(err, os.ErrNotExist) {
		return noted{}, false, nil
	}
	if err != nil {
		return noted{}, true, err
	}
	var sum uint32
	_, err = fmt.Sscanf(line, "log %d %d manifest %d %d %x", &n.log.number, &n.log.bytes, &n.manifest.number, &n.manifest.bytes, &sum)
	if err != nil || string(n.encode()) != line+"\n" {
		return noted{}, true, nil // it was being written: the files say what they can
	}
	return n, true, nil
}

// openEnds goes on with what was noted.
func openEnds(fs vfs.FS, dir string, n noted, there bool, log *slog.Logger) (*ends, error) {
	name := filepath.Join(dir, endsName)
	if !there {
		if err := writeFile(fs, dir, name, string(n.encode())); err != nil {
			return nil, err
		}
	}
	file, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &ends{file: file, now: n, log: log}, nil
}

// close is for when Pebble is closed. Nil is of a store that is open for reading alone.
func (e *ends) close() error {
	if e == nil {
		return nil
	}
	return e.file.Close()
}

// of gives what notes the syncs of a file that is written from its beginning; nil: they are not noted. What was noted of
// a file of the same number, of which a loss of power left nothing, is forgotten.
func (e *ends) of(name string) func(bytes int64) {
	number, manifest, ok := numberOf(filepath.Base(name))
	if e == nil || !ok {
		return nil
	}
	to := &e.now.log
	if manifest {
		to = &e.now.manifest
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if to.number == number {
		to.bytes = 0
	}
	return func(bytes int64) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if number < to.number || number == to.number && bytes <= to.bytes {
			return // a log before it that is closed
		}
		*to = extent{number, bytes}
		_, err := e.file.WriteAt(e.now.encode(), 0) // what was noted before stays true
		if err != nil && !e.failed {
			e.log.Warn("store: how much of the log is on disk is not noted: damage at its end may be taken for an interrupted write", "cause", err)
		}
		e.failed = err != nil
	}
}

// numberOf is the number of a log or a manifest.
func numberOf(base string) (number uint64, manifest, ok bool) {
	digits, isLog := strings.CutSuffix(base, ".log")
	if !isLog {
		if digits, manifest = strings.CutPrefix(base, "MANIFEST-"); !manifest {
			return 0, false, false
		}
	}
	if _, err := fmt.Sscanf(digits, "%d", &number); err != nil || fmt.Sprintf("%06d", number) != digits {
		return 0, false, false
	}
	return number, manifest, true
}

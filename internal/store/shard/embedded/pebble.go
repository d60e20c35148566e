package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// store is one opened Pebble with the seal of its files.
type store struct {
	*pebble.DB
	seal     *seal
	cache    *pebble.Cache // of blocks; Pebble counts its tables of recent writes in it too
	readOnly bool
}

// openStore opens Pebble for reading and writing, or for reading alone.
func (e *Engine) openStore(readOnly bool) (*store, error) {
	inner := vfs.OnDiskFull(e.options.FS, e.space.drop)
	s := &store{readOnly: readOnly, cache: pebble.NewCache(e.options.Memory), seal: &seal{FS: inner, failed: e.failing, done: make(chan struct{})}}
	p := e.options.pebble()
	p.FS, p.Lock, p.ReadOnly, p.Cache = s.seal, e.lock, readOnly, s.cache
	p.ErrorIfNotExists = e.begun
	l := &logger{to: e.options.Logger, seal: s.seal}
	p.Logger = l
	merges := newScheduler()
	p.Experimental.CompactionScheduler = merges
	p.EventListener = &pebble.EventListener{
		BackgroundError: func(err error) { merges.failed(); l.behind(err) },
		DataCorruption:  func(info pebble.DataCorruptionInfo) { l.damaged(info.Path, info.Details) },
	}
	s.seal.opening.Store(true)
	db, err := e.openPebble(p, s)
	if err != nil {
		s.cache.Unref()
		return nil, errors.Join(err, s.seal.ends.close())
	}
	s.DB = db
	s.seal.opening.Store(false)
	merges.begin()
	err = s.seal.broken()
	if err == nil {
		err = s.complete(e.truth())
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openPebble opens it once nothing that was synced is missing at the ends of its files.
func (e *Engine) openPebble(p *pebble.Options, s *store) (*pebble.DB, error) {
	n, there, err := e.checkEnds()
	if err == nil && !s.readOnly {
		s.seal.ends, err = openEnds(e.options.FS, e.truth(), n, there, e.options.Logger)
	}
	if err != nil {
		return nil, err
	}
	return pebble.Open(e.truth(), p)
}

// complete checks that there are as many files of values as there should be, which
// Pebble does for the others alone.
func (s *store) complete(dir string) error {
	names, err := s.seal.List(dir)
	if err != nil {
		return err
	}
	there := uint64(0)
	for _, name := range names {
		if strings.HasSuffix(name, ".blob") {
			there++
		}
	}
	if needed := s.Metrics().BlobFiles.LiveCount; there < needed {
		return fault.New(fault.Corrupt, "%d of %d files of values are missing", needed-there, needed)
	}
	return nil
}

// pebble are the options of Pebble.
func (o Options) pebble() *pebble.Options {
	p := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(o.memtable()),
		L0CompactionThreshold: 8,
		Comparer:              comparer,
		// Pebble's own stalls cannot be cancelled, and hold its locks when a disk is
		// full; see pressed.
		MemTableStopWritesThreshold: 1 << 20,
		L0StopWritesThreshold:       1 << 20,
	}
	// Sources lie in files of their own: merging rows of 1 KB would take three
	// times the CPU.
	p.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{Enabled: true, MinimumSize: 128, MaxBlobReferenceDepth: 200,
			RewriteMinimumAge: time.Minute, TargetGarbageRatio: 0.3}
	}
	// A file's size counts the sources that it refers to, and every file is synced.
	p.TargetFileSizes[0], p.LBaseMaxBytes = 16<<20, 256<<20
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].BlockSize = 4 << 10
		p.Levels[i].IndexBlockSize = 64 << 10
	}
	return p
}

// apply applies a batch that is synced later. That Pebble panics here should be
// impossible since the seal; if it does, it holds its lock for good, and only
// reading goes on.
func (s *store) apply(b *pebble.Batch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.WithNext(fault.New(fault.Unavailable, "writing failed: %v", r), "start the process again")
			s.seal.shut(err)
		}
	}()
	if s.readOnly {
		return &shard.ReadOnly{Cause: fault.New(fault.Unavailable, "the store is open for reading alone")}
	}
	return s.ApplyNoSyncWait(b, pebble.Sync)
}

// await waits for the sync of an applied batch and lets go of it.
func (s *store) await(b *pebble.Batch) error {
	err := errors.Join(b.SyncWait(), s.seal.broken())
	return errors.Join(err, b.Close())
}

// flush begins to write out what is only in the log. The channel is closed when that
// is done; or never, when the store is sealed.
func (s *store) flush() <-chan struct{} {
	done, err := s.AsyncFlush()
	if err != nil { // it is open for reading alone, or failing: there is nothing to wait for
		none := make(chan struct{})
		close(none)
		return none
	}
	return done
}

// shrink lets go of cached blocks until they take no more than keep.
func (s *store) shrink(size, keep int64) {
	giveBack := s.cache.Reserve(int(max(size-keep, 0)))
	giveBack()
}

// close ends Pebble, whatever state it is in.
func (s *store) close() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("closing: %v", r)
		}
	}()
	defer s.cache.Unref()
	defer func() { _ = s.seal.ends.close() }()
	return s.DB.Close() //nolint:staticcheck // close and Close are two things
}

// Thresholds of pressed: tables of recent writes that are not written out yet, and
// overlapping files that are not merged yet.
const (
	maxTables    = 3
	maxSublevels = 24
)

// size is how many bytes the files take. Pebble's own sum loses count of files of
// values that were written again.
func (s *store) size() int64 {
	m := s.Metrics()
	size := m.WAL.PhysicalSize + m.WAL.ObsoletePhysicalSize +
		m.Table.ObsoleteSize + m.Table.ZombieSize +
		m.BlobFiles.LiveSize + m.BlobFiles.ObsoleteSize + m.BlobFiles.ZombieSize
	for i := range m.Levels {
		size += uint64(m.Levels[i].TablesSize)
	}
	return int64(size)
}

// pressed reports whether writes come faster than they are written out and merged.
func (s *store) pressed() bool {
	m := s.Metrics()
	return m.MemTable.Count > maxTables || m.Levels[0].Sublevels > maxSublevels
}

// logger passes on what Pebble says. It does not end the process: what Pebble
// thinks fatal seals the folder, which is opened again. A disk that fails makes Pebble
// say the same thousands of times: of one format, one line a second is passed on, and
// behind the seal, of which the engine has told why, one altogether.
type logger struct {
	to   *slog.Logger
	seal *seal

	mu     sync.Mutex
	passed map[string]time.Time // by format, of which Pebble has a fixed number, and by damage
}

// damagedEvery is how long lies at least between two lines of the log about one damage.
const damagedEvery = 10 * time.Minute

// damaged tells of damage that was met in a file. Its details have a trace of Pebble's functions, and
// what surrounds it: keys, which are no text.
func (l *logger) damaged(path string, details error) {
	cause := damage{details}.Error()
	if l.passes(path+cause, damagedEvery) {
		l.to.Error("store: a file is damaged", "file", path, "cause", cause, "next", "restore the data folder from a backup")
	}
}

// behind tells that Pebble could not flush or merge. It tries that again and again.
func (l *logger) behind(err error) {
	switch cause := (damage{err}).Error(); {
	case !pebble.IsCorruptionError(err):
		l.Errorf("work behind the scenes failed: %s", cause)
	case l.passes("behind "+cause, damagedEvery):
		l.to.Error("store: files are not merged since one is damaged", "cause", cause)
	}
}

// passes reports whether a line may be passed on, so long after the one before it.
func (l *logger) passes(line string, every time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	passed, again := l.passed[line]
	if again && (time.Since(passed) < every || l.seal.broken() != nil) {
		return false
	}
	if l.passed == nil {
		l.passed = map[string]time.Time{}
	}
	l.passed[line] = time.Now()
	return true
}

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) {
	if l.passes(format, time.Second) {
		l.to.Error("store: " + printable(strings.TrimSpace(fmt.Sprintf(format, args...))))
	}
}

func (l *logger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	l.seal.shut(fmt.Errorf(format, args...))
}

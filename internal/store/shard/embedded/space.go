package embedded

import (
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// lookEvery and lookBytes are how long and how much is written at most between two
// looks at the free space; on a small disk a quarter of the low-water mark is.
const (
	lookEvery = time.Second
	lookBytes = 16 << 20
)

// space watches the free space of a data folder. Below the low-water mark it
// refuses, until there is a little more than the mark: it looks again when it is
// asked, at most each second.
type space struct {
	fs       vfs.FS // without anything on top
	dir      string
	options  Options
	used     func() int64 // bytes that the engine takes
	lowWater int64        // 0: unknown, so nothing is refused
	written  atomic.Int64 // bytes since the last look
	due      atomic.Int64 // when to look next, in nanoseconds of time.Time
	atMost   atomic.Int64 // bytes to write until the next look

	mu     sync.Mutex
	health shard.Health // of the last look
}

// mark is the low-water mark for a disk of that size: by default as much as the
// recent writes take twice, in the log and in the files that they become, and a
// merge of files beside; at most a twentieth of the disk where that is more, and
// never more than 256 MB.
func (o Options) mark(total int64) int64 {
	if o.LowWater > 0 {
		return o.LowWater
	}
	return min(256<<20, max(total/20, 6*o.memtable()))
}

// look is the health of now, or of the last look when that is recent enough.
func (s *space) look() shard.Health {
	now := s.options.Now().UnixNano()
	left := s.due.Load() - now
	if left > 0 && left <= int64(lookEvery) && s.written.Load() < s.atMost.Load() { // more is left when the clock was set back
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.health
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due.Store(now + int64(lookEvery))
	s.written.Store(0)
	s.measure()
	return s.health
}

// roomToOpen tells whether what is in the log can be written out as files, twice over,
// on a disk that is nearly full. The ballast is given back where that is needed.
func (s *space) roomToOpen() bool {
	need := 4 * s.options.memtable()
	if s.look().Disk.Free < need {
		s.drop()
	}
	return s.look().Disk.Free >= need
}

// soon makes the next look a fresh one.
func (s *space) soon() { s.due.Store(0) }

// measure asks the file system. The mutex is held.
func (s *space) measure() {
	usage, err := s.fs.GetDiskUsage(s.dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		s.health = shard.Health{Disk: shard.Disk{Used: s.used()}}
		return
	}
	if err != nil {
		s.health.ReadOnly = fault.At(fault.Wrap(fault.Unavailable, err), s.dir)
		return
	}
	free := int64(min(usage.AvailBytes, math.MaxInt64))
	s.lowWater = s.options.mark(int64(min(usage.TotalBytes, math.MaxInt64)))
	s.atMost.Store(min(lookBytes, s.lowWater/4))
	need := s.lowWater
	if s.health.ReadOnly != nil {
		need += need / 8 // not to and fro
	}
	s.health = shard.Health{Disk: shard.Disk{Used: s.used(), Free: free, LowWater: s.lowWater, Total: int64(min(usage.TotalBytes, math.MaxInt64))}}
	if free < need {
		s.health.ReadOnly = fault.At(fault.WithNext(
			fault.New(fault.Unavailable, "the disk is nearly full: %d bytes are free, writes need %d, %d are missing", free, need, need-free),
			"free space on the disk of the data folder; writes are taken again within a second"), s.dir)
		return
	}
	s.keepBallast(free)
}

// ballast is a file that takes space in order to give it back when everything else
// has gone.
func (s *space) ballast() string { return filepath.Join(s.dir, "ballast") }

// keepBallast makes the ballast where there is none and room enough. That it cannot
// be made is no failure: it is tried again.
func (s *space) keepBallast(free int64) {
	size := s.options.Ballast
	if size <= 0 || free < s.lowWater+2*size {
		return
	}
	if info, err := s.fs.Stat(s.ballast()); err == nil && info.Size() >= size {
		return
	}
	file, err := s.fs.OpenReadWrite(s.ballast(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return
	}
	if err := errors.Join(allocate(file, size), file.Close()); err != nil {
		_ = s.fs.Remove(s.ballast())
	}
}

// allocate takes space for a file: at once where the system can, and else by
// writing what no disk makes smaller.
func allocate(file vfs.File, size int64) error {
	chunk := make([]byte, 64<<10)
	if runtime.GOOS == "linux" && file.Preallocate(0, size) == nil {
		_, err := file.WriteAt(chunk[:1], size-1)
		return err
	}
	for i, x := 0, uint32(1); i < len(chunk); i++ {
		x = x*1664525 + 1013904223
		chunk[i] = byte(x >> 24)
	}
	for done := int64(0); done < size; done += int64(len(chunk)) {
		if _, err := file.WriteAt(chunk[:min(int64(len(chunk)), size-done)], done); err != nil {
			return err
		}
	}
	return nil
}

// drop gives the ballast back. It is called by the file system itself, when it meets
// a full disk, and so uses the one below.
func (s *space) drop() {
	_ = s.fs.Remove(s.ballast())
	s.soon()
}

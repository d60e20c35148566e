package embedded

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
)

// seal is the file system below one opened Pebble. Pebble 2.1 panics, holding its
// locks, when its log cannot be written or rotated, when a folder cannot be synced,
// and when a file of values cannot be ended; and it goes on with a manifest that may
// hold more than it knows. So the first failure seals the folder: from then on
// nothing reaches the disk, which stays as it was at that moment.
//
// Pebble is not told. Its log takes everything and keeps nothing: whoever
// acknowledges a write asks broken after its sync. The same holds for all files but
// the manifest, whose writes fail, so that nothing is ever installed that is not on
// disk, and what Pebble reads is the files of before and its tables in memory. The
// engine then opens the folder again. While Pebble is being opened the manifest is
// treated as the others are, because Pebble would repeat a failing flush for ever;
// what was opened over a seal is thrown away.
type seal struct {
	vfs.FS
	failed  func(error)
	ends    *ends // notes what is synced; nil: nothing is
	opening atomic.Bool

	cause atomic.Pointer[error]
	once  sync.Once
	done  chan struct{} // closed when it is shut
}

// broken is why the folder is sealed; nil while it is not.
func (s *seal) broken() error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	return nil
}

// shut seals the folder. Only the first cause counts.
func (s *seal) shut(cause error) {
	s.once.Do(func() {
		s.cause.Store(&cause)
		close(s.done)
		s.failed(cause)
	})
}

// do changes something on disk, and says so behind the seal.
func (s *seal) do(change func() error) {
	if s.broken() == nil {
		if err := change(); err != nil {
			s.shut(err)
		}
	}
}

// Remove is allowed to fail: what was not removed is found again.
func (s *seal) Remove(name string) error {
	if s.broken() != nil {
		return nil
	}
	return s.FS.Remove(name)
}

func (s *seal) RemoveAll(name string) error {
	if s.broken() != nil {
		return nil
	}
	return s.FS.RemoveAll(name)
}

func (s *seal) Rename(from, to string) error {
	s.do(func() error { return s.FS.Rename(from, to) })
	return nil
}

func (s *seal) Link(from, to string) error {
	s.do(func() error { return s.FS.Link(from, to) })
	return nil
}

func (s *seal) MkdirAll(dir string, perm os.FileMode) error {
	s.do(func() error { return s.FS.MkdirAll(dir, perm) })
	return nil
}

// file opens a file for writing; behind the seal it is one that nobody finds again.
func (s *seal) file(name string, open func() (vfs.File, error)) (vfs.File, error) {
	var inner vfs.File
	s.do(func() (err error) {
		inner, err = open()
		return err
	})
	if inner == nil {
		inner = vfs.NewMemFile(nil)
	}
	manifest := strings.HasPrefix(filepath.Base(name), "MANIFEST-")
	return &sealedFile{File: inner, seal: s, manifest: manifest, note: s.ends.of(name)}, nil
}

// Create syncs the folder before it makes a marker: that is what names the newest
// manifest, and must not outlive a crash that takes the manifest's own name away.
func (s *seal) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file(name, func() (vfs.File, error) {
		if dir, base := filepath.Split(name); strings.HasPrefix(base, "marker.") {
			if err := syncDir(s.FS, filepath.Clean(dir)); err != nil {
				return nil, err
			}
		}
		return s.FS.Create(name, category)
	})
}

func (s *seal) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file(to, func() (vfs.File, error) { return s.FS.ReuseForWrite(from, to, category) })
}

func (s *seal) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return s.file(name, func() (vfs.File, error) { return s.FS.OpenReadWrite(name, category, options...) })
}

// Open checks that a file of values is there and how it ends, before Pebble does,
// which panics when that is wrong.
func (s *seal) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	file, err := s.FS.Open(name, options...)
	if !strings.HasSuffix(name, ".blob") {
		return file, err
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fault.At(fault.New(fault.Corrupt, "it is missing"), name)
	}
	if err != nil {
		return nil, err
	}
	if err := checkFooter(file); err != nil {
		return nil, errors.Join(fault.At(err, name), file.Close())
	}
	return file, nil
}

// checkFooter checks the last 38 bytes of a file of values: the first 4 are the
// checksum of the others, as Pebble's package crc makes it: CRC-32C, rotated by 15,
// plus a constant.
func checkFooter(file vfs.File) error {
	const size = 38
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var footer [size]byte
	if info.Size() < size {
		return fault.New(fault.Corrupt, "it has %d bytes, fewer than how it ends", info.Size())
	}
	if _, err := file.ReadAt(footer[:], info.Size()-size); err != nil {
		return err
	}
	sum := crc32.Checksum(footer[4:], crc32.MakeTable(crc32.Castagnoli))
	if bits.RotateLeft32(sum, -15)+0xa282ead8 != binary.LittleEndian.Uint32(footer[:]) {
		return fault.New(fault.Corrupt, "its last %d bytes do not have their checksum", size)
	}
	return nil
}

// OpenDir is for syncing.
func (s *seal) OpenDir(name string) (vfs.File, error) {
	dir, err := s.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &sealedFile{File: dir, seal: s}, nil
}

func (s *seal) Unwrap() vfs.FS { return s.FS }

// sealedFile is a file that is written, or a folder that is synced.
type sealedFile struct {
	vfs.File
	seal     *seal
	manifest bool
	note     func(bytes int64) // that so many were synced; nil: nobody asks
	written  atomic.Int64      // bytes, from the beginning on
}

// refuseEvery is how long a refused write of the manifest takes: Pebble repeats the
// flush that needs it at once.
var refuseEvery = 200 * time.Millisecond // tests have less patience

// do is seal.do for an open file; behind the seal it fails for the manifest.
func (f *sealedFile) do(write func() error) error {
	f.seal.do(write)
	if cause := f.seal.broken(); cause != nil && f.manifest && !f.seal.opening.Load() {
		time.Sleep(refuseEvery)
		return fault.New(fault.Unavailable, "nothing is written after a failure: %w", cause)
	}
	return nil
}

func (f *sealedFile) Write(data []byte) (n int, err error) {
	if err := f.do(func() (err error) { n, err = f.File.Write(data); return err }); err != nil {
		return n, err
	}
	f.written.Add(int64(n))
	return len(data), nil
}

func (f *sealedFile) WriteAt(data []byte, offset int64) (n int, err error) {
	if err := f.do(func() (err error) { n, err = f.File.WriteAt(data, offset); return err }); err != nil {
		return n, err
	}
	return len(data), nil
}

func (f *sealedFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *sealedFile) SyncData() error { return f.sync(f.File.SyncData) }

// sync notes what was synced before anybody is told of it.
func (f *sealedFile) sync(sync func() error) error {
	written := f.written.Load()
	err := f.do(sync)
	if err == nil && f.note != nil && f.seal.broken() == nil {
		f.note(written)
	}
	return err
}

func (f *sealedFile) SyncTo(length int64) (full bool, err error) {
	err = f.do(func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, err
}

func (f *sealedFile) Preallocate(offset, length int64) error {
	return f.do(func() error { return f.File.Preallocate(offset, length) })
}

// Close always closes.
func (f *sealedFile) Close() error {
	if err := f.File.Close(); err != nil {
		f.seal.shut(err)
	}
	return nil
}

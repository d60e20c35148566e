package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/fault"
)

// seal is the file system below one opened Pebble. Pebble 2.1 holds its locks and
// panics when its log cannot be written or rotated, and goes on with a manifest that
// may hold more than it knows when that cannot be written. So a first failure there
// seals the folder: from then on nothing reaches the disk. The log takes everything
// and keeps nothing, so that nobody panics; whoever acknowledges a write asks broken
// after its sync. All else fails. What is on disk stays as it was at that moment:
// what the log holds, and no more. The engine then opens it again.
//
// While Pebble is being opened all files are treated as the log is, because it would
// repeat a failing flush for ever; what was opened over a seal is thrown away.
type seal struct {
	vfs.FS
	log     string // the folder of the log
	failed  func(error)
	opening atomic.Bool

	cause atomic.Pointer[error]
	once  sync.Once
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
		s.failed(cause)
	})
}

// mute reports whether failures on a file are kept from Pebble.
func (s *seal) mute(name string) bool {
	return s.opening.Load() || s.ofLog(name)
}

func (s *seal) ofLog(name string) bool {
	return name == s.log || strings.HasPrefix(name, s.log+string(filepath.Separator))
}

// refuse fails an operation behind the seal. Pebble repeats flushes and compactions
// at once when they fail, so it is slowed down.
func (s *seal) refuse() error {
	cause := s.broken()
	if cause == nil {
		return nil
	}
	time.Sleep(20 * time.Millisecond)
	return fault.New(fault.Unavailable, "sealed after a failure: %w", cause)
}

// change does something to names: with the log it never fails.
func (s *seal) change(name string, do func() error) error {
	return s.do(s.mute(name), do)
}

// do writes, or only says so.
func (s *seal) do(mute bool, do func() error) error {
	if !mute {
		if err := s.refuse(); err != nil {
			return err
		}
		return do()
	}
	if s.broken() == nil {
		if err := do(); err != nil {
			s.shut(err)
		}
	}
	return nil
}

func (s *seal) Remove(name string) error {
	return s.change(name, func() error { return s.FS.Remove(name) })
}

func (s *seal) RemoveAll(name string) error {
	return s.change(name, func() error { return s.FS.RemoveAll(name) })
}

func (s *seal) Rename(from, to string) error {
	return s.change(to, func() error { return s.FS.Rename(from, to) })
}

func (s *seal) Link(from, to string) error {
	return s.change(to, func() error { return s.FS.Link(from, to) })
}

func (s *seal) MkdirAll(dir string, perm os.FileMode) error {
	return s.change(dir, func() error { return s.FS.MkdirAll(dir, perm) })
}

// file opens a file for writing.
func (s *seal) file(name string, open func() (vfs.File, error)) (vfs.File, error) {
	var inner vfs.File
	err := s.change(name, func() (err error) {
		inner, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	if inner == nil {
		inner = vfs.NewMemFile(nil) // it is mute, and behind the seal
	}
	return &sealedFile{File: inner, seal: s, log: s.ofLog(name)}, nil
}

func (s *seal) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file(name, func() (vfs.File, error) { return s.FS.Create(name, category) })
}

func (s *seal) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file(to, func() (vfs.File, error) { return s.FS.ReuseForWrite(from, to, category) })
}

func (s *seal) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return s.file(name, func() (vfs.File, error) { return s.FS.OpenReadWrite(name, category, options...) })
}

// OpenDir is for syncing; the folder of the log is opened before there can be a seal.
func (s *seal) OpenDir(name string) (vfs.File, error) {
	dir, err := s.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &sealedFile{File: dir, seal: s, log: s.ofLog(name)}, nil
}

func (s *seal) Unwrap() vfs.FS { return s.FS }

// sealedFile is a file that is written, or a folder that is synced.
type sealedFile struct {
	vfs.File
	seal *seal
	log  bool
}

// do is seal.change for what is done to an open file.
func (f *sealedFile) do(write func() error) error {
	return f.seal.do(f.log || f.seal.opening.Load(), write)
}

func (f *sealedFile) Write(data []byte) (n int, err error) {
	err = f.do(func() (err error) {
		n, err = f.File.Write(data)
		return err
	})
	if err == nil {
		n = len(data)
	}
	return n, err
}

func (f *sealedFile) WriteAt(data []byte, offset int64) (n int, err error) {
	err = f.do(func() (err error) {
		n, err = f.File.WriteAt(data, offset)
		return err
	})
	if err == nil {
		n = len(data)
	}
	return n, err
}

func (f *sealedFile) Sync() error     { return f.do(f.File.Sync) }
func (f *sealedFile) SyncData() error { return f.do(f.File.SyncData) }

func (f *sealedFile) SyncTo(length int64) (full bool, err error) {
	err = f.do(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

func (f *sealedFile) Preallocate(offset, length int64) error {
	return f.do(func() error { return f.File.Preallocate(offset, length) })
}

// Close always closes; that the log's content came that far was the sync's business.
func (f *sealedFile) Close() error {
	err := f.File.Close()
	if f.log && err != nil {
		f.seal.shut(err)
		return nil
	}
	return err
}

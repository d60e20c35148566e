package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// file is a segment and the bytes that it lies in. It is shared by all who show
// something of it, and let go of by the last.
type file struct {
	*segment.Segment
	name  string // within the folder of its index; "": it is in memory
	path  string // of the file with that name
	users atomic.Int64
	free  func() // lets go of the bytes
}

func (f *file) retain() { f.users.Add(1) }

// release ends one use; with the last one the bytes are not to be read any more.
func (f *file) release() {
	if f.users.Add(-1) == 0 {
		f.free()
	}
}

// files are the segment files of a data folder: DIR/segments/INDEX/NAME.seg. They are
// written once, and removed when no manifest names them and nobody reads them.
type files struct {
	fs     vfs.FS
	dir    string
	onDisk atomic.Int64 // bytes of segment files

	naming sync.RWMutex // held for writing while it is found out what no manifest names

	left func(index uint32) // called when the last user lets go of a file that need not be there; without locks of files

	mu      sync.Mutex
	open    map[string]*file // by path
	kept    map[string]bool  // paths that are open and need not be there: no manifest has named them yet, or a sweep has found none
	writing map[string]bool  // paths that create is about to open
	made    map[uint32]bool  // folders of indices that are there, durably
	sizes   map[uint32]int64 // bytes of segment files, by index
}

func newFiles(fs vfs.FS, dir string, left func(index uint32)) *files {
	return &files{fs: fs, dir: dir, left: left, open: map[string]*file{}, kept: map[string]bool{}, writing: map[string]bool{}, made: map[uint32]bool{}, sizes: map[uint32]int64{}}
}

func (fs *files) folder(index uint32) string { return filepath.Join(fs.dir, fmt.Sprint(index)) }

func (fs *files) path(index uint32, name string) string {
	return filepath.Join(fs.folder(index), name)
}

const segmentSuffix = ".seg"

// inMemory is a segment whose bytes are in memory. It has one user.
func inMemory(data []byte) (*file, error) {
	if cap(data)-len(data) > len(data)/8 { // it stays for long, and all that it lies in
		data = bytes.Clone(data)
	}
	opened, err := segment.Open(data)
	if err != nil {
		return nil, err
	}
	f := &file{Segment: opened, free: func() {}}
	f.retain()
	return f, nil
}

// get is a file with one more user. What is not as it was written, or not there, is
// fault.Corrupt.
func (fs *files) get(index uint32, name string) (*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	path := fs.path(index, name)
	if f := fs.open[path]; f != nil {
		f.retain() // it is taken out by its last user under the mutex
		return f, nil
	}
	data, unmap, err := fs.load(path)
	if err != nil {
		return nil, fault.At(err, path)
	}
	opened, err := segment.Open(data)
	if err != nil {
		unmap()
		return nil, fault.At(err, path)
	}
	f := &file{Segment: opened, name: name, path: path}
	f.free = func() {
		if fs.close(path, f, unmap) {
			fs.left(index)
		}
	}
	f.retain()
	fs.open[path] = f
	return f, nil
}

// close lets go of a file without users. It reports whether the file need not be there.
func (fs *files) close(path string, f *file, unmap func()) (kept bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.users.Load() > 0 || fs.open[path] != f { // somebody came between
		return false
	}
	delete(fs.open, path)
	unmap()
	kept = fs.kept[path]
	delete(fs.kept, path)
	return kept
}

func (fs *files) load(path string) (data []byte, unmap func(), err error) {
	f, err := fs.fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, fault.New(fault.Corrupt, "it is missing")
	}
	if err != nil {
		return nil, nil, fault.Wrap(fault.Unavailable, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		data, unmap, err = mapFile(f, int(info.Size()))
	}
	return data, unmap, fault.Wrap(fault.Unavailable, err)
}

// create writes a file under a name that no other has, syncs it, and opens it. It has
// one user. Nothing is left of one that fails, nor of one that no manifest names before its last
// user lets go of it.
func (fs *files) create(index uint32, write func(io.Writer) error) (*file, error) {
	if err := fs.mkdir(index); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%016x%s", rand.Uint64(), segmentSuffix)
	path := fs.path(index, name)
	defer fs.begin(path)()
	err := fs.write(path, write)
	if err == nil {
		err = syncDir(fs.fs, fs.folder(index))
	}
	var f *file
	if err == nil {
		f, err = fs.get(index, name)
	}
	if err != nil {
		_ = fs.fs.Remove(path) // or it is removed when the folder is opened
		return nil, fault.At(err, path)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.count(index, int64(f.Bytes()))
	fs.kept[path] = true
	return f, nil
}

// named notes that a manifest names files.
func (fs *files) named(index uint32, entries []listed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, e := range entries {
		delete(fs.kept, fs.path(index, e.name))
	}
}

// begin keeps a file that is being written.
func (fs *files) begin(path string) (done func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.writing[path] = true
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		delete(fs.writing, path)
		if fs.open[path] == nil {
			delete(fs.kept, path) // it was not made
		}
	}
}

// mkdir makes the folder of an index, durably: one that is there may be of somebody who
// failed to sync it.
func (fs *files) mkdir(index uint32) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	dir := fs.folder(index)
	if fs.made[index] {
		return nil
	}
	if err := fs.fs.MkdirAll(dir, 0o700); err != nil {
		return fault.At(fault.Wrap(fault.Unavailable, err), dir)
	}
	for _, parent := range []string{filepath.Dir(fs.dir), fs.dir} {
		if err := syncDir(fs.fs, parent); err != nil {
			return fault.At(fault.Wrap(fault.Unavailable, err), parent)
		}
	}
	fs.made[index] = true
	return nil
}

// syncEvery is how many bytes of a segment are written before the system is told to put
// them on disk, so that the sync at the end holds nobody up.
const syncEvery = 1 << 20

func (fs *files) write(path string, write func(io.Writer) error) error {
	f, err := fs.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err)
	}
	f = vfs.NewSyncingFile(f, vfs.SyncingFileOptions{BytesPerSync: syncEvery})
	to := bufio.NewWriterSize(f, 128<<10)
	if err = write(to); err == nil {
		err = errors.Join(to.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil && fault.KindOf(err) == fault.Bug {
		err = fault.Wrap(fault.Unavailable, err)
	}
	return err
}

// list gives the indices that have a folder, and the names of the files in it.
func (fs *files) list() (map[uint32][]string, error) {
	dirs, err := fs.fs.List(fs.dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	found := map[uint32][]string{}
	for _, dir := range dirs {
		var index uint32
		if _, err := fmt.Sscan(dir, &index); err != nil || fmt.Sprint(index) != dir {
			continue // somebody else's
		}
		names, err := fs.fs.List(fs.folder(index))
		if err != nil {
			return nil, err
		}
		found[index] = names
	}
	return found, nil
}

// measure counts the bytes of the files that were listed and are there.
func (fs *files) measure(found map[uint32][]string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for index, names := range found {
		for _, name := range names {
			if info, err := fs.fs.Stat(fs.path(index, name)); err == nil {
				fs.count(index, info.Size())
			}
		}
	}
}

// sweep removes the segment files of an index that are not named and that nobody reads.
// No manifest is written meanwhile.
func (fs *files) sweep(index uint32, named func() (map[string]bool, error)) error {
	names, err := fs.fs.List(fs.folder(index))
	if err != nil || len(names) == 0 {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	needed, err := named()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, segmentSuffix) && !needed[name] {
			fs.remove(index, fs.path(index, name))
		}
	}
	return nil
}

func (fs *files) remove(index uint32, path string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.open[path] != nil || fs.writing[path] {
		fs.kept[path] = true // its last user, or create, sees to it
		return
	}
	if info, err := fs.fs.Stat(path); err == nil && fs.fs.Remove(path) == nil {
		fs.count(index, -info.Size())
	}
}

// drop removes all files of an index, of which nobody reads any.
func (fs *files) drop(index uint32) error {
	if err := fs.sweep(index, func() (map[string]bool, error) { return nil, nil }); err != nil {
		return err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.made, index)
	fs.count(index, -fs.sizes[index]) // those that somebody still reads go, too
	delete(fs.sizes, index)
	return fs.fs.RemoveAll(fs.folder(index))
}

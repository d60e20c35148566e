// Package folder reads a repository in a folder of a mounted file system.
//
// Invariants
//
//  1. Nothing outside the folder is read: the operating system resolves each
//     key beneath the opened folder (os.Root), so neither ".." nor a symbolic
//     link leads out of it. The folder itself may be a symbolic link, but where the
//     location says within which other folder it is: then no link leads out of that.
//  2. Only regular files are blobs. A directory is none; a pipe or a device,
//     which could block for ever, is refused.
//
// Absent on purpose: read-ahead and retries. The kernel does the first, and a
// failing disk does not get better by asking again.
package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Open opens the folder at the location's path. fault.NotFound when there is
// none, fault.Refused when it is no folder. It is a blob.Opener.
func Open(_ context.Context, location blob.Location) (blob.Bucket, error) {
	stat, openRoot, below := os.Stat, os.OpenRoot, location.Prefix
	if location.Within != "" {
		outer, err := os.OpenRoot(location.Within)
		if err != nil {
			return nil, fault.At(failure(err), location.String())
		}
		defer outer.Close()
		if below, err = filepath.Rel(location.Within, location.Prefix); err != nil {
			return nil, fault.At(fault.New(fault.Refused, "it is not below %s", location.Within), location.String())
		}
		stat, openRoot = outer.Stat, outer.OpenRoot
	}
	info, err := stat(below)
	if err != nil {
		err := fault.WithNext(failure(err), "name the folder as this machine sees it, or a store's URL: see reshelve help repositories")
		return nil, fault.At(err, location.String())
	}
	if !info.IsDir() {
		return nil, fault.At(fault.WithNext(fault.New(fault.Refused, "is not a folder"), "name the folder that it lies in"), location.String())
	}
	root, err := openRoot(below)
	if err != nil {
		return nil, fault.At(failure(err), location.String())
	}
	return &bucket{root, location}, nil
}

type bucket struct {
	root     *os.Root
	location blob.Location
}

// Local says that the kernel hides the latency.
func (b *bucket) Local() {}

func (b *bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	file, _, err := b.find(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		file.Close()
		return nil, b.at(key, failure(err))
	}
	if length < 0 {
		length = 1<<63 - 1
	}
	return &stream{file, length, b.place(key)}, nil
}

func (b *bucket) Size(ctx context.Context, key string) (int64, error) {
	file, size, err := b.find(ctx, key)
	if err != nil {
		return 0, err
	}
	return size, file.Close()
}

// find opens a regular file. O_NONBLOCK keeps the opening of a pipe from
// waiting for its writer; for regular files it means nothing.
func (b *bucket) find(ctx context.Context, key string) (*os.File, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, b.at(key, err)
	}
	if err := blob.CheckKey(key); err != nil {
		return nil, 0, b.at(key, err)
	}
	file, err := b.root.OpenFile(filepath.FromSlash(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, b.at(key, failure(err))
	}
	info, err := file.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		file.Close() // nothing was written: Close cannot lose anything
		return nil, 0, b.at(key, failure(err))
	}
	return file, info.Size(), nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fault.New(fault.NotFound, "is a folder, not a blob")
	case !info.Mode().IsRegular():
		return fault.New(fault.Refused, "is not a regular file")
	}
	return nil
}

func (b *bucket) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, b.at(prefix, err)
	}
	if err := blob.CheckPrefix(prefix); err != nil {
		return nil, b.at(prefix, err)
	}
	folder, begin := path.Split(prefix)
	listing, err := fs.ReadDir(b.root.FS(), path.Clean("./"+folder))
	if err != nil {
		if err = failure(err); fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return nil, b.at(prefix, err)
	}
	var entries []blob.Entry
	for _, found := range listing {
		if !strings.HasPrefix(found.Name(), begin) || found.IsDir() {
			continue
		}
		// Stat follows links, as Open does; what cannot be opened is not listed.
		info, err := b.root.Stat(filepath.FromSlash(folder + found.Name()))
		if err == nil && info.Mode().IsRegular() {
			entries = append(entries, blob.Entry{Key: folder + found.Name(), Size: info.Size()})
		}
	}
	return entries, nil
}

func (b *bucket) place(key string) string { return b.location.Place(key) }

func (b *bucket) at(key string, err error) error { return fault.At(err, b.place(key)) }

// stream is a range of a file.
type stream struct {
	file  *os.File
	left  int64
	place string
}

func (s *stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n, err := s.file.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err != nil && err != io.EOF {
		err = fault.At(failure(err), s.place)
	}
	return n, err
}

func (s *stream) Close() error { return s.file.Close() }

// failure gives an error of the file system its kind. The path in it is left
// out: the place says it.
func failure(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		err = inPath.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.New(fault.NotFound, "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return fault.WithNext(fault.New(fault.Unauthorised, "%w", err), "let this user read the folder and its files")
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), isEscape(err):
		return fault.New(fault.Refused, "%w", err)
	}
	return fault.New(fault.Unavailable, "%w", err)
}

// isEscape recognises os.Root's refusal, which has no exported error.
func isEscape(err error) bool {
	return strings.Contains(err.Error(), "escapes from parent")
}

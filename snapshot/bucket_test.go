package snapshot

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// mapBucket holds blobs in memory. It counts what is asked of it.
type mapBucket struct {
	blobs    map[string][]byte
	unlisted bool // answers no listing, as plain HTTP does

	mu     sync.Mutex
	opened []string
}

func (b *mapBucket) Open(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	data, ok := b.blobs[key]
	if !ok {
		return nil, fault.New(fault.NotFound, "no blob %s", key)
	}
	b.mu.Lock()
	b.opened = append(b.opened, key)
	b.mu.Unlock()
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (b *mapBucket) Size(_ context.Context, key string) (int64, error) {
	data, ok := b.blobs[key]
	if !ok {
		return 0, fault.New(fault.NotFound, "no blob %s", key)
	}
	return int64(len(data)), nil
}

func (b *mapBucket) List(_ context.Context, prefix string) ([]Entry, error) {
	if b.unlisted {
		return nil, fault.New(fault.Refused, "this store cannot list")
	}
	var entries []Entry
	for key, data := range b.blobs {
		if rest, ok := strings.CutPrefix(key, prefix); ok && !strings.Contains(rest, "/") {
			entries = append(entries, Entry{Key: key, Size: int64(len(data))})
		}
	}
	return entries, nil
}

// folderBucket is a folder on disk.
type folderBucket string

func (b folderBucket) Open(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	f, err := os.Open(b.path(key))
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err)
	}
	if length < 0 {
		length = 1 << 60
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, offset, length), f}, nil
}

func (b folderBucket) Size(_ context.Context, key string) (int64, error) {
	info, err := os.Stat(b.path(key))
	if err != nil || info.IsDir() {
		return 0, fault.New(fault.NotFound, "no blob %s", key)
	}
	return info.Size(), nil
}

func (b folderBucket) List(_ context.Context, prefix string) ([]Entry, error) {
	files, err := filepath.Glob(b.path(prefix) + "*")
	var entries []Entry
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			rel, _ := filepath.Rel(string(b), file)
			entries = append(entries, Entry{Key: filepath.ToSlash(rel), Size: info.Size()})
		}
	}
	return entries, err
}

func (b folderBucket) path(key string) string { return string(b) + "/" + filepath.FromSlash(key) }

// inMemory loads a folder into a bucket that a test may damage.
func inMemory(t testing.TB, dir string) *mapBucket {
	t.Helper()
	b := &mapBucket{blobs: map[string][]byte{}}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		b.blobs[filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

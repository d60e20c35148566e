// Package memory is a bucket in memory: the contract's plainest adapter, for
// tests and for what is already loaded.
//
// Invariant: the map and its values are read and never changed; whoever
// changes them while the bucket is in use has a data race.
package memory

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Bucket maps keys to the blobs' bytes.
type Bucket map[string][]byte

// Open streams from the map's value.
func (b Bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	data, err := b.find(ctx, key)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fault.At(fault.New(fault.Bug, "negative offset %d", offset), key)
	}
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Size is the value's length.
func (b Bucket) Size(ctx context.Context, key string) (int64, error) {
	data, err := b.find(ctx, key)
	return int64(len(data)), err
}

// List looks at every key.
func (b Bucket) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := blob.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	var entries []blob.Entry
	for key, data := range b {
		rest, ok := strings.CutPrefix(key, prefix)
		if ok && !strings.Contains(rest, "/") {
			entries = append(entries, blob.Entry{Key: key, Size: int64(len(data))})
		}
	}
	return entries, nil
}

func (b Bucket) find(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	data, ok := b[key]
	if !ok {
		return nil, fault.At(fault.New(fault.NotFound, "no such blob"), key)
	}
	return data, nil
}

// Local says that there is no latency to hide.
func (b Bucket) Local() {}

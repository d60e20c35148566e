package blobtest

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Slow delays each request by latency before b is asked; bytes then flow at
// once. A delay ends early with its context.
func Slow(b blob.Bucket, latency time.Duration) blob.Bucket { return &slow{b, latency} }

type slow struct {
	blob.Bucket
	latency time.Duration
}

func (s *slow) wait(ctx context.Context) error {
	timer := time.NewTimer(s.latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *slow) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Bucket.Open(ctx, key, offset, length)
}

func (s *slow) Size(ctx context.Context, key string) (int64, error) {
	if err := s.wait(ctx); err != nil {
		return 0, err
	}
	return s.Bucket.Size(ctx, key)
}

func (s *slow) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Bucket.List(ctx, prefix)
}

// Flaky fails transiently: every request whose number among those for the same
// key and offset, counted from 1, is not a multiple of every, and every stream
// after it has delivered breakAfter bytes. every 1 fails no request,
// breakAfter 0 breaks no stream. Requests are counted by place because
// concurrent ones would otherwise take each other's turns, and one of them
// could fail for as long as chance likes.
func Flaky(b blob.Bucket, every, breakAfter int64) blob.Bucket {
	return &flaky{Bucket: b, every: every, breakAfter: breakAfter, requests: map[place]int64{}}
}

type flaky struct {
	blob.Bucket
	every, breakAfter int64

	mu       sync.Mutex
	requests map[place]int64
}

// place is what a request asks for; a listing and a size have offset -1.
type place struct {
	key    string
	offset int64
}

func (f *flaky) fail(key string, offset int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := place{key, offset}
	f.requests[at]++
	if n := f.requests[at]; n%f.every != 0 {
		return fault.New(fault.Transient, "request %d for %s at %d fails on purpose", n, key, offset)
	}
	return nil
}

func (f *flaky) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := f.fail(key, offset); err != nil {
		return nil, err
	}
	stream, err := f.Bucket.Open(ctx, key, offset, length)
	if err != nil || f.breakAfter == 0 {
		return stream, err
	}
	return &breaking{stream, f.breakAfter}, nil
}

func (f *flaky) Size(ctx context.Context, key string) (int64, error) {
	if err := f.fail(key, -1); err != nil {
		return 0, err
	}
	return f.Bucket.Size(ctx, key)
}

func (f *flaky) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := f.fail(prefix, -1); err != nil {
		return nil, err
	}
	return f.Bucket.List(ctx, prefix)
}

type breaking struct {
	io.ReadCloser
	left int64
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fault.New(fault.Transient, "stream breaks on purpose: %w", errors.New("connection reset"))
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

package sim

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// source is the bucket of the repository as one process reaches it. What it reads is no call:
// nothing changes there, and only the weather and the blobs that are lost or damaged count.
type source struct {
	process *process
	of      *migration
}

var _ blob.Bucket = source{}

// bucket is the source as a process has it: with the retries that every bucket far away has.
func (w *migration) bucket(p *process) blob.Bucket {
	return blob.Retry(source{p, w}, blob.RetryPolicy{Random: func() float64 { return chance.Float(p.ctx) }})
}

// meets is what comes in the way of a request.
func (s source) meets(ctx context.Context, key string) error {
	w := s.of
	if w.befalls("source", "slow") {
		select {
		case <-time.After(300*time.Millisecond + chance.N(s.process.ctx, 400*time.Millisecond)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var why error
	switch {
	case s.process.dead:
		return errDead
	case w.befalls("source", "away"):
		why = fault.New(fault.Transient, "connection refused")
	case w.befalls("source", "broken") && chance.Float(s.process.ctx) < 0.7:
		why = fault.New(fault.Transient, "HTTP status 503 Service Unavailable")
	case w.blobs[key] == lost:
		why = fault.New(fault.NotFound, "no such blob")
	}
	return fault.At(why, key)
}

// Open is blob.Bucket's.
func (s source) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := s.meets(ctx, key); err != nil {
		return nil, err
	}
	within := s.of.repository.bucket
	if data := within[key]; s.of.blobs[key] == damaged && len(data) > 0 {
		data = slices.Clone(data)
		data[len(data)/2] ^= 0x10
		within = memory.Bucket{key: data}
	}
	stream, err := within.Open(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	return &reading{source: s, ctx: ctx, key: key, ReadCloser: stream}, nil
}

// Size is blob.Bucket's.
func (s source) Size(ctx context.Context, key string) (int64, error) {
	if err := s.meets(ctx, key); err != nil {
		return 0, err
	}
	return s.of.repository.bucket.Size(ctx, key)
}

// List is blob.Bucket's.
func (s source) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := s.meets(ctx, prefix); err != nil {
		return nil, err
	}
	entries, err := s.of.repository.bucket.List(ctx, prefix)
	slices.SortFunc(entries, func(a, b blob.Entry) int { return strings.Compare(a.Key, b.Key) })
	return slices.DeleteFunc(entries, func(e blob.Entry) bool { return s.of.blobs[e.Key] == lost }), err
}

// reading is a stream that breaks when its source does.
type reading struct {
	source
	ctx context.Context
	key string
	io.ReadCloser
}

// Read is io.Reader's.
func (r *reading) Read(p []byte) (int, error) {
	w := r.of
	if w.befalls("source", "away") || w.befalls("source", "broken") && chance.N(r.process.ctx, 8) == 0 {
		return 0, fault.At(fault.New(fault.Transient, "connection reset by peer"), r.key)
	}
	return r.ReadCloser.Read(p)
}

// What becomes of a blob.
const (
	lost    = "lost"
	damaged = "damaged"
)

// spoil loses or damages a blob of the newest snapshot's shards, or with by -1 brings it back.
func (w *migration) spoil(m Mishap, number, by int) {
	key := w.repository.blobs[number%len(w.repository.blobs)]
	if by < 0 {
		delete(w.blobs, key)
		return
	}
	w.blobs[key] = m.What
}

package snapshot_test

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/snapshot"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe is a bucket that notes what is asked of it and may fail at any moment.
type probe struct {
	snapshot.Bucket
	// at is asked before each call of Open, Size, List and Read, which are counted
	// from 1; its error is the call's. Nil never fails.
	at       func(call int) error
	heedless bool // does not look at contexts

	mu    sync.Mutex
	calls int
	opens int               // ranges that were opened
	sizes int               // blobs whose size was asked for
	open  int               // streams that are not closed
	read  map[string][]span // by key, in the order of their streams
}

// span is a run of bytes of a blob.
type span struct{ from, to int64 }

func newProbe(b snapshot.Bucket) *probe { return &probe{Bucket: b, read: map[string][]span{}} }

func (p *probe) call() error {
	p.mu.Lock()
	p.calls++
	call := p.calls
	p.mu.Unlock()
	if p.at == nil {
		return nil
	}
	return p.at(call)
}

func (p *probe) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := p.call(); err != nil {
		return nil, err
	}
	if p.heedless {
		ctx = context.WithoutCancel(ctx)
	}
	r, err := p.Bucket.Open(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opens++
	p.open++
	p.read[key] = append(p.read[key], span{offset, offset})
	return &probedStream{ReadCloser: r, probe: p, key: key, number: len(p.read[key]) - 1}, nil
}

func (p *probe) Size(ctx context.Context, key string) (int64, error) {
	if err := p.call(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	p.sizes++
	p.mu.Unlock()
	if p.heedless {
		ctx = context.WithoutCancel(ctx)
	}
	return p.Bucket.Size(ctx, key)
}

func (p *probe) List(ctx context.Context, prefix string) ([]snapshot.Entry, error) {
	if err := p.call(); err != nil {
		return nil, err
	}
	return p.Bucket.List(ctx, prefix)
}

type probedStream struct {
	io.ReadCloser
	probe  *probe
	key    string
	number int // of the range among those of its key
	closed bool
}

func (s *probedStream) Read(b []byte) (int, error) {
	if err := s.probe.call(); err != nil {
		return 0, err
	}
	n, err := s.ReadCloser.Read(b)
	s.probe.mu.Lock()
	s.probe.read[s.key][s.number].to += int64(n)
	s.probe.mu.Unlock()
	return n, err
}

func (s *probedStream) Close() error {
	s.probe.mu.Lock()
	if !s.closed {
		s.probe.open--
	}
	s.closed = true
	s.probe.mu.Unlock()
	return s.ReadCloser.Close()
}

// bytes is how many were read.
func (p *probe) bytes() (n int64) {
	for _, spans := range p.read {
		for _, s := range spans {
			n += s.to - s.from
		}
	}
	return n
}

// twice is how many bytes of a blob were read more than once, and how many bytes
// of it were read at all.
func (p *probe) twice(key string) (twice, once int64) {
	spans := slices.Clone(p.read[key])
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	var end int64
	for _, s := range spans {
		twice += max(0, min(end, s.to)-s.from)
		once += max(0, s.to-max(end, s.from))
		end = max(end, s.to)
	}
	return twice, once
}

// reset forgets what was read.
func (p *probe) reset() { p.calls, p.opens, p.sizes, p.read = 0, 0, 0, map[string][]span{} }

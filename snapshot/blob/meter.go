package blob

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Meter counts what goes through it: the requests that reach the bucket
// beneath it, failed ones too, and the bytes that come back. A listing is one
// request however many pages it has. It is safe for concurrent use.
type Meter struct {
	Bucket
	*tally
}

// tally is what the meters of one stack count together.
type tally struct {
	requests, bytes atomic.Int64

	mu    sync.Mutex
	spans map[string][]Span // nil unless spans are kept
}

// Usage is what a Meter has counted.
type Usage struct {
	Requests int64 // Open, Size and List calls
	Bytes    int64 // of blobs, delivered by streams
}

// Span is a run of bytes that one stream delivered: [Begin, End).
type Span struct{ Begin, End int64 }

// NewMeter wraps b. With keepSpans it remembers what each stream delivered, in
// memory proportional to the number of streams: for tests and reports, not for
// long runs.
func NewMeter(b Bucket, keepSpans bool) *Meter {
	m := &Meter{b, &tally{}}
	if keepSpans {
		m.spans = map[string][]Span{}
	}
	return m
}

// around is a meter of another bucket that counts into the same tally. The
// spans of equal keys fall together.
func (m *Meter) around(b Bucket) *Meter { return &Meter{b, m.tally} }

// Usage is the count so far.
func (m *Meter) Usage() Usage {
	return Usage{Requests: m.requests.Load(), Bytes: m.bytes.Load()}
}

// Spans are what the closed streams of a key delivered, by offset. A span that
// begins before the one ahead of it ends was read twice.
func (m *Meter) Spans(key string) []Span {
	m.mu.Lock()
	defer m.mu.Unlock()
	spans := slices.Clone(m.spans[key])
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	return spans
}

// Repeated are, by key, the spans of which at least one byte was delivered
// before. It is empty when no byte was read twice.
func (m *Meter) Repeated() map[string][]Span {
	m.mu.Lock()
	keys := make([]string, 0, len(m.spans))
	for key := range m.spans {
		keys = append(keys, key)
	}
	m.mu.Unlock()
	repeated := map[string][]Span{}
	for _, key := range keys {
		var end int64
		for _, span := range m.Spans(key) {
			if span.Begin < end {
				repeated[key] = append(repeated[key], Span{span.Begin, min(end, span.End)})
			}
			end = max(end, span.End)
		}
	}
	return repeated
}

// Open counts a request, and the bytes as they are read.
func (m *Meter) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	m.requests.Add(1)
	body, err := m.Bucket.Open(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	return &metered{ReadCloser: body, meter: m, key: key, span: Span{offset, offset}}, nil
}

// Size counts a request.
func (m *Meter) Size(ctx context.Context, key string) (int64, error) {
	m.requests.Add(1)
	return m.Bucket.Size(ctx, key)
}

// List counts a request.
func (m *Meter) List(ctx context.Context, prefix string) ([]Entry, error) {
	m.requests.Add(1)
	return m.Bucket.List(ctx, prefix)
}

type metered struct {
	io.ReadCloser
	meter *Meter
	key   string
	span  Span
	once  sync.Once
}

func (s *metered) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.span.End += int64(n)
	s.meter.bytes.Add(int64(n))
	return n, err
}

func (s *metered) Close() error {
	s.once.Do(func() { s.meter.remember(s.key, s.span) })
	return s.ReadCloser.Close()
}

func (m *Meter) remember(key string, span Span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spans != nil && span.End > span.Begin {
		m.spans[key] = append(m.spans[key], span)
	}
}

package snapshot

import (
	"context"
	"io"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// sampleDocuments is how many documents at the start of a segment tell what the
// rest is like. A variable only so that tests can make every segment a long one.
var sampleDocuments = int64(256)

// Estimate is what reading all documents of a snapshot would cost and give.
type Estimate struct {
	Documents   int64 // without nested ones
	SourceBytes int64
	// Exact is false when some segment was longer than its sample, so that nested
	// documents and source bytes are extrapolated from the sample's share.
	Exact bool
	// Bytes is what is read from the bucket; Requests how many ranges and sizes are
	// asked for, and Streams the lengths of the ranges with stored fields among them,
	// which read-ahead splits where they are long.
	Bytes    int64
	Requests int64
	Streams  []int64
	// Stored are the lengths of all files of the shards, which is about what the documents
	// take on the disk of a server.
	Stored int64
	// Lost tell of blobs that the repository lacks, and that a pass does not need.
	Lost []error
}

// Estimate opens everything that a pass over the indices would open, samples
// the first documents of each segment, and adds up. Index tells which indices
// are wanted; nil wants all. Shards that the snapshot does not hold are left out.
func (s *Snapshot) Estimate(ctx context.Context, index func(name string) bool) (*Estimate, error) {
	m := &meter{Bucket: s.repo.bucket}
	repo := *s.repo
	repo.bucket = m
	metered := *s
	metered.repo = &repo
	e := &estimator{meter: m, sum: Estimate{Exact: true}}
	for _, name := range s.Indices {
		if index != nil && !index(name) {
			continue
		}
		idx, err := metered.Index(ctx, name)
		if fault.Is(err, fault.NotFound) && s.mayLack(name, -1) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for n := range idx.Shards {
			if _, absent := s.Failure(name, n); absent {
				continue
			}
			err := e.shard(ctx, idx, n)
			if fault.Is(err, fault.NotFound) && s.mayLack(name, n) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
	}
	e.sum.Bytes += m.bytes
	e.sum.Requests += m.requests
	return &e.sum, nil
}

type estimator struct {
	meter *meter
	sum   Estimate
}

func (e *estimator) shard(ctx context.Context, idx *Index, n int) error {
	sh, err := idx.Shard(ctx, n)
	if err != nil {
		return err
	}
	if err := sh.lostIndex(ctx); fault.Is(err, fault.Corrupt) {
		e.sum.Lost = append(e.sum.Lost, err)
	} else if err != nil {
		return err
	}
	for i := range sh.Files {
		e.sum.Stored += sh.Files[i].Length
	}
	commit, err := sh.commit(ctx)
	if err != nil {
		return err
	}
	for _, sc := range commit.Segments {
		if err := e.segment(ctx, sh, sc); err != nil {
			return err
		}
	}
	return nil
}

// segment opens a segment as a pass does, metered but for the stored fields: these
// count by the ranges of blobs that they fill, and their first documents tell what
// the others are like.
func (e *estimator) segment(ctx context.Context, sh *Shard, sc lucene.SegmentCommit) (err error) {
	dir := &tracedShard{Shard: sh}
	s := &openSegment{}
	if s.seg, err = lucene.OpenSegment(ctx, dir, sc); err == nil {
		s.to = s.seg.MaxDoc
		s.live, err = s.seg.Live(ctx)
	}
	if err != nil {
		return sh.at(err, sc.Name)
	}
	lives := int64(s.seg.MaxDoc - s.live.Deleted - s.live.SoftDeleted)
	if lives == 0 {
		return nil
	}
	e.meter.off = true
	defer func() { e.meter.off = false }()
	dir.opened = nil
	s.roles = rolesOf(s.seg)
	if s.stored, err = s.seg.OpenStored(ctx, 0, s.seg.MaxDoc); err != nil {
		return sh.at(err, sc.Name)
	}
	counts, err := sh.sample(ctx, s)
	if err != nil {
		return err
	}
	e.sum.add(counts, lives)
	for _, lengths := range dir.opened { // what the sample needed beside, a pass needs too
		for _, length := range lengths {
			e.sum.Bytes += length
			e.sum.Requests++
		}
	}
	e.sum.Streams = append(e.sum.Streams, dir.opened[0]...)
	return nil
}

// sample reads the first live documents of an open segment, and closes it.
func (sh *Shard) sample(ctx context.Context, s *openSegment) (Counts, error) {
	d := newDocuments(ctx, sh, &lucene.Commit{}, ReadOptions{})
	defer d.Close()
	d.ahead = make(chan *openSegment, 1)
	d.ahead <- s
	for d.counts.Documents < sampleDocuments && d.Next() {
	}
	return d.counts, d.err
}

// tracedShard is a shard that notes the lengths of the ranges of blobs that the
// ranges of files, in the order in which they were opened, consist of.
type tracedShard struct {
	*Shard
	opened [][]int64
}

// Open is that of the shard.
func (t *tracedShard) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := t.Shard.Open(ctx, name, offset, length)
	if err == nil {
		t.opened = append(t.opened, t.byName[name].ranges(offset, length))
	}
	return r, err
}

// add extrapolates from what the sample saw to all live documents.
func (e *Estimate) add(c Counts, lives int64) {
	seen := c.Documents + c.Nested
	if seen == 0 {
		return
	}
	if seen < lives {
		e.Exact = false
	}
	e.Documents += c.Documents * lives / seen
	e.SourceBytes += int64(float64(c.SourceBytes) * float64(lives) / float64(seen))
}

// meter counts what is asked of a bucket, unless it is off. Not safe for
// concurrent use.
type meter struct {
	Bucket
	off             bool
	requests, bytes int64
}

func (m *meter) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := m.Bucket.Open(ctx, key, offset, length)
	if err != nil || m.off {
		return r, err
	}
	m.requests++
	return &meteredStream{r, m}, nil
}

func (m *meter) Size(ctx context.Context, key string) (int64, error) {
	if !m.off {
		m.requests++
	}
	return m.Bucket.Size(ctx, key)
}

type meteredStream struct {
	io.ReadCloser
	meter *meter
}

func (r *meteredStream) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.meter.bytes += int64(n)
	return n, err
}

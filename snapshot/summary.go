package snapshot

import (
	"context"

	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// ShardSummary is what a shard holds, told by its commit, segment infos and
// deletions, without reading a document.
type ShardSummary struct {
	Commit   *lucene.Commit
	Segments []SegmentSummary // in commit order
}

// SegmentSummary is what one segment holds. MaxDoc − Deleted − SoftDeleted are
// live; nested documents are among them, as in the server's own listings.
type SegmentSummary struct {
	Name          string
	Codec         string // as the segment names it
	StoredFormat  string // codec name in the header of the stored fields
	LuceneVersion string
	Compound      bool
	Sorted        bool
	MaxDoc        int
	Deleted       int
	SoftDeleted   int
	StoredBytes   int64 // length of the stored fields
}

// Live is how many documents of the segment are live, nested ones included.
func (s SegmentSummary) Live() int64 { return int64(s.MaxDoc - s.Deleted - s.SoftDeleted) }

// Live is how many documents of the shard are live, nested ones included.
func (s *ShardSummary) Live() (n int64) {
	for _, seg := range s.Segments {
		n += seg.Live()
	}
	return n
}

// Deleted is how many documents of the shard are deleted in either way.
func (s *ShardSummary) Deleted() (n int64) {
	for _, seg := range s.Segments {
		n += int64(seg.Deleted + seg.SoftDeleted)
	}
	return n
}

// Summary opens every segment of the shard and counts; counts that contradict
// the commit are Corrupt.
func (sh *Shard) Summary(ctx context.Context) (*ShardSummary, error) {
	commit, err := sh.commit(ctx)
	if err != nil {
		return nil, err
	}
	sum := &ShardSummary{Commit: commit}
	for _, sc := range commit.Segments {
		seg, err := sh.summarise(ctx, sc)
		if err != nil {
			return nil, sh.at(err, sc.Name)
		}
		sum.Segments = append(sum.Segments, seg)
	}
	return sum, nil
}

func (sh *Shard) summarise(ctx context.Context, sc lucene.SegmentCommit) (SegmentSummary, error) {
	seg, err := lucene.OpenSegment(ctx, sh, sc)
	if err != nil {
		return SegmentSummary{}, err
	}
	live, err := seg.Live(ctx)
	if err != nil {
		return SegmentSummary{}, err
	}
	format, err := seg.StoredFormat(ctx)
	if err != nil {
		return SegmentSummary{}, err
	}
	return SegmentSummary{
		Name: seg.Name, Codec: sc.Codec, StoredFormat: format, LuceneVersion: seg.LuceneVersion,
		Compound: seg.Compound, Sorted: seg.Sorted, MaxDoc: seg.MaxDoc,
		Deleted: live.Deleted, SoftDeleted: live.SoftDeleted, StoredBytes: seg.StoredBytes(),
	}, nil
}

// commit reads the shard's commit.
func (sh *Shard) commit(ctx context.Context) (*lucene.Commit, error) {
	file, err := sh.CommitFile()
	if err != nil {
		return nil, err
	}
	commit, err := lucene.ReadCommit(ctx, sh, file)
	return commit, sh.at(err, "")
}

package snapshot

import (
	"context"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// versionColumns are the doc values that hold a document's versions, in the
// order of versionSlot.
var versionColumns = []string{"_version", "_seq_no", "_primary_term"}

// openSegment is one segment of a pass, with its streams. It is opened ahead in
// the background and then belongs to the pass.
type openSegment struct {
	index    int   // in the commit
	base     int64 // shard-wide number of its first document
	from, to int   // wanted document numbers in the segment
	seg      *lucene.Segment
	roles    roles
	live     *lucene.Live
	stored   *lucene.StoredReader // nil when nothing of the segment is wanted
	columns  *lucene.Columns      // nil when versions are not wanted or not held
	part     Part
	met      int // live documents that the pass came across, nested ones included
	err      error
}

// openSegment opens what a pass needs of segment i. Errors are in the result.
func (sh *Shard) openSegment(ctx context.Context, sc lucene.SegmentCommit, i int, base int64, opts ReadOptions) *openSegment {
	s := &openSegment{index: i, base: base}
	s.seg, s.err = lucene.OpenSegment(ctx, sh, sc)
	if s.err == nil {
		s.err = s.open(ctx, sh.Index, opts)
	}
	if s.err != nil {
		s.err = sh.at(s.err, sc.Name)
	}
	return s
}

func (s *openSegment) open(ctx context.Context, index *Index, opts ReadOptions) (err error) {
	s.live = &lucene.Live{}
	s.from, s.to = 0, s.seg.MaxDoc
	if opts.From > s.base {
		s.from = int(min(opts.From-s.base, int64(s.seg.MaxDoc)))
	}
	if opts.To > 0 {
		s.to = int(min(opts.To-s.base, int64(s.seg.MaxDoc)))
	}
	if opts.Parts != nil {
		wanted := false
		if s.part, wanted = opts.Parts[s.seg.Name]; !wanted {
			s.from = s.to
		}
	}
	if s.from >= s.to {
		return nil
	}
	if s.live, err = s.seg.Live(ctx); err != nil {
		return err
	}
	if s.live.Deleted+s.live.SoftDeleted == s.seg.MaxDoc {
		return nil
	}
	s.roles = rolesOf(s.seg)
	if opts.Versions {
		if s.columns, err = s.seg.Columns(ctx, versionColumns...); err != nil {
			return index.unreadVersions(err)
		}
	}
	s.stored, err = s.seg.OpenStored(ctx, s.from, s.to)
	return err
}

// versionSlot is where a column's value belongs.
func (s *openSegment) versionSlot(v *document.Versions, column int) *int64 {
	return [...]*int64{&v.Version, &v.SeqNo, &v.PrimaryTerm}[column]
}

// whole tells whether the pass reads the segment from end to end.
func (s *openSegment) whole() bool { return s.from == 0 && s.to == s.seg.MaxDoc }

// finish checks everything that can be checked after the last document.
func (s *openSegment) finish() error {
	if err := s.stored.Err(); err != nil {
		return err
	}
	if s.columns != nil && s.whole() {
		if err := s.columns.Finish(); err != nil {
			return err
		}
	}
	return s.checkSum()
}

// unreached names the files whose checksum the pass did not see.
func (s *openSegment) unreached() (names []string) {
	if s.stored != nil && !s.stored.Confirmed() {
		names = append(names, s.seg.Name+".fdt")
	}
	if s.columns != nil {
		for _, name := range s.columns.Unconfirmed() {
			names = append(names, s.seg.Name+strings.TrimPrefix(name, s.seg.Name))
		}
	}
	return names
}

// checkSum holds what the pass met against what the segment promises.
func (s *openSegment) checkSum() error {
	if sum := s.met + s.live.Deleted + s.live.SoftDeleted; s.whole() && s.part.Has == nil && sum != s.seg.MaxDoc {
		return fault.New(fault.Corrupt, "%d documents were met, %d are deleted and %d soft-deleted: not the %d of the segment", s.met, s.live.Deleted, s.live.SoftDeleted, s.seg.MaxDoc)
	}
	return nil
}

func (s *openSegment) place(sh *Shard, err error) error {
	return sh.at(err, s.seg.Name)
}

func (s *openSegment) close() {
	if s.stored != nil {
		s.stored.Close()
	}
	if s.columns != nil {
		s.columns.Close()
	}
}

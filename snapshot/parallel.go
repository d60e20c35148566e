package snapshot

import (
	"context"

	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// Split cuts the shard into about n parts of equal stored bytes, at segment and
// chunk borders, without reading documents. Part i is the shard-wide document
// numbers from result[i] to result[i+1]; passes over the parts, with From and To
// of ReadOptions, may run at the same time, and together give every document
// once. [Confirm] then checks what no part alone could. There are fewer parts
// than n when there are fewer chunks.
func (sh *Shard) Split(ctx context.Context, n int) ([]int64, error) {
	commit, err := sh.commit(ctx)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	var total, base int64
	for _, sc := range commit.Segments {
		seg, err := lucene.OpenSegment(ctx, sh, sc)
		if err != nil {
			return nil, sh.at(err, sc.Name)
		}
		cuts, err := seg.SplitStored(ctx, n)
		if err != nil {
			return nil, sh.at(err, sc.Name)
		}
		for i := range len(cuts) - 1 {
			pieces = append(pieces, piece{end: base + int64(cuts[i+1]), bytes: seg.StoredBytes() / int64(len(cuts)-1)})
		}
		total += seg.StoredBytes()
		base += int64(seg.MaxDoc)
	}
	return gather(pieces, total/int64(max(n, 1)), base), nil
}

// piece is what a part may be made of: a run of chunks of one segment.
type piece struct {
	end   int64 // shard-wide number after its last document
	bytes int64
}

// gather puts pieces together until each part has about the wanted bytes.
func gather(pieces []piece, wanted, end int64) []int64 {
	cuts := []int64{0}
	var bytes int64
	for _, p := range pieces {
		bytes += p.bytes
		if bytes >= wanted && p.end > cuts[len(cuts)-1] && p.end < end {
			cuts = append(cuts, p.end)
			bytes = 0
		}
	}
	return append(cuts, end)
}

// part is a segment of which one pass read only some documents.
type part struct {
	segment string
	stored  *lucene.StoredReader
}

// Confirm checks the checksums of the files that several passes over one shard
// read together: passes over the parts of [Shard.Split], each read to its end,
// in ascending order. A wrong checksum is Corrupt, and then no document of the
// named segment is confirmed.
func Confirm(passes ...*Documents) error {
	var segment string
	var parts []*lucene.StoredReader
	confirm := func(sh *Shard) error {
		if len(parts) == 0 {
			return nil
		}
		err := lucene.ConfirmStored(parts...)
		parts = nil
		return sh.at(err, segment)
	}
	for _, d := range passes {
		for _, p := range d.parts {
			if p.segment != segment {
				if err := confirm(d.shard); err != nil {
					return err
				}
				segment = p.segment
			}
			parts = append(parts, p.stored)
		}
	}
	if len(passes) == 0 {
		return nil
	}
	return confirm(passes[0].shard)
}

package snapshot

import (
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// Lucene before 4.8 wrote no footers: of its files the length alone is checked.
func TestFilesWithoutChecksumAreCountedAndNotCalledDamaged(t *testing.T) {
	for _, tc := range []struct {
		writtenBy string
		part      string
		damaged   bool
	}{
		{"8.7.0", "ABCDE", true}, // no footer where there should be one
		{"4.7.2", "ABCDE", false},
		{"4.7.2", "ABCD", true}, // too short
	} {
		m := newMiniature().edit(t, "indices/I/1/snap-S.dat", `"part_size":10,"written_by":"8.7.0"`, `"part_size":10,"written_by":"`+tc.writtenBy+`"`)
		m["indices/I/1/__x.part2"] = tc.part
		r, err := Open(context.Background(), m.build())
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Find(context.Background(), "s")
		if err != nil {
			t.Fatal(err)
		}
		index, err := s.Index(context.Background(), "books")
		if err != nil {
			t.Fatal(err)
		}
		shard, err := index.Shard(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		file := shard.byName["_0.fdt"]
		if err := shard.checkFile(context.Background(), file); fault.Is(err, fault.Corrupt) != tc.damaged || err != nil && !tc.damaged {
			t.Errorf("%v: %v", tc, err)
		}
		v := &verifier{}
		if v.file(file); (v.done.Unchecked == 1) != (tc.writtenBy == "4.7.2") {
			t.Errorf("%v: %d files without checksum", tc, v.done.Unchecked)
		}
	}
}

// What a whole pass met, and what is deleted, is the segment; a part of it says
// nothing.
func TestWhatWasMetMakesTheSegment(t *testing.T) {
	segment := func(met, from int) *openSegment {
		return &openSegment{met: met, from: from, to: 10, seg: &lucene.Segment{MaxDoc: 10}, live: &lucene.Live{Deleted: 3, SoftDeleted: 2}}
	}
	for _, tc := range []struct {
		met, from int
		right     bool
	}{{5, 0, true}, {4, 0, false}, {6, 0, false}, {1, 5, true}} {
		if err := segment(tc.met, tc.from).checkSum(); (err == nil) != tc.right || err != nil && !fault.Is(err, fault.Corrupt) {
			t.Errorf("%v: %v", tc, err)
		}
	}
}

package lucene

import (
	"context"
	"hash/maphash"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// seed makes digests of one run comparable.
var seed = maphash.MakeSeed()

// documentDigests reads documents [from, to) and digests each one's values.
func documentDigests(t testing.TB, seg *Segment, from, to int) ([]uint64, *StoredReader) {
	r, err := seg.OpenStored(context.Background(), from, to)
	if err != nil {
		t.Fatalf("[%d, %d): %v", from, to, err)
	}
	defer r.Close()
	var digests []uint64
	for r.Next() {
		if want := from + len(digests); r.Doc() != want {
			t.Fatalf("[%d, %d): document %d, want %d", from, to, r.Doc(), want)
		}
		values, err := r.Values()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, valuesDigest(values))
	}
	if r.Err() != nil || len(digests) != to-from {
		t.Fatalf("[%d, %d): %d documents, %v", from, to, len(digests), r.Err())
	}
	return digests, r
}

func valuesDigest(values []StoredValue) uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	for _, v := range values {
		maphash.WriteComparable(&sum, [4]uint64{uint64(v.Field), uint64(v.Kind), v.Bits, uint64(len(v.Bytes))})
		sum.Write(v.Bytes)
	}
	return sum.Sum64()
}

func TestAPartHasTheDocumentsOfTheWhole(t *testing.T) {
	for _, seg := range manySegments(t) {
		whole, _ := documentDigests(t, seg, 0, seg.MaxDoc)
		step := max(1, seg.MaxDoc/13)
		for from := 0; from <= seg.MaxDoc; from += step {
			for _, to := range []int{from, min(from+1, seg.MaxDoc), min(from+5*step+1, seg.MaxDoc), seg.MaxDoc} {
				part, _ := documentDigests(t, seg, from, to)
				if !slices.Equal(part, whole[from:to]) {
					t.Fatalf("%s: documents [%d, %d) differ from those of the whole", seg.Name, from, to)
				}
			}
		}
	}
}

func TestPartsReadEachByteOnceAndTogetherConfirmTheFile(t *testing.T) {
	for _, seg := range manySegments(t) {
		for _, n := range []int{1, 2, 3, 7} {
			cuts, err := seg.SplitStored(context.Background(), n)
			if err != nil {
				t.Fatal(err)
			}
			if len(cuts) < 2 || len(cuts) > n+1 || cuts[0] != 0 || cuts[len(cuts)-1] != seg.MaxDoc {
				t.Fatalf("%d parts: cuts %v of %d documents", n, cuts, seg.MaxDoc)
			}
			var parts []*StoredReader
			var bytes int64
			for i := range len(cuts) - 1 {
				_, r := documentDigests(t, seg, cuts[i], cuts[i+1])
				parts = append(parts, r)
				bytes += r.BytesRead()
			}
			if err := ConfirmStored(parts...); !parts[0].HasChecksum() {
				if !fault.Is(err, fault.Refused) {
					t.Fatalf("without a checksum: %v", err)
				}
			} else if err != nil {
				t.Fatalf("%d parts: %v", n, err)
			}
			if bytes != parts[0].info.Length {
				t.Fatalf("%d parts: %d bytes read of %d", n, bytes, parts[0].info.Length)
			}
			if len(parts) > 1 && (parts[0].Confirmed() || ConfirmStored(parts[1:]...) == nil || ConfirmStored(parts[:len(parts)-1]...) == nil) {
				t.Fatalf("%d parts: some of them confirmed the file", n)
			}
		}
	}
}

// manySegments is every segment of the test data.
func manySegments(t testing.TB) []*Segment {
	infos, _ := filepath.Glob("testdata/segments/*/segments_*")
	written, _ := filepath.Glob("testdata/stored/*/segments_*")
	infos = append(infos, written...)
	var segments []*Segment
	for _, path := range infos {
		segments = append(segments, testSegments(t, filepath.Dir(path))...)
	}
	if len(segments) == 0 {
		t.Fatal("no segments")
	}
	return segments
}

func TestDocumentsThatNobodyAsksForArePassedOver(t *testing.T) {
	for _, seg := range manySegments(t) {
		whole, _ := documentDigests(t, seg, 0, seg.MaxDoc)
		for _, step := range []int{3, 40, 350} {
			r, err := seg.OpenStored(context.Background(), 0, seg.MaxDoc)
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
				if r.Doc()%step != 1 {
					continue
				}
				values, err := r.Values()
				if err != nil {
					t.Fatal(err)
				}
				if valuesDigest(values) != whole[r.Doc()] {
					t.Fatalf("%s: document %d differs when only each %dth is read", seg.Name, r.Doc(), step)
				}
			}
			if r.Err() != nil || r.Confirmed() != r.HasChecksum() {
				t.Fatalf("%s: confirmed %v, %v", seg.Name, r.Confirmed(), r.Err())
			}
			if _, err := r.Values(); !fault.Is(err, fault.Bug) {
				t.Fatalf("values behind the end: %v", err)
			}
			first, second := r.Close(), r.Close()
			if first != nil || second != nil || r.Next() || r.Confirmed() != r.HasChecksum() {
				t.Fatal("closing twice changes something")
			}
		}
	}
}

func TestMemoryFollowsTheLargestDocument(t *testing.T) {
	const largest, allowed = 1_200_000, 8 << 20
	for _, folder := range []string{"lucene-4.1.0", "lucene-5.5.5-high", "lucene-9.12.0", "lucene-9.12.0-high"} {
		seg := testSegments(t, filepath.Join("testdata/stored", folder))[0]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		documentDigests(t, seg, 0, seg.MaxDoc)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 3*largest+allowed {
			t.Errorf("%s: %d bytes were allocated", folder, grown)
		}
	}
}

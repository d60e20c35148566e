package segment_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// longDocs is enough for lists, positions and terms that lie in several extents.
const longDocs = 90_000

// addLong writes a document whose place in each list follows from its number.
func addLong(t testing.TB, b *segment.Builder, i int) {
	text, err := b.Field("text", segment.Spec{Postings: segment.Positions, Lengths: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []int{1, 2, 3, 50, 700} {
		if i%every == 0 {
			for k := range longOften(i, every) {
				text.Token(fmt.Appendf(nil, "every%d", every), uint32(k*(1+i%300)))
			}
		}
	}
	text.Length(uint32(i % 90))
	number, err := b.Field("number", segment.Spec{Column: segment.Numbers, Points: true})
	if err != nil {
		t.Fatal(err)
	}
	number.Number(int64(i) * int64(i) % 1_000_003)
	b.EndRoot(segment.Identity{Key: routing.Key(uint64(i) * 0x9e3779b97f4a7c15), ID: fmt.Sprintf("document %x", uint64(i)*0x9e3779b97f4a7c15), SeqNo: int64(i)})
}

func longOften(i, every int) int { return 1 + i/every%4 }

func buildLong(t testing.TB, from, to int) []byte {
	b := segment.NewBuilder()
	for i := from; i < to; i++ {
		addLong(t, b, i)
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestLongListsAreReadAsTheyWereWritten(t *testing.T) {
	data := buildLong(t, 0, longDocs)
	s := openFile(t, data)
	text := s.Field("text")
	for _, every := range []int{1, 2, 3, 50, 700} {
		e, ok := text.Lookup(fmt.Appendf(nil, "every%d", every))
		if !ok {
			t.Fatalf("every%d is lost", every)
		}
		p := text.Postings(e, segment.Positions, nil)
		for doc := 0; doc < longDocs; doc += every {
			if got := p.Next(); got != segment.Doc(doc) {
				t.Fatalf("every%d: %d, want %d", every, got, doc)
			}
			checkLongDoc(t, p, doc, every)
		}
		if p.Next() != segment.End {
			t.Fatalf("every%d does not end", every)
		}
		for _, step := range []int{1, 7, 127, 128, 129, 1000, 30_000} {
			p = text.Postings(e, segment.Positions, p)
			for to := 0; to < longDocs; to += step {
				want := (to + every - 1) / every * every
				if want >= longDocs {
					break
				}
				if last, _ := p.Bound(segment.Doc(to)); last < segment.Doc(want) || last == segment.End {
					t.Fatalf("every%d: the block of %d ends at %d", every, to, last)
				}
				if got := p.Advance(segment.Doc(to)); got != segment.Doc(want) {
					t.Fatalf("every%d by %d: %d, want %d", every, step, got, want)
				}
				if step > 100 {
					checkLongDoc(t, p, want, every)
				}
				to = max(to, want)
			}
		}
	}
	checkBlocks(t, text)
	for i := 0; i < longDocs; i += 101 {
		id := fmt.Sprintf("document %x", uint64(i)*0x9e3779b97f4a7c15)
		if s.ID(segment.Doc(i)) != id {
			t.Fatalf("doc %d is %q, want %q", i, s.ID(segment.Doc(i)), id)
		}
		for doc := range s.FindID(id) {
			if doc != segment.Doc(i) {
				t.Fatalf("%q is doc %d, want %d", id, doc, i)
			}
		}
	}
}

// checkBlocks goes to the last doc of each block, and asks for bounds forwards and backwards.
func checkBlocks(t *testing.T, text *segment.Field) {
	e, _ := text.Lookup([]byte("every3"))
	p, other := text.Postings(e, segment.Docs, nil), text.Postings(e, segment.Docs, nil)
	var lasts []segment.Doc
	for last, _ := p.Bound(0); last != segment.End; last, _ = p.Bound(last + 1) {
		lasts = append(lasts, last)
	}
	if len(lasts) != (longDocs/3+127)/128 {
		t.Fatalf("%d blocks", len(lasts))
	}
	for i := len(lasts) - 1; i >= 0; i-- {
		if last, _ := p.Bound(lasts[i]); last != lasts[i] {
			t.Fatalf("the block that ends at %d ends at %d", lasts[i], last)
		}
		other = text.Postings(e, segment.Docs, other)
		if got := other.Advance(lasts[i]); got != lasts[i] {
			t.Fatalf("advanced to %d, want %d", got, lasts[i])
		}
	}
}

func checkLongDoc(t *testing.T, p *segment.PostingsIterator, doc, every int) {
	t.Helper()
	if often := longOften(doc, every); int(p.Frequency()) != often {
		t.Fatalf("every%d: %d times in %d, want %d", every, p.Frequency(), doc, often)
	}
	places := p.Positions(nil)
	for k, at := range places {
		if int(at) != k*(1+doc%300) {
			t.Fatalf("every%d: at %v in %d", every, places, doc)
		}
	}
}

func openFile(t testing.TB, data []byte) *segment.Segment {
	t.Helper()
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMergingLongListsIsAsBuildingThem(t *testing.T) {
	const parts = 6
	var views []segment.View
	for i := range parts {
		views = append(views, segment.View{Segment: openFile(t, buildLong(t, i*longDocs/parts, (i+1)*longDocs/parts))})
	}
	var merged bytes.Buffer
	if err := segment.Merge(t.Context(), &merged, views); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(merged.Bytes(), buildLong(t, 0, longDocs)) {
		t.Fatal("the merged segment differs from the built one")
	}
	// the half of it that a split would show
	half := routing.Range{From: 0, To: 1<<63 - 1}
	b := segment.NewBuilder()
	for i := range longDocs {
		if half.Contains(routing.Key(uint64(i) * 0x9e3779b97f4a7c15)) {
			addLong(t, b, i)
		}
	}
	want, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	whole := openFile(t, merged.Bytes())
	var shown bytes.Buffer
	if err := segment.Merge(t.Context(), &shown, []segment.View{{Segment: whole, Hidden: whole.OutOf(half)}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(shown.Bytes(), want) {
		t.Fatal("the half differs from one that was built")
	}
}

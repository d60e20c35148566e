package segment_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// buildAs builds documents from one number to before another, whose field has a spec.
func buildAs(t *testing.T, from, to int, specOf func(i int) segment.Spec) []byte {
	b := segment.NewBuilder()
	for i := from; i < to; i++ {
		f, err := b.Field("f", specOf(i))
		if err != nil {
			t.Fatal(err)
		}
		for k := range 1 + i%3 {
			f.Token(fmt.Appendf(nil, "t%d", (i+k)%7), uint32(k))
			f.Number(int64(i * k))
		}
		f.Length(uint32(i % 5))
		b.EndRoot(segment.Identity{ID: fmt.Sprint(i), SeqNo: int64(i)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAMergedFieldHasWhatAllSpecsHave(t *testing.T) {
	everything := segment.Spec{Postings: segment.Positions, Lengths: true, Column: segment.Numbers, Points: true}
	words := segment.Spec{Postings: segment.Frequencies, Lengths: true, Column: segment.Ordinals}
	column := segment.Spec{Column: segment.Ordinals}
	numbers := segment.Spec{Column: segment.Numbers}
	for _, c := range []struct{ a, b, want segment.Spec }{
		{everything, everything, everything},
		{everything, words, segment.Spec{Postings: segment.Frequencies, Lengths: true}},
		{everything, numbers, numbers},
		{words, column, column},
		{column, numbers, segment.Spec{}},
		{segment.Spec{Postings: segment.Positions}, segment.Spec{Postings: segment.Docs}, segment.Spec{Postings: segment.Docs}},
		{segment.Spec{Points: true}, everything, segment.Spec{Points: true}},
	} {
		const half, all = 150, 320
		a := openFile(t, buildAs(t, 0, half, func(int) segment.Spec { return c.a }))
		b := openFile(t, buildAs(t, half, all, func(int) segment.Spec { return c.b }))
		var merged bytes.Buffer
		if err := segment.Merge(t.Context(), &merged, []segment.View{{Segment: a}, {Segment: b}}); err != nil {
			t.Fatal(err)
		}
		if got := openFile(t, merged.Bytes()).Field("f").Spec(); got != c.want {
			t.Errorf("%+v and %+v give %+v, want %+v", c.a, c.b, got, c.want)
		}
		if !bytes.Equal(merged.Bytes(), buildAs(t, 0, all, func(int) segment.Spec { return c.want })) {
			t.Errorf("%+v and %+v: the merged segment differs from the built one", c.a, c.b)
		}
	}
}

func TestOneNameHasOneSpec(t *testing.T) {
	b := segment.NewBuilder()
	f, err := b.Field("f", segment.Spec{Postings: segment.Docs})
	if err != nil {
		t.Fatal(err)
	}
	f.Exists()
	if _, err := b.Field("f", segment.Spec{}); !fault.Is(err, fault.Bug) {
		t.Fatal(err)
	}
	if _, err := b.Field("_id", segment.Spec{}); !fault.Is(err, fault.Bug) {
		t.Fatal(err)
	}
	b.EndRoot(segment.Identity{ID: "1"})
	if _, err := b.Build(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Field("f", segment.Spec{}); err != nil { // the next segment may have another
		t.Fatal(err)
	}
}

func TestATermThatIsTooLongFailsTheBuild(t *testing.T) {
	b := segment.NewBuilder()
	f, err := b.Field("f", segment.Spec{Postings: segment.Docs})
	if err != nil {
		t.Fatal(err)
	}
	f.Term(make([]byte, 1<<16-1))
	b.EndRoot(segment.Identity{ID: "1"})
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for it := openFile(t, data).Field("f").From(nil); it.Valid(); it.Next() {
		if len(it.Term()) != 1<<16-1 {
			t.Fatalf("a term of %d bytes", len(it.Term()))
		}
	}
	f.Term(make([]byte, 1<<16))
	b.EndRoot(segment.Identity{ID: "1"})
	if _, err := b.Build(); !fault.Is(err, fault.Bug) {
		t.Fatal(err)
	}
	b.EndRoot(segment.Identity{ID: "1"}) // and is forgotten
	if data, err = b.Build(); err != nil || openFile(t, data).Docs() != 1 {
		t.Fatal(err)
	}
}

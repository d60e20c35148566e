package segment_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// hide draws which families are hidden, and gives the set of their docs and what is left.
func hide(t *rapid.T, families []family) (*segment.Bits, []family) {
	docs := 0
	for _, f := range families {
		docs += len(f)
	}
	of := rapid.SampledFrom([]int{0, 1, 2, 20}).Draw(t, "hidden, one of")
	if of == 0 {
		return nil, families
	}
	r := newRandom(rapid.Uint64().Draw(t, "seed of hidden"))
	hidden, doc := segment.NewBits(docs), segment.Doc(0)
	var left []family
	for _, f := range families {
		gone := r.below(of) == 0
		for range f {
			if gone {
				hidden.Set(doc)
			}
			doc++
		}
		if !gone {
			left = append(left, f)
		}
	}
	return hidden, left
}

func TestMergingViewsIsAsBuildingWhatTheyShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var views []segment.View
		var shown []family
		most := rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "most")
		for range rapid.IntRange(0, 5).Draw(t, "inputs") {
			families := drawFamilies(t, most)
			hidden, left := hide(t, families)
			s := open(t, build(t, families))
			views = append(views, segment.View{Segment: s, Hidden: hidden})
			shown = append(shown, left...)
		}
		var merged bytes.Buffer
		if err := segment.Merge(context.Background(), &merged, views); err != nil {
			t.Fatal(err)
		}
		check(t, open(t, merged.Bytes()), shown)
		if built := build(t, shown); !bytes.Equal(built, merged.Bytes()) {
			t.Fatalf("the merged segment of %d bytes differs from the built one of %d", merged.Len(), len(built))
		}
	})
}

func TestWhatWasAbandonedIsNotInTheSegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		families := drawFamilies(t, 20)
		b := segment.NewBuilder()
		var kept []family
		docs := 0
		for i, f := range families {
			if rapid.Bool().Draw(t, "abandon") {
				// the root is not completed
				write(t, b, f[:len(f)-1])
				if flag, err := b.Field("flag", specs["flag"]); err != nil {
					t.Fatal(err)
				} else if i%2 == 0 {
					flag.Exists()
				}
				b.Abandon()
			} else {
				write(t, b, f)
				kept = append(kept, f)
				docs += len(f)
			}
			if b.Docs() != docs {
				t.Fatalf("%d docs, want %d", b.Docs(), docs)
			}
		}
		data, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		check(t, open(t, data), kept)
		if !bytes.Equal(data, build(t, kept)) {
			t.Fatal("the segment differs from one without what was abandoned")
		}
		write(t, b, family{{id: segment.Identity{ID: "again"}}}) // it may be used again
		data, err = b.Build()
		if err != nil {
			t.Fatal(err)
		}
		check(t, open(t, data), []family{{{id: segment.Identity{ID: "again"}}}})
	})
}

func TestAMergeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := segment.NewBuilder()
	b.EndRoot(segment.Identity{ID: "1"})
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := segment.Merge(ctx, &out, []segment.View{{Segment: open(t, data)}}); err != context.Canceled {
		t.Fatalf("%v", err)
	}
}

func TestManyMayReadAtOnce(t *testing.T) {
	data := sample(t, 400)
	want := dump(openFile(t, data), 1<<20)
	s := openFile(t, data)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			if got := dump(s, 1<<20); got != want {
				t.Error("one of several readers has read something else")
			}
		})
	}
	readers.Wait()
}

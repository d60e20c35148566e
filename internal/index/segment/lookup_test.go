package segment_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// TestTermsAreLookedUpTogetherAsOneByOne is a dictionary of many blocks, of which from a few to all terms are looked
// up together, and some that it does not have.
func TestTermsAreLookedUpTogetherAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 32, 33, 1000, 5000} {
		b := segment.NewBuilder()
		var terms []string
		for i := range n {
			terms = append(terms, fmt.Sprintf("key%x", r.IntN(20*n)))
			f, err := b.Field("k", segment.Spec{Postings: segment.Docs})
			if err != nil {
				t.Fatal(err)
			}
			f.Term([]byte(terms[i]))
			b.EndRoot(segment.Identity{Key: routing.Key(i), ID: fmt.Sprint(i)})
		}
		data, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		f := openFile(t, data).Field("k")
		slices.Sort(terms)
		terms = slices.Compact(terms)
		for _, share := range []float64{0, 0.001, 0.01, 0.1, 0.2, 0.5, 0.9, 1} {
			asked := []string{}
			for _, term := range terms {
				if r.Float64() < share {
					asked = append(asked, term)
				}
				if r.Float64() < share/2 {
					asked = append(asked, fmt.Sprintf("key%x", r.IntN(25*n)), fmt.Sprintf("%x", r.IntN(25*n)), fmt.Sprintf("z%x", r.IntN(n)))
				}
			}
			slices.Sort(asked)
			asked = slices.Compact(asked)
			sortedAs(t, f, asked)
			seeks(t, f, asked)
		}
	}
}

// seeks compares steps forwards with those from the start.
func seeks(t *testing.T, f *segment.Field, asked []string) {
	it := f.From(nil)
	for _, term := range asked {
		want := f.From([]byte(term))
		if it.Seek([]byte(term)); it.Valid() != want.Valid() || it.Valid() && it.Entry() != want.Entry() {
			t.Fatalf("seek %q: %v %q, want %v %q", term, it.Valid(), it.Term(), want.Valid(), want.Term())
		}
	}
}

package search

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// letters are few, so that texts meet by chance; of one, two, three and four bytes.
var letters = []rune("abAé€😀")

// anyExpression is a regular expression of literals, classes, choices and repetitions.
func anyExpression(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind = min(kind, 2)
	}
	part := func() string { return anyExpression(t, depth-1) }
	switch kind {
	case 0:
		return string(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 3).Draw(t, "text"))
	case 1:
		return "."
	case 2:
		return "[" + string(rapid.SampledFrom(letters).Draw(t, "one")) + string(rapid.SampledFrom(letters).Draw(t, "other")) + "]"
	case 3:
		return "(" + part() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{1,2}"}).Draw(t, "sign")
	case 4:
		return "(" + part() + "|" + part() + ")"
	case 5:
		return "(" + part() + "&" + part() + ")"
	}
	return part() + part()
}

// TestWalking: stepping through a dictionary by an automaton finds the terms that it accepts.
func TestWalking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 5).Draw(t, "text"))
		}
		words := rapid.SliceOfN(rapid.Custom(text), 1, 40).Draw(t, "words")
		f := dictionary(t, words)
		e := anyExpression(t, 3)
		w, err := automaton.Regexp(e, automaton.AllFlags, false, automaton.MaxEffort)
		if err != nil {
			t.Skip("too complex")
		}
		var got, want []string
		eachAccepted(f, w, func(term []byte, _ segment.Entry, _ int) bool {
			got = append(got, string(term))
			return true
		})
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			if w.Meets(word) {
				want = append(want, word)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", e, got, want)
		}
	})
}

// dictionary is a field with some terms.
func dictionary(t *rapid.T, words []string) *segment.Field {
	m, err := mapping.Parse([]byte(`{"properties":{"w":{"type":"keyword"}}}`), mapping.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for i, word := range words {
		source := fmt.Sprintf(`{"w":%q}`, word)
		if err := w.Add(fields.New(m, a), segment.Identity{ID: fmt.Sprint(i), SeqNo: int64(i)}, "", []byte(source)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s.Field("w")
}

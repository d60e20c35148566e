package highlight

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
)

// match is a place that a query found.
type match struct {
	start, end int    // units
	term       string // what is found more than once has the same
	often      int    // how many there are of it
}

// find finds what some queries want, by place.
func (t *Text) find(wanted []search.Wanted) (found []match) {
	t.each(wanted, func(i int32, term string, often int) {
		found = append(found, match{t.tokens[i].start, t.tokens[i].end, term, often})
	})
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), strings.Compare(a.term, b.term))
	})
	return found
}

// each yields the tokens that some queries want, with what they are counted as, and how
// many there are of that. A token may come several times.
func (t *Text) each(wanted []search.Wanted, yield func(i int32, term string, often int)) {
	terms := map[string]bool{} // what is wanted of several fields counts once
	var phrases []search.Phrase
	forms := 0
	for _, w := range wanted {
		for _, term := range w.Terms {
			at := t.by[string(term)]
			if len(at) == 0 || terms[string(term)] {
				continue
			}
			terms[string(term)] = true
			for _, i := range at {
				yield(i, string(term), len(at))
			}
		}
		for _, form := range w.Forms {
			t.form(form, formName(forms), yield)
			forms++
		}
		phrases = append(phrases, w.Phrases...)
	}
	t.phrases(phrases, yield)
}

// formName is a term that no text has.
func formName(n int) string { return string([]byte{0xff, byte(n >> 8), byte(n)}) }

// form finds the terms of a form, which count as one term.
func (t *Text) form(form search.Form, name string, yield func(int32, string, int)) {
	var found []int32
	for term, at := range t.by {
		if form([]byte(term)) {
			found = append(found, at...)
		}
	}
	for _, i := range found {
		yield(i, name, len(found))
	}
}

// phrases finds the words of phrases where these are; each place once.
func (t *Text) phrases(phrases []search.Phrase, yield func(int32, string, int)) {
	if len(phrases) == 0 {
		return
	}
	in := map[int32]bool{}
	for _, p := range phrases {
		t.near(p, func(tokens []int32) {
			for _, i := range tokens {
				in[i] = true
			}
		})
	}
	often := map[string]int{}
	for i := range in {
		often[t.tokens[i].term]++
	}
	for i := range in {
		term := t.tokens[i].term
		yield(i, term, often[term])
	}
}

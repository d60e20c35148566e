package highlight

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/search"
)

// match is a place that a query found.
type match struct {
	start, end int    // units
	term       string // what is found more than once has the same
	often      int    // how many there are of it
}

// Find finds what some queries want, by place.
func (t *Text) find(wanted []search.Wanted) (found []match) {
	for _, w := range wanted {
		for _, term := range w.Terms {
			at := t.by[string(term)]
			for _, i := range at {
				found = append(found, t.match(i, string(term), len(at)))
			}
		}
		found = t.phrases(found, w.Phrases)
		for n, form := range w.Forms {
			found = t.form(found, form, formName(n))
		}
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), strings.Compare(a.term, b.term))
	})
	return found
}

func (t *Text) match(i int32, term string, often int) match {
	return match{t.tokens[i].start, t.tokens[i].end, term, often}
}

// formName is a term that no text has.
func formName(n int) string { return string([]byte{0xff, byte(n >> 8), byte(n)}) }

// form finds the terms of a form, which count as one term.
func (t *Text) form(found []match, form search.Form, name string) []match {
	before := len(found)
	for term, at := range t.by {
		if !form([]byte(term)) {
			continue
		}
		for _, i := range at {
			found = append(found, t.match(i, name, 0))
		}
	}
	for i := range found[before:] {
		found[before+i].often = len(found) - before
	}
	return found
}

// phrases finds the words of phrases where these are; each place once.
func (t *Text) phrases(found []match, phrases []search.Phrase) []match {
	if len(phrases) == 0 {
		return found
	}
	in := map[int32]bool{}
	for _, p := range phrases {
		t.near(p, in)
	}
	for i := range in {
		term := t.tokens[i].term
		found = append(found, t.match(i, term, len(t.by[term])))
	}
	return found
}

package highlight

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
)

// near yields the tokens of all places where the words of a phrase are near each other, as
// Lucene's spans find them: in their order with at most slop positions between all of them
// when slop is 0, else in any order. They are valid during the call.
func (t *Text) near(p search.Phrase, yield func(tokens []int32)) {
	places := make([][]int32, len(p.Words)) // of each word: tokens, by position
	for i, w := range p.Words {
		for _, term := range w.Terms {
			places[i] = append(places[i], t.by[string(term)]...)
		}
		if len(places[i]) == 0 {
			return
		}
		slices.SortFunc(places[i], func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.tokens[a].position, t.tokens[b].position), cmp.Compare(a, b))
		})
	}
	first, last := p.Words[0].Position, p.Words[len(p.Words)-1].Position
	slop := p.Slop + max(0, last-first-len(p.Words)+1) // holes count as moves
	if p.Slop == 0 {
		t.ordered(places, slop, yield)
	} else {
		t.unordered(places, slop, yield)
	}
}

// ordered finds words one after the other.
func (t *Text) ordered(places [][]int32, slop int, yield func([]int32)) {
	at := make([]int, len(places))
	for ; at[0] < len(places[0]); at[0]++ {
		start := t.tokens[places[0][at[0]]].position
		end := start + 1
		for i := 1; i < len(places); i++ {
			for at[i] < len(places[i]) && t.tokens[places[i][at[i]]].position < end {
				at[i]++
			}
			if at[i] == len(places[i]) {
				return
			}
			end = t.tokens[places[i][at[i]]].position + 1
		}
		if end-start-len(places) <= slop {
			yield(standing(places, at))
		}
	}
}

// unordered finds words in any order: the first of those that are looked at goes on.
func (t *Text) unordered(places [][]int32, slop int, yield func([]int32)) {
	at := make([]int, len(places))
	position := func(i int) int { return t.tokens[places[i][at[i]]].position }
	for {
		least, greatest := 0, 0
		for i := range places {
			if position(i) < position(least) {
				least = i
			}
			if position(i) > position(greatest) {
				greatest = i
			}
		}
		if position(greatest)+1-position(least)-len(places) <= slop {
			yield(standing(places, at))
		}
		if at[least]++; at[least] == len(places[least]) {
			return
		}
	}
}

// standing are the tokens at some places.
func standing(places [][]int32, at []int) []int32 {
	tokens := make([]int32, len(places))
	for i := range places {
		tokens[i] = places[i][at[i]]
	}
	return tokens
}

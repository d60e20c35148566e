package highlight

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/reshelve/reshelve/internal/index/search"
)

// fragment is a part of a text with its tags.
type fragment struct {
	text  strings.Builder
	score int // how many different terms of the query it has
	found map[string]bool
}

// Plain are the fragments that the plain highlighter makes of texts of one value each:
// pieces of about the same size, the best of each value first. Simple cuts without regard
// to phrases. Terms count the same whatever their boost.
func Plain(texts []*Text, wanted []search.Wanted, s Style, simple bool) []string {
	most := max(s.Fragments, 1) // of a value
	var list []*fragment
	for _, t := range texts {
		p := plain{text: t, style: &s, simple: simple}
		p.cut(wanted)
		slices.SortStableFunc(p.list, func(a, b *fragment) int { return cmp.Compare(b.score, a.score) })
		for _, f := range p.list[:min(most, len(p.list))] {
			if f.score > 0 {
				list = append(list, f)
			}
		}
	}
	if s.ByScore {
		slices.SortStableFunc(list, func(a, b *fragment) int { return cmp.Compare(b.score, a.score) })
	}
	if s.Fragments > 0 || len(texts) < 2 {
		list = list[:min(most, len(list))]
	}
	fragments := make([]string, len(list))
	for i, f := range list {
		fragments[i] = f.text.String()
	}
	if len(fragments) == 0 && s.NoMatch > 0 && len(texts) > 0 {
		if end := texts[0].wholeTokens(s.NoMatch); end > 0 {
			fragments = append(fragments, string(utf16.Decode(texts[0].units[:end])))
		}
	}
	return fragments
}

// wholeTokens is the end of the last token that ends not behind a size.
func (t *Text) wholeTokens(size int) int {
	end := 0
	for _, one := range t.tokens {
		if one.end > size {
			break
		}
		if end = one.end; end == size {
			break
		}
	}
	return end
}

// plain is the cutting of one text. Tokens that overlap are a group: it is marked as far
// as those that were found go.
type plain struct {
	text   *Text
	style  *Style
	simple bool
	list   []*fragment

	from                   int // what comes next in the text
	pieces, position, wait int
}

// group is tokens that overlap.
type group struct {
	tokens    int
	end       int // of all tokens
	start, to int // of those that were found; of the first, if none was
	found     bool
}

func (p *plain) cut(wanted []search.Wanted) {
	found, ends := map[int32]bool{}, map[spanOf]int{}
	p.text.each(wanted, func(i int32, _ string, _ int) { found[i] = true })
	p.text.phraseEnds(wanted, ends)
	p.pieces, p.position, p.wait = 1, -1, -1
	current := p.begin()
	var g group
	last := -1
	for i := range p.text.tokens {
		t := &p.text.tokens[i]
		if g.tokens > 0 && t.start >= g.end {
			p.flush(current, &g)
			if p.fresh(t, t.position-last, ends) {
				current = p.begin()
			}
		}
		last = t.position
		g.add(t, found[int32(i)])
		if found[int32(i)] && !current.found[t.term] {
			current.found[t.term] = true
			current.score++
		}
	}
	if g.tokens > 0 {
		p.flush(current, &g)
	}
	p.append(current, len(p.text.units))
}

func (p *plain) begin() *fragment {
	f := &fragment{found: map[string]bool{}}
	p.list = append(p.list, f)
	return f
}

// manyTokens is how many tokens a group may have; Lucene leaves out what comes behind.
const manyTokens = 50

func (g *group) add(t *token, found bool) {
	switch {
	case g.tokens == manyTokens:
		return
	case g.tokens == 0:
		*g = group{end: t.end, start: t.start, to: t.end}
	case found && !g.found:
		g.start, g.to = t.start, t.end
	case found:
		g.start, g.to = min(g.start, t.start), max(g.to, t.end)
	}
	g.end, g.found = max(g.end, t.end), g.found || found
	g.tokens++
}

// append appends the text up to a place.
func (p *plain) append(f *fragment, to int) {
	if to > p.from {
		f.text.WriteString(p.style.encoded(p.text.units[p.from:to]))
		p.from = to
	}
}

// flush appends a group.
func (p *plain) flush(f *fragment, g *group) {
	p.append(f, g.start)
	if g.found && g.to > p.from {
		f.text.WriteString(p.style.Open)
		p.append(f, g.to)
		f.text.WriteString(p.style.Close)
	}
	p.append(f, g.to)
	g.tokens = 0
}

// fresh reports whether a token begins a new fragment. Positions are counted from the
// second token on, as Lucene does. Within a phrase none begins.
func (p *plain) fresh(t *token, step int, ends map[spanOf]int) bool {
	if p.style.Fragments == 0 {
		return false
	}
	size, length := p.style.Size, len(p.text.units)
	full := t.end >= mul(size, p.pieces)
	if p.simple {
		if full {
			p.pieces++
		}
		return full
	}
	p.position += step
	if p.wait != -1 && p.wait > p.position {
		return false
	}
	p.wait = -1
	if end, ok := ends[spanOf{t.term, p.position}]; ok {
		p.wait = end + 1
	}
	full = full && length-t.end >= size/2
	if full {
		p.pieces++
	}
	return full
}

func mul(size, pieces int) int {
	if size > math.MaxInt/pieces {
		return math.MaxInt
	}
	return size * pieces
}

// spanOf is a word of a phrase, and the position where the phrase begins.
type spanOf struct {
	term  string
	start int
}

// phraseEnds tells the last positions of the phrases that are there.
func (t *Text) phraseEnds(wanted []search.Wanted, ends map[spanOf]int) {
	for _, w := range wanted {
		for _, phrase := range w.Phrases {
			t.near(phrase, func(tokens []int32) {
				first, last := math.MaxInt, 0
				for _, i := range tokens {
					first, last = min(first, t.tokens[i].position), max(last, t.tokens[i].position)
				}
				for _, i := range tokens {
					span := spanOf{t.tokens[i].term, first}
					ends[span] = max(ends[span], last)
				}
			})
		}
	}
}

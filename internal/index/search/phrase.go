package search

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// phraseNode is the docs that have all words of a phrase; those that match have them at
// their places.
type phraseNode struct {
	*allNode
	words   []*wordPlaces
	slop    int
	scores  *bm25
	often   bool // how often it is there counts, not only whether
	lengths []byte
	sloppy  *sloppy
	all     [][]uint32 // the places of each word

	tried     segment.Doc // the doc that frequency is of
	any       bool        // tried counts
	frequency float32
}

// wordPlaces are the places of one word of a phrase: of any of its terms.
type wordPlaces struct {
	word
	terms  []*termNode
	offset int32
	doc    segment.Doc // that places are of
	any    bool        // doc counts
	places []uint32    // in the doc, ascending
}

// phrase makes the node of a phrase, for which scores may be nil.
func (r *reader) phrase(field string, words []word, slop int, scores *bm25) *phraseNode {
	f := r.view.Field(field)
	if f == nil || f.Spec().Postings != segment.Positions {
		return nil
	}
	p := &phraseNode{slop: slop, scores: scores, often: scores != nil}
	var nodes []node
	for _, w := range words {
		places := &wordPlaces{word: w, offset: int32(w.position)}
		var terms []node
		for _, term := range w.terms {
			if e, ok := f.Lookup(term); ok {
				t := newPlaces(f, e)
				places.terms, terms = append(places.terms, t), append(terms, t)
			}
		}
		n := newAny(terms, 1)
		if n == nil {
			return nil
		}
		p.words, nodes = append(p.words, places), append(nodes, n)
	}
	if scores != nil {
		p.lengths = f.Lengths()
	}
	p.allNode = meetAll(nodes)
	if p.doc() == end {
		return nil
	}
	p.limit = p.bound
	if slop > 0 {
		p.sloppy = newSloppy(p.words, slop)
	} else {
		slices.SortStableFunc(p.words, func(a, b *wordPlaces) int { return cmp.Compare(a.cost(), b.cost()) })
	}
	return p
}

// newPlaces makes a node of a term whose places are asked for.
func newPlaces(f *segment.Field, e segment.Entry) *termNode {
	t := &termNode{n: int(e.Docs), postings: f.Postings(e, segment.Positions, nil)}
	t.current = t.postings.Next()
	return t
}

func (w *wordPlaces) cost() int {
	n := 0
	for _, t := range w.terms {
		n += t.n
	}
	return n
}

// at gives the places in a doc, on which the terms, or some of them, stand.
func (w *wordPlaces) at(doc segment.Doc) []uint32 {
	if w.any && w.doc == doc {
		return w.places
	}
	w.places, w.doc, w.any = w.places[:0], doc, true
	if len(w.terms) == 1 {
		w.places = w.terms[0].positions(w.places)
		return w.places
	}
	for _, t := range w.terms {
		if at(t, doc) {
			w.places = t.positions(w.places)
		}
	}
	slices.Sort(w.places)
	return w.places
}

func (p *phraseNode) exact() bool { return false }

func (p *phraseNode) matches() bool {
	if d := p.doc(); !p.any || d != p.tried {
		p.tried, p.any = d, true
		if p.sloppy != nil {
			p.frequency = p.sloppy.frequency(d, p.often)
		} else {
			p.frequency = p.count(d)
		}
	}
	return p.frequency > 0
}

// count is how often the words stand at their places in a doc; 1 is enough when it does
// not count.
func (p *phraseNode) count(doc segment.Doc) float32 {
	if len(p.words) == 2 {
		return p.pairs(p.words[0].at(doc), p.words[1].at(doc), int64(p.words[1].offset-p.words[0].offset))
	}
	p.all = p.all[:0]
	for _, w := range p.words {
		p.all = append(p.all, w.at(doc))
	}
	n, others, first := 0, p.all[1:], p.words[0].offset
again:
	for _, place := range p.all[0] {
		for i, places := range others {
			wanted := int64(place) + int64(p.words[i+1].offset-first)
			for len(places) > 0 && int64(places[0]) < wanted {
				places = places[1:]
			}
			others[i] = places
			if len(places) == 0 {
				break again
			}
			if int64(places[0]) != wanted {
				continue again
			}
		}
		if n++; !p.often {
			break
		}
	}
	return float32(n)
}

// pairs is count for two words, of which the second stands so far behind the first.
func (p *phraseNode) pairs(first, second []uint32, apart int64) float32 {
	n, j := 0, 0
	for _, place := range first {
		wanted := int64(place) + apart
		for j < len(second) && int64(second[j]) < wanted {
			j++
		}
		if j == len(second) {
			break
		}
		if int64(second[j]) == wanted {
			if n++; !p.often {
				break
			}
		}
	}
	return float32(n)
}

func (p *phraseNode) score() float32 {
	if p.scores == nil {
		return 0
	}
	length := byte(1)
	if p.lengths != nil {
		length = p.lengths[p.doc()]
	}
	return p.scores.score(p.frequency, length)
}

// bound is that of the word that gives least: a phrase is there no more often than its
// words. With slop it may be.
func (p *phraseNode) bound(from segment.Doc) (segment.Doc, float32) {
	if p.scores == nil {
		return end, 0
	}
	last, most := end, p.scores.weight
	if p.slop > 0 {
		return last, most
	}
	for _, w := range p.words {
		if len(w.terms) > 1 {
			continue
		}
		t := w.terms[0]
		d := max(from, t.doc())
		if d == end {
			return end, 0
		}
		l, impacts := t.postings.Bound(d)
		last, most = min(last, l), min(most, p.scores.most(impacts))
	}
	return last, most
}

func (p *phraseNode) ceiling() float32 {
	if p.scores == nil {
		return 0
	}
	return p.scores.weight
}

func (p *phraseNode) demand(least float32) {
	if p.slop == 0 {
		p.allNode.demand(least)
	}
}

// phrasesNode is several phrases of a field that count as one.
type phrasesNode struct {
	*anyNode
	scores  *bm25
	lengths []byte
}

// phrases makes the node of several phrases.
func (r *reader) phrases(p *phrasesPlan, scores *bm25) node {
	var ways []node
	for _, words := range p.ways {
		if n := r.phrase(p.field, words, p.slop, nil); n != nil {
			n.often = scores != nil
			ways = append(ways, n)
		}
	}
	if len(ways) == 0 {
		return nil
	}
	n := &phrasesNode{anyNode: &anyNode{need: 1}, scores: scores}
	n.fill(ways)
	n.settle()
	if scores != nil {
		n.lengths = r.view.Field(p.field).Lengths()
	}
	return n
}

func (p *phrasesNode) score() float32 {
	if p.scores == nil {
		return 0
	}
	p.try()
	sum, length := float32(0), byte(1)
	for _, n := range p.found {
		sum += n.(*phraseNode).frequency
	}
	if p.lengths != nil {
		length = p.lengths[p.current]
	}
	return p.scores.score(sum, length)
}

func (p *phrasesNode) bound(segment.Doc) (segment.Doc, float32) {
	if p.scores == nil {
		return end, 0
	}
	return end, p.scores.weight
}

func (p *phrasesNode) ceiling() float32 {
	_, most := p.bound(0)
	return most
}

func (p *phrasesNode) demand(float32) {}

package search

import (
	"github.com/reshelve/reshelve/internal/index/segment"
)

// termNode is one term.
type termNode struct {
	sure
	postings *segment.PostingsIterator
	current  segment.Doc
	docs     []segment.Doc // of the block, behind the one that the postings were moved to; nil: none were asked for
	i        int           // the current one of docs
	n        int           // docs in all

	scores  *bm25 // nil: none
	lengths []byte
	last    segment.Doc // of the block whose greatest score is most; before everything when it is not known
	most    float32
	known   bool
}

// newTerm makes a node of a term of a field; reuse may be nil.
func newTerm(f *segment.Field, e segment.Entry, scores *bm25, reuse *segment.PostingsIterator) *termNode {
	t := &termNode{scores: scores, n: int(e.Docs)}
	with := segment.Docs
	if scores != nil {
		with, t.lengths = segment.Frequencies, f.Lengths()
	}
	t.postings = f.Postings(e, with, reuse)
	t.current = t.postings.Next()
	return t
}

func (t *termNode) doc() segment.Doc { return t.current }
func (t *termNode) cost() int        { return t.n }

func (t *termNode) next() segment.Doc {
	if t.i++; t.i >= len(t.docs) {
		return t.block()
	}
	t.current = t.docs[t.i]
	return t.current
}

// block goes to the next block, or to what is left of it.
func (t *termNode) block() segment.Doc {
	t.docs = t.postings.Rest()
	t.i, t.current = 0, end
	if len(t.docs) > 0 {
		t.current = t.docs[0]
	}
	return t.current
}

func (t *termNode) advance(to segment.Doc) segment.Doc {
	if t.docs == nil && t.block() >= to {
		return t.current
	}
	if n := len(t.docs); n > 0 && t.docs[n-1] >= to {
		for t.i++; t.docs[t.i] < to; t.i++ {
		}
		t.current = t.docs[t.i]
		return t.current
	}
	t.docs, t.current = nil, t.postings.Advance(to)
	return t.current
}

func (t *termNode) frequency() uint32 {
	if t.docs == nil {
		return t.postings.Frequency()
	}
	if f := t.postings.Frequencies(); f != nil {
		return f[t.i]
	}
	return 1
}

// frequencies are those of docs from the current one on; nil: they do not count, or each is 1.
func (t *termNode) frequencies() []uint32 {
	if t.scores == nil {
		return nil
	}
	if f := t.postings.Frequencies(); f != nil {
		return f[t.i:]
	}
	return nil
}

// positions appends where the term is in the current doc.
func (t *termNode) positions(dst []uint32) []uint32 {
	if t.docs == nil {
		return t.postings.Positions(dst)
	}
	return t.postings.PositionsAt(dst, t.i)
}

func (t *termNode) score() float32 {
	if t.scores == nil {
		return 0
	}
	return t.scores.score(float32(t.frequency()), t.length(t.current))
}

func (t *termNode) length(doc segment.Doc) byte {
	if t.lengths == nil {
		return 1
	}
	return t.lengths[doc]
}

func (t *termNode) bound(from segment.Doc) (segment.Doc, float32) {
	if t.scores == nil {
		return end, 0
	}
	if !t.known || from > t.last {
		last, impacts := t.postings.Bound(from)
		t.last, t.most, t.known = last, t.scores.most(impacts), true
	}
	return t.last, t.most
}

func (t *termNode) ceiling() float32 {
	if t.scores == nil {
		return 0
	}
	t.known = false // Impacts and Bound share their result
	return t.scores.most(t.postings.Impacts())
}

func (t *termNode) demand(float32) {}

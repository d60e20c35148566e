package search

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// batch is how many docs are handed on at once.
const batch = 512

// sink takes the docs of one view that are found, in their order, and hands them on: to the
// collectors, and what the post filter leaves to the ranking.
type sink struct {
	ctx    context.Context
	tally  *tally
	limit  segment.Doc   // behind the last doc
	accept *segment.Bits // the docs that may be hits; nil: all
	rank   ranking       // nil: no hits are wanted
	slice  *slicer       // nil: all docs
	post   node          // nil unless filtered
	filter bool          // by post
	least  *float32      // min_score; nil: none
	failed *failure      // of the nodes
	leaves []collecting

	*scratch
	n     int
	ticks int

	skip    bool // docs that cannot be hits need not be told
	counted bool // the total has the docs of this view
	stop    bool // nothing is needed any more
	demand  float32
}

// scratch is what sinks and windows write into, one view after the other. What windows have
// is clear between them.
type scratch struct {
	docs      [batch]segment.Doc
	scores    [batch]float32
	sums      [window]float64
	met       [window / 64]uint64
	iterators iterators
}

// scratches are those that no search uses: one is larger than all else that a small search allocates.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

func takeScratch() *scratch { return scratches.Get().(*scratch) }

// release gives it back, clear, and without the segments that its iterators read. The caller uses it no more.
func (s *scratch) release() {
	clear(s.sums[:])
	clear(s.met[:])
	s.iterators = iterators{}
	scratches.Put(s)
}

// iterators are iterators of postings that are used again for each view. A nil one holds none.
type iterators struct {
	all  []*segment.PostingsIterator
	used int
}

// take is an iterator that no node of the current view uses; nil: the caller makes its own.
func (s *iterators) take() *segment.PostingsIterator {
	if s == nil {
		return nil
	}
	if s.used == len(s.all) {
		s.all = append(s.all, new(segment.PostingsIterator))
	}
	s.used++
	return s.all[s.used-1]
}

// collecting is a collector in a view.
type collecting struct {
	leaf   Leaf
	all    DocsLeaf // leaf, when it takes many docs at once
	scored bool
}

// ranking keeps the best docs.
type ranking interface {
	// begin is called before the docs of a view.
	begin(number int, v *visited) error
	// take takes docs that are found, with their scores.
	take(docs []segment.Doc, scores []float32) error
	// least is the least score that a doc must have to be kept; none when scores do not
	// decide, or all are kept.
	least() float32
	// fork is an empty ranking for another goroutine; join adds what it has kept to this one.
	fork() ranking
	// join adds what a fork has kept. Only hits may be called afterwards.
	join(other ranking)
	// hits are the docs that were kept, the best first.
	hits() ([]Hit, error)
}

// tally counts hits. It is safe for concurrent use.
type tally struct {
	total atomic.Int64
	limit int64 // count exactly up to it; -1: all
}

// enough reports whether more need not be counted.
func (t *tally) enough() bool { return t.limit == 0 || t.limit > 0 && t.total.Load() > t.limit }

// add tells one doc.
func (k *sink) add(doc segment.Doc, score float32) error {
	k.docs[k.n], k.scores[k.n] = doc, score
	if k.n++; k.n == batch {
		return k.flush()
	}
	return nil
}

// flush hands on what was added. Afterwards stop and demand count.
func (k *sink) flush() error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	if err := k.failed.get(); err != nil {
		return err
	}
	docs, scores := k.docs[:k.n], k.scores[:k.n]
	k.n = 0
	if k.slice != nil {
		docs, scores = keep(docs, scores, func(i int) bool { return k.slice.has(docs[i]) })
	}
	if k.least != nil {
		docs, scores = keep(docs, scores, func(i int) bool { return scores[i] >= *k.least })
	}
	if len(docs) > 0 {
		if err := k.collect(docs, scores); err != nil {
			return err
		}
	}
	if k.filter {
		docs, scores = keep(docs, scores, func(i int) bool { return k.post != nil && has(k.post, docs[i]) })
	}
	if !k.counted {
		k.tally.total.Add(int64(len(docs)))
	}
	if k.rank != nil && len(docs) > 0 {
		if err := k.rank.take(docs, scores); err != nil {
			return err
		}
	}
	k.decide()
	return nil
}

// decide works out what is still needed.
func (k *sink) decide() {
	if len(k.leaves) > 0 || !k.counted && !k.tally.enough() {
		return
	}
	if k.rank == nil {
		k.stop = true
		return
	}
	k.skip, k.demand = true, k.rank.least()
}

// keep keeps some docs in their place.
func keep(docs []segment.Doc, scores []float32, wanted func(int) bool) ([]segment.Doc, []float32) {
	n := 0
	for i := range docs {
		if wanted(i) {
			docs[n], scores[n] = docs[i], scores[i]
			n++
		}
	}
	return docs[:n], scores[:n]
}

// collect tells the collectors.
func (k *sink) collect(docs []segment.Doc, scores []float32) error {
	for _, c := range k.leaves {
		if c.all != nil && !c.scored {
			if err := c.all.CollectDocs(docs); err != nil {
				return err
			}
			continue
		}
		for i, doc := range docs {
			var score func() float32
			if c.scored {
				score = func() float32 { return scores[i] }
			}
			if err := c.leaf.Collect(doc, score); err != nil {
				return err
			}
		}
	}
	return nil
}

package search

import (
	"context"

	"github.com/reshelve/reshelve/segment"
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
	docs   [batch]segment.Doc
	scores [batch]float32
	sums   [window]float64
	met    [window / 64]uint64
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
	// hits are the docs that were kept, the best first.
	hits() ([]Hit, error)
}

// tally counts hits.
type tally struct {
	total int64
	limit int64 // count exactly up to it; -1: all
}

// enough reports whether more need not be counted.
func (t *tally) enough() bool { return t.limit == 0 || t.limit > 0 && t.total > t.limit }

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
	if k.failed.err != nil {
		return k.failed.err
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
		k.tally.total += int64(len(docs))
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

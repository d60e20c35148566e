package search

import "github.com/reshelve/reshelve/internal/index/segment"

// Best keeps the best of the docs that it is given, in the order of a search: what
// collectors that keep hits of their own need (top_hits). Not safe for concurrent use.
type Best struct {
	outer   *Context // the search's own
	inner   *Context
	ranking ranking
	number  int
	at      Place
	total   int64
	highest float32
	scored  bool
}

// Best keeps size docs, by the given keys; without keys by score. Scored says that the docs
// come with scores. Around is the nested field whose objects the docs are; "": documents.
func (c *Context) Best(keys []Sort, size int, scored bool, around string) (*Best, error) {
	r := *c.request
	r.Sort, r.Size, r.After = keys, size, nil
	inner := *c
	inner.request, inner.around = &r, around
	b := &Best{outer: c, inner: &inner, scored: scored}
	if len(keys) == 0 {
		b.ranking, b.scored = newTopScores(size), true
		return b, nil
	}
	var err error
	b.ranking, err = inner.sorted()
	return b, err
}

// Take gives it docs of a place, in their order, with their scores: zeros when none are
// needed.
func (b *Best) Take(at Place, docs []segment.Doc, scores []float32) error {
	if at != b.at {
		if b.at.Context != nil {
			b.number++
		}
		b.at = at
		if err := b.ranking.begin(b.number, at.visited); err != nil {
			return err
		}
	}
	for _, score := range scores {
		b.highest = max(b.highest, score)
	}
	b.total += int64(len(docs))
	return b.ranking.take(docs, scores)
}

// Result is what was kept, the best first. Total is exact.
func (b *Best) Result() (Result, error) {
	hits, err := b.ranking.hits()
	if names := b.outer.named(); err == nil && names != nil {
		err = names.tell(hits)
	}
	r := Result{Total: b.total, Hits: hits, Scored: b.scored}
	if b.scored && len(hits) > 0 {
		r.MaxScore = &b.highest
	}
	return r, err
}

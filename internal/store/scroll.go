package store

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/index/search"
)

// scroll is a search that is read page by page, in readers that stay as they are.
type scroll struct {
	mu      sync.Mutex // one page at a time
	request search.Request
	keys    int      // of the order that the client asked for
	parts   [][]part // that pages are looked for in: without those that the first failed in
	whole   bool
	best    *float32 // score of all; nil: of an order in which it is not known
	// state is what the caller wants back with each page.
	state any
}

// Scroll searches, and keeps the readers and its place for the next page: for keep, from
// each page on. State is given back with every page.
//
// Where the first page fails nothing is kept: the caller has no id to close.
func (s *Store) Scroll(ctx context.Context, where Where, r search.Request, keep time.Duration, state any) (first *Found, err error) {
	var missed []Failure
	parts, err := s.visitAgain(ctx, where.Expression, where.Routing, &missed)
	if err != nil {
		return nil, err
	}
	if len(r.Sort) == 1 && r.Sort[0].Field == "_score" && r.Sort[0].Descending {
		r.Sort = nil
	}
	sc := &scroll{request: r, keys: len(r.Sort), state: state, parts: parts, whole: where.Whole}
	if len(r.Sort) == 0 {
		sc.request.Sort = []search.Sort{{Field: "_score", Descending: true}}
	}
	sc.request.Sort = byDoc(sc.request.Sort)
	p, err := s.pin(parts, keep, sc)
	if err != nil {
		return nil, err
	}
	defer func() {
		if first == nil { // also when it panics
			_, ended := s.ClosePoints([]string{p.ID}, true)
			err = joined(err, ended)
		}
	}()
	if _, err := s.enter(p.ID, 0, true); err != nil {
		return nil, err
	}
	return s.page(ctx, p, missed...)
}

// NextPage is the next page of a scroll. Aggregations come with the first alone.
func (s *Store) NextPage(ctx context.Context, id string, keep time.Duration) (*Found, error) {
	p, err := s.enter(id, keep, true)
	if err != nil {
		return nil, err
	}
	return s.page(ctx, p)
}

func (s *Store) page(ctx context.Context, p *Point, missed ...Failure) (*Found, error) {
	sc := p.scroll
	sc.mu.Lock()
	defer sc.mu.Unlock()
	f, err := s.findIn(ctx, sc.parts, p, sc.request, sc.whole, missed...)
	if err != nil {
		return nil, err
	}
	f.ScrollState, f.Keys, f.Scroll = sc.state, sc.keys, p.ID
	if sc.keys == 0 && sc.request.After == nil && len(f.Hits) > 0 { // best first
		sc.best = &f.Hits[0].Score
	}
	f.MaxScore = cmp.Or(f.MaxScore, sc.best)
	sc.request.Collectors, sc.parts = nil, f.parts
	if n := len(f.Hits); n > 0 {
		sc.request.After = f.Hits[n-1].Sort
	}
	return f, nil
}

// byDoc is an order in which no two documents are the same: pages go on from the values of
// their last hit.
func byDoc(keys []search.Sort) []search.Sort {
	if n := len(keys); n > 0 && keys[n-1].Field == "_doc" {
		return keys
	}
	return append(slices.Clone(keys), search.Sort{Field: "_doc"})
}

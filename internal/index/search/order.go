package search

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// sortedHits keeps the best docs by the keys of an order. Within a view docs are compared by
// ranks: numbers that are in the order of a key's values, for terms twice their ordinals,
// so that a term of another view has a rank between two. What is kept has the values.
// Ties are broken by (index number, order key, id).
type sortedHits struct {
	keys  []*orderKey
	size  int
	after *placed // only what comes behind it; nil: all

	views     []*visited
	readers   []keyReader // of the keys, in the current view
	beyond    []int64     // the ranks of after in it
	kept      []placed    // a heap when there are size of them, the worst on top
	full      bool
	bound     []int64  // the ranks of the worst in the current view
	first     []int64  // of the first key
	orderKeys []uint64 // of the docs of the current view
	scored    bool     // best is needed
	best      float32  // the greatest score of all
}

// placed is a doc in an order.
type placed struct {
	values []value
	score  float32
	doc    segment.Doc
	view   int // the number of its visit
	place      // where ties put it
}

// place is where a document stands when all else is equal.
type place struct {
	number uint32 // of the index
	key    routing.Key
	id     string // read when it is needed; of search_after it is known
	known  bool
}

// value is the value of a doc under one key: in the form in which values of all indices
// are compared, and as it is told.
type value struct {
	n    int64
	text []byte
	null bool
	told int64 // n before it was made comparable with other types
}

// keyReader reads the values of one key in one view.
type keyReader interface {
	// rank is the rank of a doc, ascending.
	rank(doc segment.Doc, score float32) int64
	// rankOf is the rank that a value of any view has among those of this one.
	rankOf(v *value) int64
	// value is the value of a doc.
	value(doc segment.Doc, score float32) value
}

func (s *sortedHits) fork() ranking {
	o := &sortedHits{keys: s.keys, size: s.size, scored: s.scored}
	if s.after != nil {
		after := *s.after
		o.after = &after
	}
	return o
}

func (s *sortedHits) join(other ranking) {
	o := other.(*sortedHits)
	for _, p := range o.kept {
		p.view += len(s.views)
		s.kept = append(s.kept, p)
	}
	s.views, s.best = append(s.views, o.views...), max(s.best, o.best)
}

// begin is for ranking.
func (s *sortedHits) begin(_ int, v *visited) error {
	s.views, s.orderKeys = append(s.views, v), v.view.Keys()
	s.readers = s.readers[:0]
	for _, key := range s.keys {
		r, err := key.in(v)
		if err != nil {
			return err
		}
		s.readers = append(s.readers, r)
	}
	if s.after != nil {
		s.beyond = s.ranksOf(s.beyond[:0], s.after)
	}
	if s.full {
		s.bound = s.ranksOf(s.bound[:0], &s.kept[0])
	}
	return nil
}

// ranksOf are the ranks of a doc of any view in this one, by which a lesser is earlier.
func (s *sortedHits) ranksOf(dst []int64, p *placed) []int64 {
	for i, r := range s.readers {
		rank := int64(0)
		if s.keys[i].kind == byPlace {
			rank = s.placeRank(&p.place)
		} else {
			rank = r.rankOf(&p.values[i])
		}
		dst = append(dst, s.keys[i].turn(rank))
	}
	return dst
}

func (s *sortedHits) least() float32 {
	if s.full && s.keys[0].kind == byScore && s.keys[0].Descending {
		return s.kept[0].score
	}
	return none
}

func (s *sortedHits) take(docs []segment.Doc, scores []float32) error {
	if s.scored {
		s.best = max(s.best, slices.Max(scores))
	}
	lead := s.leads(docs, scores)
	least, bound := s.limits()
	for i, rank := range lead {
		if rank > bound || rank < least {
			continue
		}
		if s.after != nil && s.compare(docs[i], scores[i], rank, s.after, s.beyond, false) <= 0 {
			continue
		}
		if s.full && s.compare(docs[i], scores[i], rank, &s.kept[0], s.bound, true) >= 0 {
			continue
		}
		if s.keep(docs[i], scores[i]); s.full {
			least, bound = s.limits()
		}
	}
	return nil
}

// limits are the least and the greatest rank under the first key of docs that may be kept.
func (s *sortedHits) limits() (least, greatest int64) {
	least, greatest = math.MinInt64, math.MaxInt64
	if s.after != nil {
		least = s.beyond[0]
	}
	if s.full {
		greatest = s.bound[0]
	}
	return least, greatest
}

// leads are the ranks of docs under the first key.
func (s *sortedHits) leads(docs []segment.Doc, scores []float32) []int64 {
	s.first = s.first[:0]
	if s.keys[0].kind == byPlace {
		for _, doc := range docs {
			s.first = append(s.first, s.keyRank(routing.Key(s.orderKeys[doc])))
		}
	} else {
		s.first = readRanks(s.readers[0], s.first, docs, scores)
	}
	if s.keys[0].Descending {
		for i, rank := range s.first {
			s.first[i] = ^rank
		}
	}
	return s.first
}

// keyRank is an order key as a rank.
func (s *sortedHits) keyRank(key routing.Key) int64 { return int64(key ^ 1<<63) }

// placeRank is the rank of a place among those of the current view, as far as its index and
// its key tell it.
func (s *sortedHits) placeRank(at *place) int64 {
	switch number := s.views[len(s.views)-1].number; {
	case at.number < number:
		return math.MinInt64
	case at.number > number:
		return math.MaxInt64
	}
	return s.keyRank(at.key)
}

// manyRanks is a keyReader that reads the ranks of many docs faster than one by one.
type manyRanks interface {
	ranks(dst []int64, docs []segment.Doc) []int64
}

func readRanks(r keyReader, dst []int64, docs []segment.Doc, scores []float32) []int64 {
	if m, ok := r.(manyRanks); ok {
		return m.ranks(dst, docs)
	}
	for i, doc := range docs {
		dst = append(dst, r.rank(doc, scores[i]))
	}
	return dst
}

// compare orders a doc of the current view, whose first rank is known, and one whose ranks
// are given. With ties, no two are the same.
func (s *sortedHits) compare(doc segment.Doc, score float32, lead int64, other *placed, ranks []int64, ties bool) int {
	for i, key := range s.keys {
		order := 0
		switch {
		case key.kind == byPlace:
			if order = s.comparePlace(doc, &other.place, other); ties { // objects of one document
				order = cmp.Or(order, cmp.Compare(doc, other.doc))
			}
			if key.Descending {
				order = -order
			}
		case i == 0:
			order = cmp.Compare(lead, ranks[0])
		default:
			order = cmp.Compare(key.turn(s.readers[i].rank(doc, score)), ranks[i])
		}
		if order != 0 {
			return order
		}
	}
	if !ties {
		return 0
	}
	return cmp.Or(s.comparePlace(doc, &other.place, other), cmp.Compare(doc, other.doc))
}

// comparePlace orders a doc of the current view and another one by where they stand.
func (s *sortedHits) comparePlace(doc segment.Doc, at *place, other *placed) int {
	v := s.views[len(s.views)-1]
	if order := cmp.Compare(v.number, at.number); order != 0 {
		return order
	}
	if order := cmp.Compare(v.view.Key(doc), at.key); order != 0 {
		return order
	}
	return strings.Compare(v.view.ID(doc), s.idOf(other))
}

func (s *sortedHits) idOf(p *placed) string {
	if !p.known {
		p.id, p.known = s.views[p.view].view.ID(p.doc), true
	}
	return p.id
}

// keep takes a doc of the current view, which is better than the worst.
func (s *sortedHits) keep(doc segment.Doc, score float32) {
	at := len(s.views) - 1
	v := s.views[at]
	p := placed{score: score, doc: doc, view: at, place: place{number: v.number, key: v.view.Key(doc)}}
	if s.full {
		p.values = s.kept[0].values[:0]
	}
	for _, r := range s.readers {
		p.values = append(p.values, r.value(doc, score))
	}
	switch {
	case s.full:
		s.kept[0] = p
		s.down(0)
	default:
		if s.kept = append(s.kept, p); len(s.kept) < s.size {
			return
		}
		s.full = true
		for i := len(s.kept)/2 - 1; i >= 0; i-- {
			s.down(i)
		}
	}
	s.bound = s.ranksOf(s.bound[:0], &s.kept[0])
}

// comparePlaced orders two that were kept.
func (s *sortedHits) comparePlaced(a, b *placed) int {
	for i, key := range s.keys {
		order := 0
		if key.kind == byPlace {
			order = s.compareTies(a, b)
		} else {
			order = key.compare(&a.values[i], &b.values[i])
		}
		if key.Descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return s.compareTies(a, b)
}

func (s *sortedHits) compareTies(a, b *placed) int {
	if order := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.key, b.key)); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(s.idOf(a), s.idOf(b)), cmp.Compare(a.doc, b.doc))
}

// down restores the heap below i.
func (s *sortedHits) down(i int) {
	h := s.kept
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if s.comparePlaced(&h[child], &h[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

func (s *sortedHits) hits() ([]Hit, error) {
	slices.SortFunc(s.kept, func(a, b placed) int { return s.comparePlaced(&a, &b) })
	s.kept = s.kept[:min(s.size, len(s.kept))]
	hits := make([]Hit, 0, len(s.kept))
	for i := range s.kept {
		p := &s.kept[i]
		v := s.views[p.view]
		h := v.hit(p.doc)
		h.Score = p.score
		for i, key := range s.keys {
			h.Sort = append(h.Sort, key.told(&p.values[i], v, &h))
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// compare orders two values of a key, ascending.
func (k *orderKey) compare(a, b *value) int {
	switch {
	case a.null || b.null:
		return cmp.Compare(k.nullRank(a), k.nullRank(b))
	case k.kind == byTerm:
		return bytes.Compare(a.text, b.text)
	}
	return cmp.Compare(a.n, b.n)
}

// nullRank is where a value stands beside one that may be missing.
func (k *orderKey) nullRank(v *value) int64 {
	if v.null {
		return k.nulls()
	}
	return 0
}

// nulls is the rank of docs without a value: before all or behind all, whatever the
// direction.
func (k *orderKey) nulls() int64 {
	if k.first != k.Descending {
		return math.MinInt64
	}
	return math.MaxInt64
}

// turn makes ranks fall with what is later.
func (k *orderKey) turn(rank int64) int64 {
	if k.Descending {
		return ^rank
	}
	return rank
}

// mark is how the place of a document is told: "index number/order key/id".
func (p *place) mark() string { return fmt.Sprintf("%d/%s/%s", p.number, p.key, p.id) }

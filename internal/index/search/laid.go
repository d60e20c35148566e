package search

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"weak"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Pages of all documents in the order of their keys, as scrolls and points in time read
// them, and the first page of a search for everything, whose ties keys break: a page costs
// what is on it. Keys are no order of the docs of a segment, so a span of them is laid out
// once, and the pages in it are read from there.

// keyed is a ranking that may keep the first docs by key.
type keyed interface {
	// wanted is what is wanted of the docs of a view when all have the same score; nil when
	// they are not ordered by their keys.
	wanted(v *visited) *wantedKeys
}

// wantedKeys are the least keys of a view behind a place.
type wantedKeys struct {
	behind *place // nil: from the start
	last   uint64 // what comes behind it is not kept any more
	none   bool   // nothing of the view is
	size   int
}

func (t *topScores) wanted(*visited) *wantedKeys {
	return &wantedKeys{size: t.size, last: math.MaxUint64}
}

func (s *sortedHits) wanted(v *visited) *wantedKeys {
	if s.keys[0].kind != byPlace || s.keys[0].Descending {
		return nil
	}
	w := &wantedKeys{size: s.size, last: math.MaxUint64}
	if s.full {
		switch worst := &s.kept[0]; {
		case v.number == worst.number:
			w.last = uint64(worst.key)
		case v.number > worst.number:
			w.none = true
		}
	}
	if s.after != nil {
		w.none = w.none || v.number < s.after.number
		if v.number == s.after.number {
			w.behind = &s.after.place
		}
	}
	return w
}

// slicesLaid is in how many slices at most pages are read from spans: each meets the docs of
// all others on its way.
const slicesLaid = 64

// laidSome is how many docs a view must have for spans to be worth their while.
const laidSome = 4096

// byKey takes the page of a view from spans of its keys when a plan finds all of it; false:
// that cannot be, and nothing was taken.
func (k *sink) byKey(p plan, v *visited, scored bool) (done bool, err error) {
	score, all := ofAll(p)
	rank, is := k.rank.(keyed)
	if !all || !is || v.view.Docs() < laidSome || len(k.leaves) > 0 || k.filter || k.least != nil || k.slice != nil && k.slice.max > slicesLaid {
		return false, nil
	}
	if !scored {
		score = 0
	}
	w := rank.wanted(v)
	if w == nil {
		return false, nil
	}
	if !w.none {
		docs, ok := k.page(v, w)
		if !ok {
			return false, nil
		}
		slices.Sort(docs)
		for i := range k.scores {
			k.scores[i] = score
		}
		for some := range slices.Chunk(docs, batch) {
			if err := k.rank.take(some, k.scores[:len(some)]); err != nil {
				return false, err
			}
		}
	}
	k.tally.total.Add(k.shown(v.view))
	return true, nil
}

// shown is how many docs of a view a match_all finds: those of the slice are counted
// while the total is wanted.
func (k *sink) shown(v segment.View) (n int64) {
	switch {
	case k.slice == nil && k.accept == nil:
		return int64(v.Docs())
	case k.slice == nil:
		return int64(k.accept.Count())
	}
	if k.tally.enough() {
		return 0
	}
	for doc := range segment.Doc(v.Docs()) {
		if (k.accept == nil || k.accept.Has(doc)) && k.slice.has(doc) {
			n++
		}
	}
	return n
}

// page are at least so many accepted docs by their keys, without those of a place that it is
// behind, and all that have the key of the last one; or all that are left. False: too few are
// accepted, or too many have the same key.
func (k *sink) page(v *visited, w *wantedKeys) (docs []segment.Doc, ok bool) {
	behind, size := w.behind, w.size
	from, to, counted, last, parts := uint64(v.within.From), uint64(v.within.To), 0, uint64(0), 1
	if k.slice != nil {
		parts = int(k.slice.max) // of about as many docs each
	}
	if behind != nil {
		from = max(from, uint64(behind.key))
	}
	end := min(to, w.last)
	if from > end {
		return nil, true
	}
	for range 2 + size*parts/spanMost {
		span := spans.of(v.view.Segment, from, to, size*parts)
		if span == nil {
			return nil, false
		}
		at, _ := slices.BinarySearchFunc(span.docs, from, func(d keyedDoc, key uint64) int { return cmp.Compare(d.key, key) })
		for _, d := range span.docs[at:] {
			if counted >= size && d.key != last || d.key > w.last {
				return docs, true
			}
			if k.accept != nil && !k.accept.Has(d.doc) || k.slice != nil && !k.slice.has(d.doc) {
				continue
			}
			if docs, last = append(docs, d.doc), d.key; behind == nil || d.key != uint64(behind.key) {
				counted++
			}
		}
		if counted >= size || span.to >= end {
			return docs, true
		}
		from = span.to + 1
	}
	return nil, false
}

// span is the docs of a segment whose keys lie from one on up to another, by key.
type span struct {
	segment  weak.Pointer[segment.Segment]
	from, to uint64
	docs     []keyedDoc
}

// cost is how many docs a span counts for.
func (s *span) cost() int { return max(len(s.docs), spanLeast) }

type keyedDoc struct {
	key uint64
	doc segment.Doc
}

// laidSpans are the spans that were used last. They are safe for concurrent use.
type laidSpans struct {
	mu   sync.Mutex
	kept []*span // the last one used at the end
	docs int     // in them, see cost
}

const (
	docsKept  = 1 << 19 // of all spans, 16 bytes each
	spanMost  = 1 << 15
	spanLeast = 1 << 11
)

var spans laidSpans

// of is a span that begins at or before a key, made of the keys up to another; nil when too
// many docs have the same keys.
func (l *laidSpans) of(s *segment.Segment, from, to uint64, size int) *span {
	name := weak.Make(s)
	l.mu.Lock()
	at := slices.IndexFunc(l.kept, func(of *span) bool { return of.segment == name && from >= of.from && from <= of.to })
	if at >= 0 {
		found := l.kept[at]
		l.kept = append(slices.Delete(l.kept, at, at+1), found)
		l.mu.Unlock()
		return found
	}
	l.mu.Unlock()
	laid := lay(s, from, to, min(max(64*size, spanLeast), spanMost))
	if laid == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept, l.docs = append(l.kept, laid), l.docs+laid.cost()
	for l.docs > docsKept {
		l.docs -= l.kept[0].cost()
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	return laid
}

// lay makes a span of about so many docs, unless many have the same keys: it counts those of
// equal ranges first, as the keys between two need not be spread evenly.
func lay(s *segment.Segment, from, to uint64, about int) *span {
	keys := s.Keys()
	of := &span{segment: weak.Make(s), from: from, to: to}
	var counts [1 << 10]int
	width := (to-from)/uint64(len(counts)) + 1
	for _, key := range keys {
		if key >= from && key <= to {
			counts[(key-from)/width]++
		}
	}
	most := 0
	for i, n := range counts {
		if most += n; most >= about {
			if next := uint64(i+1) * width; next <= to-from {
				of.to = from + next - 1
			}
			break
		}
	}
	if most > 2*spanMost {
		return nil
	}
	of.docs = make([]keyedDoc, 0, most)
	for doc, key := range keys {
		if key >= from && key <= of.to {
			of.docs = append(of.docs, keyedDoc{key, segment.Doc(doc)})
		}
	}
	slices.SortFunc(of.docs, func(a, b keyedDoc) int { return cmp.Compare(a.key, b.key) })
	return of
}

// keysOf is a range of keys, in which the zero Range is any.
func keysOf(r routing.Range) routing.Range {
	if r == (routing.Range{}) {
		r.To = math.MaxUint64
	}
	return r
}

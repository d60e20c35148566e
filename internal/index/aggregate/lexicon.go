package aggregate

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// A lexicon numbers the terms that a field has in the segments of an index: a term has one number
// in all of them, as the global ordinals of other servers. With it, the counts of many segments are
// added by number, and each term is looked at once. The first search that needs a lexicon makes it,
// and later ones use it again: they read the dictionaries of new segments alone. It is safe for
// concurrent use.
type lexicon struct {
	bytes atomic.Int64 // of memory, about

	mu       sync.Mutex
	ids      map[string]uint32
	texts    [][]byte // by number; only grows
	arena    arena
	ordered  []uint32 // all numbers, in the order of their terms; nil: not sorted since the last new term
	segments map[weak.Pointer[segment.Segment]]*segmentTerms
	live     int // terms of the segments that are in use
	gone     int // terms of segments that were read and have been freed
}

// segmentTerms describe the terms of one segment, by ordinal.
type segmentTerms struct {
	numbers []uint32 // in the lexicon
	docs    []uint32 // that have the term, hidden docs included
	end     int      // is greater than all numbers
}

// defaultLexiconLimit is how much memory a lexicon may take, in bytes.
const defaultLexiconLimit = 4 << 20

// Limits of memory, in bytes. Variables for tests.
var (
	lexiconLimit  = int64(defaultLexiconLimit) // of one
	lexiconsLimit = int64(16 << 20)            // of all lexica that are kept for later searches
)

// terms are those of a segment, which are read the first time; nil: the lexicon would be too large.
func (l *lexicon) terms(s *segment.Segment, f *segment.Field) *segmentTerms {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := weak.Make(s)
	if terms := l.segments[at]; terms != nil {
		return terms
	}
	l.forgetGone()
	n := f.Terms()
	if l.size()+int64(8*n) > lexiconLimit {
		return nil
	}
	terms := &segmentTerms{numbers: make([]uint32, 0, n), docs: make([]uint32, 0, n)}
	for walk := f.From(nil); walk.Valid(); walk.Next() {
		terms.numbers = append(terms.numbers, l.number(walk.Term()))
		terms.docs = append(terms.docs, walk.Entry().Docs)
	}
	terms.end = len(l.texts)
	l.segments[at], l.live = terms, l.live+n
	l.bytes.Store(l.size())
	if l.size() > lexiconLimit {
		return nil
	}
	return terms
}

// forgetGone forgets the segments that have been freed. The numbers of their terms stay.
func (l *lexicon) forgetGone() {
	for of, terms := range l.segments {
		if of.Value() == nil {
			l.live -= len(terms.numbers)
			l.gone += len(terms.numbers)
			delete(l.segments, of)
		}
	}
}

// number is the number of a term; a new term gets the next one.
func (l *lexicon) number(term []byte) uint32 {
	id, ok := l.ids[string(term)]
	if !ok {
		id = uint32(len(l.texts))
		l.texts, l.ordered = append(l.texts, l.arena.keep(term)), nil
		l.ids[string(term)] = id
	}
	return id
}

// size is about how many bytes the lexicon takes: each term is kept twice, in texts and in ids.
func (l *lexicon) size() int64 { return 2*l.arena.kept + int64(96*len(l.texts)+8*l.live) }

// mostlyGone reports whether most of the terms that were read are of segments that have been freed.
func (l *lexicon) mostlyGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone > 4*l.live+1<<16
}

// order is the numbers in the order of their terms, and the terms by number. Later calls of terms
// do not change either.
func (l *lexicon) order() (numbers []uint32, texts [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ordered == nil {
		l.ordered = make([]uint32, len(l.texts))
		for i := range l.ordered {
			l.ordered[i] = uint32(i)
		}
		slices.SortFunc(l.ordered, func(a, b uint32) int { return bytes.Compare(l.texts[a], l.texts[b]) })
	}
	return l.ordered, l.texts
}

// lexiconKey names the field of an index.
type lexiconKey struct{ uuid, field string }

// lexiconCache keeps the lexica that were used last. It is safe for concurrent use. A search goes on
// with the lexicon that it has got, also when the cache has replaced or removed it.
type lexiconCache struct {
	mu   sync.Mutex
	kept []*cachedLexicon // the last one used at the end
}

// cachedLexicon is an entry of the cache. Where the lexicon would be too large, searches do without
// one, and after some of them another attempt is made.
type cachedLexicon struct {
	key     lexiconKey
	lex     *lexicon // nil: too large
	refused int      // searches since then
}

// retryAfter is after how many searches a lexicon that was too large is made again.
const retryAfter = 256

var lexicons lexiconCache

// terms are those of a segment in a lexicon of the cache; nil: lex is nil, or would be too large.
func (l *lexiconCache) terms(lex *lexicon, s *segment.Segment, f *segment.Field) *segmentTerms {
	if lex == nil {
		return nil
	}
	terms := lex.terms(s, f)
	switch {
	case terms == nil:
		l.replace(lex, nil)
	case lex.mostlyGone():
		l.replace(lex, newLexicon())
	}
	return terms
}

func newLexicon() *lexicon {
	return &lexicon{ids: map[string]uint32{}, segments: map[weak.Pointer[segment.Segment]]*segmentTerms{}}
}

// get finds the lexicon of a key, or makes it; nil: it would be too large.
func (l *lexiconCache) get(key lexiconKey) *lexicon {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.kept, func(k *cachedLexicon) bool { return k.key == key })
	if at < 0 {
		l.kept, at = append(l.kept, &cachedLexicon{key: key, lex: newLexicon()}), len(l.kept)
	}
	k := l.kept[at]
	if at < len(l.kept)-1 {
		l.kept = append(slices.Delete(l.kept, at, at+1), k)
	}
	l.bound()
	if k.lex == nil {
		if k.refused++; k.refused > retryAfter {
			k.lex, k.refused = newLexicon(), 0
		}
	}
	return k.lex
}

// bound removes the lexica that were not used for the longest time, while all take too much.
func (l *lexiconCache) bound() {
	all := int64(0)
	for _, k := range l.kept {
		all += 256
		if k.lex != nil {
			all += k.lex.bytes.Load()
		}
	}
	for ; all > lexiconsLimit && len(l.kept) > 1; l.kept = slices.Delete(l.kept, 0, 1) {
		all -= 256
		if lex := l.kept[0].lex; lex != nil {
			all -= lex.bytes.Load()
		}
	}
}

// replace puts another lexicon, or none, in the place of lex.
func (l *lexiconCache) replace(lex, by *lexicon) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kept {
		if k.lex == lex {
			k.lex = by
		}
	}
}

// lexicon is the lexicon of the field, with the terms of the current view. It is nil where the index has
// one view, whose ordinals are enough, where the field has no column of its own, and where it would be
// too large.
func (r *terms) lexicon(at search.Place) (*lexicon, *segmentTerms) {
	if r.column == nil || r.here.Prefix() != "" || at.Context.Views(at.Index) < 2 {
		return nil, nil
	}
	key := lexiconKey{at.Context.Index(at.Index).UUID, r.here.Name()}
	if r.key != key {
		r.key, r.lex = key, lexicons.get(key)
	}
	terms := lexicons.terms(r.lex, r.view.Segment, r.field)
	if terms == nil {
		r.lex = nil
	}
	return r.lex, terms
}

// termCache remembers a value for each term of a lexicon, such as its hash, for all views of a search.
type termCache[T any] struct {
	of    map[*lexicon]*termValues[T]
	now   *termValues[T] // of the lexicon of the current view; nil: it has none
	terms *segmentTerms
}

// termValues are the values by number; the zero value: none is known.
type termValues[T any] struct{ by []T }

// begin begins a view, whose terms are in a lexicon unless that is nil.
func (s *termCache[T]) begin(lex *lexicon, terms *segmentTerms) {
	if s.now, s.terms = s.of[lex], terms; lex == nil {
		return
	}
	if s.now == nil {
		if s.of == nil {
			s.of = map[*lexicon]*termValues[T]{}
		}
		s.now = &termValues[T]{}
		s.of[lex] = s.now
	}
	s.now.by = grown(s.now.by, max(len(s.now.by), terms.end))
}

// value is the place of the value of the term of an ordinal; nil: the view has no lexicon.
func (s *termCache[T]) value(ord uint32) *T {
	if s.now == nil {
		return nil
	}
	return &s.now.by[s.terms.numbers[ord]]
}

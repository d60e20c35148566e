package search

import (
	"bytes"
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// statistics are counts over the distinct segments of an index, hidden docs too, and what
// follows from them for the leaves of a plan whose terms were looked up.
type statistics struct {
	segments []*segment.Segment
	known    *segmentSet
	leaves   map[plan]*leaf
	blends   map[*blend][]int64 // of each term of a blend: in how many docs it counts as being
	wanted   *wantedTerms       // not nil: visit only collects there the terms that are to be looked up
}

type termName struct{ field, term string }

// fieldStatistics are those of a field.
type fieldStatistics struct {
	docs, frequencies int64
	inverse           *[256]float32
}

// termStatistics are those of a term: its entry in each segment, and the sum of them.
type termStatistics struct {
	docs    int64
	entries []segment.Entry // Docs is 0 where it is not
}

// leaf is a plan whose terms were looked up.
type leaf struct {
	terms  []*termStatistics
	scores *bm25 // by how often the terms are there; nil: the plan is not scored
}

// gatherStatistics looks up what the scored leaves of a plan need; scored tells whether the
// plan itself is. Where there are many segments, it looks up some single terms that are not scored, too:
// what is known of them is used again. The views are of different segments.
func gatherStatistics(views []segment.View, p plan, scored bool) *statistics {
	s := &statistics{leaves: map[plan]*leaf{}, segments: make([]*segment.Segment, len(views))}
	for i, v := range views {
		s.segments[i] = v.Segment
	}
	if len(s.segments) < manySegments {
		s.known = newSegmentSet(s.segments)
		s.visit(p, scored)
		return s
	}
	s.known = knownSets.get(s.segments)
	wanted := &wantedTerms{known: s.known, met: map[termName]bool{}}
	(&statistics{wanted: wanted}).visit(p, scored)
	s.lookUp(wanted.names)
	s.visit(p, scored)
	return s
}

// wantedTerms are the terms of leaves of which nothing is known, each once.
type wantedTerms struct {
	known *segmentSet
	names []termName
	met   map[termName]bool
}

func (w *wantedTerms) add(field string, terms ...[]byte) {
	for _, term := range terms {
		if name := (termName{field, string(term)}); !w.met[name] && w.known.term(name) == nil {
			w.names, w.met[name] = append(w.names, name), true
		}
	}
}

// addLeaf adds the terms of a leaf.
func (w *wantedTerms) addLeaf(p plan) {
	switch p := p.(type) {
	case *termPlan:
		w.add(p.field, p.term)
	case *synonymsPlan:
		w.add(p.field, p.terms...)
	case *phrasePlan:
		w.add(p.field, termsOf(p.words)...)
	case *phrasesPlan:
		w.add(p.field, termsOf(slices.Concat(p.ways...))...)
	}
}

// lookUp looks terms up in all segments.
func (s *statistics) lookUp(names []termName) {
	found := make([]*termStatistics, len(names))
	for i := range names {
		found[i] = &termStatistics{entries: make([]segment.Entry, len(s.segments))}
	}
	err := inParallel(len(s.segments), usefulHelpers(len(s.segments), 0), func(int) func(int) error {
		return func(at int) error {
			for i, name := range names {
				found[i].entries[at] = entryOf(s.segments[at], name)
			}
			return nil
		}
	})
	if err != nil {
		panic(err) // a damaged segment, as it would be without help
	}
	for i, t := range found {
		t.count()
		s.known.learnTerm(names[i], t)
	}
}

// entryOf is the entry of a term in a segment; its Docs are 0 where it is not.
func entryOf(s *segment.Segment, name termName) segment.Entry {
	if f := s.Field(name.field); f != nil {
		if e, ok := f.Lookup([]byte(name.term)); ok {
			return e
		}
	}
	return segment.Entry{}
}

// count adds up in how many docs the term is.
func (t *termStatistics) count() {
	for _, e := range t.entries {
		t.docs += int64(e.Docs)
	}
}

// visit goes through the parts of a plan.
func (s *statistics) visit(p plan, scored bool) {
	switch p := p.(type) {
	case *boolPlan:
		s.visitAll(p.must, scored)
		s.visitAll(p.should, scored)
		s.visitAll(p.filter, false)
		s.visitAll(p.mustNot, false)
	case *constantPlan:
		s.visit(p.of, false)
	case *maxPlan:
		s.visitAll(p.of, scored)
	case *boostingPlan:
		s.visit(p.positive, scored)
		s.visit(p.negative, false)
	case *nestedPlan:
		s.visit(p.of, scored && p.mode != "none")
	case *functionPlan:
		s.visit(p.of, scored || p.score.MinScore != nil)
		s.visitAll(p.filter, false)
	case *namedPlan:
		s.visit(p.of, scored)
	case *termPlan:
		if scored {
			s.scored(p)
		} else {
			s.unscored(p)
		}
	default:
		if scored {
			s.scored(p)
		}
	}
}

func (s *statistics) visitAll(plans []plan, scored bool) {
	for _, p := range plans {
		s.visit(p, scored)
	}
}

// unscored uses what is known of a term that only filters. Where there are many segments, the term is looked
// up in advance, unless the search wants more than would be kept.
func (s *statistics) unscored(p *termPlan) {
	switch {
	case s.wanted == nil:
		if t := s.known.term(termName{p.field, string(p.term)}); t != nil && s.leaves[p] == nil {
			s.leaves[p] = &leaf{terms: []*termStatistics{t}}
		}
	case int64(len(s.wanted.names)*len(s.wanted.known.at)*entryBytes) < knownLimit/4:
		s.wanted.addLeaf(p)
	}
}

// scored works out a leaf, if it is one.
func (s *statistics) scored(p plan) {
	if s.wanted != nil {
		s.wanted.addLeaf(p)
		return
	}
	switch p := p.(type) {
	case *termPlan:
		l := s.leaf(p.field, [][]byte{p.term})
		docs := l.terms[0].docs
		if p.blend != nil {
			docs = s.blended(p)
		}
		s.weigh(p, l, p.field, p.boost, docs)
	case *synonymsPlan:
		l := s.leaf(p.field, p.terms)
		most := int64(0) // terms that count as one have the statistics of the most frequent
		for _, t := range l.terms {
			most = max(most, t.docs)
		}
		s.weigh(p, l, p.field, p.boost, most)
	case *phrasePlan:
		s.weighPhrase(p, p.field, p.boost, termsOf(p.words))
	case *phrasesPlan:
		terms := termsOf(slices.Concat(p.ways...))
		slices.SortFunc(terms, bytes.Compare)
		s.weighPhrase(p, p.field, p.boost, slices.CompactFunc(terms, bytes.Equal))
	}
}

// leaf looks terms up.
func (s *statistics) leaf(field string, terms [][]byte) *leaf {
	l := &leaf{terms: make([]*termStatistics, len(terms))}
	for i, term := range terms {
		l.terms[i] = s.term(field, term)
	}
	return l
}

// weigh makes a leaf one that is in so many docs.
func (s *statistics) weigh(p plan, l *leaf, field string, boost float32, docs int64) {
	f := s.field(field)
	l.scores = &bm25{weight: weigh(boost, idf(f.docs, docs)), inverse: f.inverse}
	s.leaves[p] = l
}

// weighPhrase makes a leaf of terms that are rare together: by the sum of how rare they are.
func (s *statistics) weighPhrase(p plan, field string, boost float32, terms [][]byte) {
	l, f, rare := s.leaf(field, terms), s.field(field), 0.0
	for _, t := range l.terms {
		if t.docs > 0 {
			rare += float64(idf(f.docs, t.docs))
		}
	}
	l.scores = &bm25{weight: weigh(boost, float32(rare)), inverse: f.inverse}
	s.leaves[p] = l
}

// termsOf are the terms of some words.
func termsOf(words []word) (terms [][]byte) {
	for _, w := range words {
		terms = append(terms, w.terms...)
	}
	return terms
}

// blended is in how many docs a term of a blend counts as being.
func (s *statistics) blended(p *termPlan) int64 {
	counts, ok := s.blends[p.blend]
	if !ok {
		terms := make([]rarity, len(p.blend.terms))
		for i, t := range p.blend.terms {
			f := s.field(t.field)
			terms[i] = rarity{docs: s.term(t.field, t.term).docs, fieldDocs: f.docs, fieldPlaces: f.frequencies}
		}
		all := int64(0)
		for _, seg := range s.segments {
			all += int64(seg.Docs())
		}
		counts = p.blend.blended(terms, all)
		if s.blends == nil {
			s.blends = map[*blend][]int64{}
		}
		s.blends[p.blend] = counts
	}
	return counts[slices.IndexFunc(p.blend.terms, func(t *termPlan) bool {
		return t.field == p.field && bytes.Equal(t.term, p.term)
	})]
}

func (s *statistics) field(name string) *fieldStatistics {
	f := s.known.field(name)
	if f == nil {
		f = &fieldStatistics{}
		for _, seg := range s.segments {
			if field := seg.Field(name); field != nil {
				stats := field.Stats()
				f.docs += stats.Docs
				f.frequencies += stats.Frequencies
			}
		}
		f.inverse = inverses(f.docs, f.frequencies)
		s.known.learnField(name, f)
	}
	return f
}

func (s *statistics) term(field string, term []byte) *termStatistics {
	name := termName{field, string(term)}
	t := s.known.term(name)
	if t == nil {
		t = &termStatistics{entries: make([]segment.Entry, len(s.segments))}
		for i, seg := range s.segments {
			t.entries[i] = entryOf(seg, name)
		}
		t.count()
		s.known.learnTerm(name, t)
	}
	return t
}

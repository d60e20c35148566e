package search

import (
	"github.com/reshelve/reshelve/segment"
)

// statistics are counts over the distinct segments of an index, hidden docs too, and what
// follows from them for the leaves of a plan that are scored.
type statistics struct {
	numbers  map[*segment.Segment]int
	segments []*segment.Segment
	fields   map[string]*fieldStatistics
	terms    map[termName]*termStatistics
	leaves   map[plan]*leaf
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

// leaf is a plan that is scored by how often terms are there.
type leaf struct {
	terms  []*termStatistics
	scores *bm25
}

// gatherStatistics looks up what the scored leaves of a plan need.
func gatherStatistics(index *Index, p plan) *statistics {
	s := &statistics{
		numbers: map[*segment.Segment]int{}, fields: map[string]*fieldStatistics{},
		terms: map[termName]*termStatistics{}, leaves: map[plan]*leaf{},
	}
	for _, source := range index.Sources {
		for _, v := range source.Views {
			if _, ok := s.numbers[v.Segment]; !ok {
				s.numbers[v.Segment] = len(s.segments)
				s.segments = append(s.segments, v.Segment)
			}
		}
	}
	s.visit(p)
	return s
}

// visit goes through the parts of a plan that are scored.
func (s *statistics) visit(p plan) {
	switch p := p.(type) {
	case *termPlan:
		s.leaf(p, p.field, p.boost, [][]byte{p.term}, false)
	case *synonymsPlan:
		s.leaf(p, p.field, p.boost, p.terms, true)
	case *phrasePlan:
		var terms [][]byte
		for _, w := range p.words {
			terms = append(terms, w.terms...)
		}
		s.leaf(p, p.field, p.boost, terms, false)
	case *boolPlan:
		s.visitAll(p.must)
		s.visitAll(p.should)
	case *maxPlan:
		s.visitAll(p.of)
	case *boostingPlan:
		s.visit(p.positive)
	case *nestedPlan:
		if p.mode != "none" {
			s.visit(p.of)
		}
	case *functionPlan:
		s.visit(p.of)
	case *namedPlan:
		s.visit(p.of)
	}
}

func (s *statistics) visitAll(plans []plan) {
	for _, p := range plans {
		s.visit(p)
	}
}

// leaf works out a leaf. Terms that count as one have the statistics of the most frequent;
// those of a phrase the sum of how rare they are.
func (s *statistics) leaf(p plan, field string, boost float32, terms [][]byte, asOne bool) {
	f := s.field(field)
	l := &leaf{}
	var most int64
	rare := 0.0
	for _, term := range terms {
		t := s.term(field, term)
		l.terms = append(l.terms, t)
		most = max(most, t.docs)
		if t.docs > 0 {
			rare += float64(idf(f.docs, t.docs))
		}
	}
	if asOne {
		rare = float64(idf(f.docs, most))
	}
	l.scores = &bm25{weight: weigh(boost, float32(rare)), inverse: f.inverse}
	s.leaves[p] = l
}

func (s *statistics) field(name string) *fieldStatistics {
	f := s.fields[name]
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
		s.fields[name] = f
	}
	return f
}

func (s *statistics) term(field string, term []byte) *termStatistics {
	name := termName{field, string(term)}
	t := s.terms[name]
	if t == nil {
		t = &termStatistics{entries: make([]segment.Entry, len(s.segments))}
		for i, seg := range s.segments {
			if f := seg.Field(field); f != nil {
				if e, ok := f.Lookup(term); ok {
					t.entries[i] = e
					t.docs += int64(e.Docs)
				}
			}
		}
		s.terms[name] = t
	}
	return t
}

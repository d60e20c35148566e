package aggregate

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// compositeSource is one part of the keys: terms, numbers, or intervals.
type compositeSource struct {
	of     *CompositeSource
	values values
	scale  interface {
		prepare(v *values) error
	}
	raw bool // dates are told as numbers

	numbers numbers
	terms   terms
	cached  [][]byte // terms of the view as they are written, by ordinal

	// of a block
	starts []int // of the i-th doc, where its values begin
	bits   []uint64
	ords   []uint32
	spell  [][]byte
}

func (s *compositeSource) prepare(w *compositeWorker, all []search.Index) error {
	kind, take, dated := s.of.Of.kind(), takesNumbers, false
	switch k := s.of.Of.(type) {
	case *Terms:
		s.values.of, take = k.Values, takesNumbers|takesTexts
	case *Histogram:
		s.values.of = k.Values
		s.scale = &realScale{of: k}
	case *DateHistogram:
		s.values.of = k.Values
		s.scale, dated = &dateScale{of: k, name: w.n.name}, true
	}
	if s.values.of.Field == "" {
		return exception.New(exception.IllegalState, "value source config is invalid; must have either a field or a script")
	}
	if s.of.MissingOrder != "" && s.of.MissingOrder != "default" && !s.of.MissingBucket {
		return exception.New(exception.IllegalArgument, "missing_order require missing_bucket is true")
	}
	s.values.now = w.options.Now
	s.numbers.values, s.terms.values = &s.values, &s.values
	if err := s.values.resolve(kind, all, take, dated); err != nil {
		return err
	}
	s.raw = s.values.of.Format == ""
	if s.scale != nil {
		return s.scale.prepare(&s.values)
	}
	return nil
}

func (s *compositeSource) begin(at search.Place) {
	s.numbers.begin(at)
	n := s.terms.begin(at)
	if s.values.class == texts {
		s.cached = make([][]byte, n)
	}
}

// read finds the values of some docs.
func (s *compositeSource) read(docs []segment.Doc) {
	s.starts = append(s.starts[:0], 0)
	s.bits, s.ords, s.spell = s.bits[:0], s.ords[:0], s.spell[:0]
	if s.values.class == texts || s.values.class == nothing {
		s.readTerms(docs)
		return
	}
	var at []int32
	switch scale := s.scale.(type) {
	case *realScale:
		var keys []float64
		at, keys = scale.keys(&s.numbers, docs)
		for _, v := range keys {
			s.bits = append(s.bits, scale.bits(v))
		}
	case *dateScale:
		var keys []int64
		at, keys = scale.keys(&s.numbers, docs)
		for _, v := range keys {
			s.bits = append(s.bits, uint64(v))
		}
	default:
		at = s.readNumbers(docs)
	}
	s.index(at, len(docs))
}

func (s *compositeSource) readNumbers(docs []segment.Doc) (at []int32) {
	if s.values.class == reals {
		var f []float64
		at, f = s.numbers.reals(docs)
		for _, v := range f {
			s.bits = append(s.bits, math.Float64bits(v))
		}
		return at
	}
	at, n := s.numbers.wholes(docs)
	for _, v := range n {
		s.bits = append(s.bits, uint64(v))
	}
	return at
}

func (s *compositeSource) readTerms(docs []segment.Doc) {
	if spell := s.terms.spelled(); spell != nil {
		for i, doc := range docs {
			s.spell = append(s.spell, spell(doc))
			s.starts = append(s.starts, i+1)
		}
		return
	}
	at, ords := s.terms.read(docs)
	s.ords = append(s.ords, ords...)
	s.index(at, len(docs))
}

// index finds where the values of each doc begin.
func (s *compositeSource) index(at []int32, docs int) {
	j := 0
	for i := range docs {
		for j < len(at) && int(at[j]) == i {
			j++
		}
		s.starts = append(s.starts, j)
	}
}

package search

import (
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// slicing says how a search is parted.
type slicing struct {
	field   string // "": by id
	id, max uint64
}

// slicer says which docs of a view are of one part.
type slicer struct {
	slicing
	view    segment.View
	numbers *segment.NumberColumn // of the field; nil: no doc has it
}

// newSlicer checks what part is asked for; nil is the whole.
func newSlicer(c *Context) (*slicing, error) {
	s := c.request.Slice
	if s == nil {
		return nil, nil
	}
	of := &slicing{id: uint64(s.ID), max: uint64(s.Max)}
	if s.Field == "" || s.Field == "_id" {
		return of, nil
	}
	of.field = s.Field
	for _, w := range c.work {
		f, ok := w.index.Schema.Field(s.Field)
		if !ok {
			return nil, exception.New(exception.IllegalArgument, "field %s not found", s.Field)
		}
		if f.Spec().Column != segment.Numbers {
			return nil, exception.New(exception.IllegalArgument, "cannot load numeric doc values on %s", s.Field)
		}
	}
	return of, nil
}

// in is the part of a view.
func (s *slicing) in(v segment.View) *slicer {
	of := &slicer{slicing: *s, view: v}
	if f := v.Field(s.field); s.field != "" && f != nil {
		of.numbers = f.Numbers()
	}
	return of
}

// has reports whether a doc is of the part. Docs without the number are of the first.
func (s *slicer) has(doc segment.Doc) bool {
	if s.field == "" {
		return uint64(uint32(s.view.Key(doc)))%s.max == s.id
	}
	hash := uint64(0)
	if s.numbers != nil {
		if n, ok := s.numbers.First(doc); ok {
			hash = mix(uint64(n))
		}
	}
	return hash%s.max == s.id
}

// mix spreads the bits of a number over all of it.
func mix(n uint64) uint64 {
	n ^= n >> 32
	n *= 0x9e3779b97f4a7c15
	n ^= n >> 29
	return n
}

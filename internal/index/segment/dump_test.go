package segment_test

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// dumper writes the text form of a segment: all that can be read of it. It stops after so
// many lines: what a hostile file claims may be long.
type dumper struct {
	to    io.Writer
	lines int
}

func (d *dumper) line(format string, args ...any) bool {
	if d.lines <= 0 {
		return false
	}
	d.lines--
	fmt.Fprintf(d.to, format+"\n", args...)
	return true
}

// dump is the text form of a segment. It panics as reading does.
func dump(s *segment.Segment, lines int) string {
	var out strings.Builder
	d := &dumper{&out, lines}
	d.segment(s)
	return out.String()
}

func (d *dumper) segment(s *segment.Segment) {
	d.line("%d docs, %d documents, ascending: %v", s.Docs(), s.Roots(), s.Ascending())
	for doc := range segment.Doc(s.Docs()) {
		id := s.ID(doc)
		if !d.line("%d: root %d, first %d, key %v, id %q, sequence number %d, found %v", doc, s.Root(doc), s.FirstChild(doc),
			s.Key(doc), id, s.SeqNo(doc), slices.Collect(s.FindID(id))) {
			return
		}
	}
	for f := range s.Fields() {
		if !d.line("%s %+v %+v", f.Name(), f.Spec(), f.Stats()) {
			return
		}
		if set := f.Existing(); set != nil {
			d.line("  in %d: %x", set.Count(), set.Words())
		}
		d.line("  lengths %v", f.Lengths())
		d.terms(f)
		d.columns(s, f)
		if p := f.Points(); p != nil {
			for _, least := range []int64{-1 << 63, 0, 3, 1000} {
				set := segment.NewBits(s.Docs())
				p.Within(least, least+5000, set)
				d.line("  from %d on %d points %x", least, p.Count(least, least+5000), set.Words())
			}
		}
	}
}

func (d *dumper) terms(f *segment.Field) {
	var p *segment.PostingsIterator
	for t := f.From(nil); t.Valid(); t.Next() {
		e := t.Entry()
		looked, ok := f.Lookup(t.Term())
		if !d.line("  %d %q in %d, %d times, looked up %v %v, is %q", e.Ord, t.Term(), e.Docs, e.Frequencies, looked == e, ok,
			f.Term(nil, e.Ord)) {
			return
		}
		if f.Spec().Postings == segment.NoPostings {
			continue
		}
		p = f.Postings(e, segment.Positions, p)
		last, impacts := p.Bound(0)
		d.line("    up to %d %v, in all %v", last, impacts, p.Impacts())
		for doc := p.Next(); doc != segment.End; doc = p.Next() {
			if !d.line("    %d x%d %v", doc, p.Frequency(), p.Positions(nil)) {
				return
			}
		}
		p = f.Postings(e, segment.Frequencies, p)
		for to := segment.Doc(3); p.Advance(to) != segment.End; to = p.Doc() + 50 {
			docs, often := p.Block()
			if !d.line("    advanced to %d, then %v %v", p.Doc(), docs, often) {
				return
			}
		}
	}
}

func (d *dumper) columns(s *segment.Segment, f *segment.Field) {
	docs := []segment.Doc{}
	for doc := range segment.Doc(min(s.Docs(), 10_000)) {
		docs = append(docs, doc)
	}
	has := make([]bool, len(docs))
	if c := f.Numbers(); c != nil {
		least, greatest, ok := c.Bounds()
		d.line("  numbers from %d to %d %v, single %v", least, greatest, ok, c.Single())
		for _, doc := range docs {
			n, ok := c.First(doc)
			d.line("    %d: %d %v %v", doc, n, ok, c.All(nil, doc))
		}
		if n := make([]int64, len(docs)); c.Single() {
			c.Read(docs, n, has)
			d.line("    %v %v", n, has)
		}
	}
	if c := f.Ordinals(); c != nil {
		d.line("  ordinals, single %v", c.Single())
		for _, doc := range docs {
			n, ok := c.First(doc)
			d.line("    %d: %d %v %v", doc, n, ok, c.All(nil, doc))
		}
		if n := make([]uint32, len(docs)); c.Single() {
			c.Read(docs, n, has)
			d.line("    %v %v", n, has)
		}
	}
}

package search

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// end is behind the last doc.
const end = segment.End

// node steps through the docs of one segment that may be found by a plan, ascending, hidden
// ones too. It stands on the first when it is made. A plan that finds nothing in a segment
// has none: nil.
type node interface {
	// doc is the current one; end behind the last.
	doc() segment.Doc
	// next goes to the next one.
	next() segment.Doc
	// advance goes to the first that is not before to, which is behind the current one.
	advance(to segment.Doc) segment.Doc
	// cost is about how many there are.
	cost() int
	// exact reports whether matches is always true.
	exact() bool
	// matches reports whether the current doc is found indeed.
	matches() bool
	// score is that of the current doc, which matches; 0 when no score was asked for.
	score() float32
	// bound is the greatest score that a doc from one on up to last may have. From is not
	// before the current doc.
	bound(from segment.Doc) (last segment.Doc, most float32)
	// ceiling is a score that no doc exceeds.
	ceiling() float32
	// demand allows to leave out docs with scores below least, from now on.
	demand(least float32)
}

// demanded is part of nodes that leave out the docs of blocks that cannot reach a score.
type demanded struct {
	least  float32
	behind segment.Doc // up to here, most has been found great enough
	any    bool        // behind counts
	limit  func(from segment.Doc) (last segment.Doc, most float32)
}

// skip is the first doc from d on whose block may reach the score that is demanded.
func (s *demanded) skip(d segment.Doc) segment.Doc {
	for {
		last, most := s.limit(d)
		if most >= s.least {
			s.behind, s.any = last, true
			return d
		}
		if last == end {
			return end
		}
		d = last + 1
	}
}

// none is the least score before one is demanded.
var none = float32(math.Inf(-1))

// sure is part of nodes whose docs are all found.
type sure struct{}

func (sure) exact() bool   { return true }
func (sure) matches() bool { return true }

// plain is part of nodes that have no scores.
type plain struct{}

func (plain) score() float32                           { return 0 }
func (plain) bound(segment.Doc) (segment.Doc, float32) { return end, 0 }
func (plain) ceiling() float32                         { return 0 }
func (plain) demand(float32)                           {}

// at goes to doc, or the first after it, where n is before that, and reports whether n
// stands on it.
func at(n node, doc segment.Doc) bool {
	d := n.doc()
	if d < doc {
		d = n.advance(doc)
	}
	return d == doc
}

// has is at, of docs that match.
func has(n node, doc segment.Doc) bool { return at(n, doc) && n.matches() }

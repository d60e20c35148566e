package fields

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// putText writes the tokens of a text. Values follow each other with a gap; the length
// counts places, as Lucene does: tokens without those that share the place of the one
// before. The text exists although it may have no token.
func putText(c *column, v *mapping.Value) {
	w := c.writer
	c.out.Exists()
	c.count(0)
	base, last, places, fresh := int(c.position), -1, uint32(0), c.field.unique && c.spec.Lengths
	w.tokens = analysis.InParts(c.field.index, w.tokens, v.Bytes, func(tokens []analysis.Token) {
		for i := range tokens {
			t := &tokens[i]
			if t.Position != last {
				last = t.Position
				if !fresh {
					places++
				}
			}
			if len(t.Term) > longestTerm {
				continue
			}
			if c.spec.Postings == segment.Positions {
				c.out.Token(t.Term, uint32(min(base+t.Position, math.MaxInt32)))
			} else {
				c.out.Term(t.Term)
			}
		}
		if fresh {
			places += c.fresh(tokens)
		}
	})
	c.position = uint32(min(base+last+1+c.field.gap, math.MaxInt32))
	c.length += places
}

// fresh counts the terms that the doc did not have yet.
func (c *column) fresh(tokens []analysis.Token) (n uint32) {
	if c.terms == nil {
		c.terms = map[string]struct{}{}
	}
	for i := range tokens {
		if _, ok := c.terms[string(tokens[i].Term)]; !ok {
			c.terms[string(tokens[i].Term)] = struct{}{}
			n++
		}
	}
	return n
}

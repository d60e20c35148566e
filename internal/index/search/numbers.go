package search

import (
	"bytes"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// numbersPerCheck is how many points are put into a set in the time in which the column is
// asked for one doc.
const numbersPerCheck = 4

// match finds the terms or the numbers that a value or a range means.
func (r *reader) match(p *matchPlan) node {
	f := r.view.Field(p.field.Name())
	if f == nil || p.match.None {
		return nil
	}
	switch m := p.match; {
	case m.All:
		return newEvery(r.view.Docs())
	case m.Numbers:
		return r.numbers(f, []interval{{m.Least, m.Greatest}})
	case m.Terms:
		return r.termRange(f, m.LeastTerm, m.GreatestTerm, m.Where)
	}
	return nil
}

// numbers finds docs with a number in any of some intervals: by points, or by asking the
// column for each doc that the nodes around find.
func (r *reader) numbers(f *segment.Field, in []interval) node {
	points, column := f.Points(), f.Numbers()
	if points == nil && column == nil {
		return nil
	}
	if points == nil {
		if r.lead < r.view.Docs()/numbersPerCheck {
			return newColumn(r.view.Docs(), column, in)
		}
		return newSet(scan(r.view.Docs(), column, in))
	}
	n := 0
	for _, i := range in {
		n += points.Count(i.least, i.greatest)
	}
	switch {
	case n == 0:
		return nil
	case column != nil && r.lead < n/numbersPerCheck:
		return newColumn(r.view.Docs(), column, in)
	}
	set := segment.NewBits(r.view.Docs())
	for _, i := range in {
		points.Within(i.least, i.greatest, set)
	}
	return newSet(set)
}

// within reports whether a number is in any of some intervals, which are few.
func within(in []interval, n int64) bool {
	for len(in) > 8 {
		if middle := len(in) / 2; n < in[middle].least {
			in = in[:middle]
		} else {
			in = in[middle:]
		}
	}
	for _, i := range in {
		if i.least <= n && n <= i.greatest {
			return true
		}
	}
	return false
}

// scan reads a whole column.
func scan(docs int, column *segment.NumberColumn, in []interval) *segment.Bits {
	const part = 1024
	var (
		set  = segment.NewBits(docs)
		ask  [part]segment.Doc
		n    [part]int64
		have [part]bool
		all  []int64
	)
	for from := 0; from < docs; from += part {
		some := min(part, docs-from)
		for i := range some {
			ask[i] = segment.Doc(from + i)
		}
		if column.Single() {
			column.Read(ask[:some], n[:some], have[:some])
		}
		for i, doc := range ask[:some] {
			found := have[i] && within(in, n[i])
			if !column.Single() {
				all = column.All(all[:0], doc)
				found = anyWithin(in, all)
			}
			if found {
				set.Set(doc)
			}
		}
	}
	return set
}

func anyWithin(in []interval, all []int64) bool {
	for _, n := range all {
		if within(in, n) {
			return true
		}
	}
	return false
}

// columnNode is every doc; those that match have a number in an interval.
type columnNode struct {
	node
	column *segment.NumberColumn
	in     []interval
	all    []int64
}

func newColumn(docs int, column *segment.NumberColumn, in []interval) node {
	return &columnNode{node: newEvery(docs), column: column, in: in}
}

func (c *columnNode) exact() bool { return false }

func (c *columnNode) matches() bool {
	if c.column.Single() {
		n, ok := c.column.First(c.doc())
		return ok && within(c.in, n)
	}
	c.all = c.column.All(c.all[:0], c.doc())
	return anyWithin(c.in, c.all)
}

// termRange finds docs with a term between two, both included; where may choose among them.
func (r *reader) termRange(f *segment.Field, least, greatest []byte, where func([]byte) bool) node {
	if where == nil && greatest != nil && bytes.Equal(least, greatest) {
		return r.lookup(f, least)
	}
	u, seen := union{r: r, field: f}, 0
	for t := f.From(least); t.Valid(); t.Next() {
		if greatest != nil && bytes.Compare(t.Term(), greatest) > 0 {
			break
		}
		if where == nil || where(t.Term()) {
			u.add(t.Entry())
		}
		if seen++; !r.going(seen) {
			break
		}
	}
	return u.node()
}

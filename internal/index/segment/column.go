package segment

// column is what columns of numbers and of ordinals have in common.
type column struct {
	docs    *docSet // that have a value
	several bool    // some have more than one
	starts  array   // where the values of each of docs begin, when several
	values  array
}

// span is where the values of a doc are.
func (c *column) span(doc Doc) (from, to uint64) {
	if doc >= c.docs.docs {
		panic(damaged("doc %d of %d", doc, c.docs.docs))
	}
	r, ok := c.docs.rank(doc)
	if !ok {
		return 0, 0
	}
	if !c.several {
		return uint64(r), uint64(r) + 1
	}
	from, to = uint64(c.starts.get(uint64(r))), uint64(c.starts.get(uint64(r)+1))
	if from >= to || to > c.values.n {
		panic(damaged("the values of doc %d are not in order", doc))
	}
	return from, to
}

// readPart is how many docs read works on at a time.
const readPart = 256

// read puts the only values of ascending docs into n.
func (c *column) read(docs []Doc, n []int64, has []bool) {
	if c.docs.kind == setAll {
		for i := range has[:len(docs)] {
			has[i] = true
		}
		c.values.read(docs, n)
		return
	}
	var ranks [readPart]uint32
	var found [readPart]int64
	for len(docs) > 0 {
		k := min(readPart, len(docs))
		m := c.docs.ranks(docs[:k], ranks[:0], has)
		c.values.read(ranks[:m], found[:m])
		at := 0
		for i, ok := range has[:k] {
			n[i] = 0
			if ok {
				n[i] = found[at]
				at++
			}
		}
		docs, n, has = docs[k:], n[k:], has[k:]
	}
}

// each yields the docs that have values, ascending, with these. They are valid until the
// next.
func (c *column) each(yield func(doc Doc, values []int64)) {
	values, starts := arrayReader{a: &c.values}, arrayReader{a: &c.starts}
	var start int64
	if c.several {
		start = starts.take()
	}
	var buf []int64
	set := c.docs.bits()
	doc, taken := Doc(0), uint32(0)
	for ; taken < c.docs.count; taken, doc = taken+1, doc+1 {
		if set != nil {
			doc = set.Next(doc)
		}
		if doc >= c.docs.docs {
			panic(damaged("a set has fewer docs than it says"))
		}
		n := int64(1)
		if c.several {
			end := starts.take()
			n, start = end-start, end
		}
		if n <= 0 || uint64(n) > c.values.n {
			panic(damaged("the values of doc %d are not in order", doc))
		}
		buf = buf[:0]
		for range n {
			buf = append(buf, values.take())
		}
		yield(doc, buf)
	}
}

// NumberColumn gives the numbers of a doc. Safe for concurrent use.
type NumberColumn struct {
	column
	least, greatest int64
}

// Single reports whether no doc has more than one.
func (c *NumberColumn) Single() bool { return !c.several }

// Bounds are the least and the greatest number; ok is false when there is none.
func (c *NumberColumn) Bounds() (least, greatest int64, ok bool) {
	return c.least, c.greatest, c.values.n > 0
}

// First is the least number of a doc; ok is false when it has none.
func (c *NumberColumn) First(doc Doc) (n int64, ok bool) {
	from, to := c.span(doc)
	if from == to {
		return 0, false
	}
	return c.values.get(from), true
}

// All appends the numbers of a doc, ascending.
func (c *NumberColumn) All(dst []int64, doc Doc) []int64 {
	for from, to := c.span(doc); from < to; from++ {
		dst = append(dst, c.values.get(from))
	}
	return dst
}

// Read puts the numbers of ascending docs into n, which has their length, and into has
// whether each has one. It is for columns that are Single, and faster than First.
func (c *NumberColumn) Read(docs []Doc, n []int64, has []bool) { c.read(docs, n, has) }

// OrdinalColumn gives the ordinals of a doc. Safe for concurrent use.
type OrdinalColumn struct {
	column
	terms uint32
}

// Single reports whether no doc has more than one.
func (c *OrdinalColumn) Single() bool { return !c.several }

// ordinal is the i-th value.
func (c *OrdinalColumn) ordinal(i uint64) uint32 {
	ord := uint64(c.values.get(i))
	if ord >= uint64(c.terms) {
		panic(damaged("ordinal %d of %d", ord, c.terms))
	}
	return uint32(ord)
}

// First is the least ordinal of a doc; ok is false when it has none.
func (c *OrdinalColumn) First(doc Doc) (ord uint32, ok bool) {
	from, to := c.span(doc)
	if from == to {
		return 0, false
	}
	return c.ordinal(from), true
}

// All appends the ordinals of a doc, ascending.
func (c *OrdinalColumn) All(dst []uint32, doc Doc) []uint32 {
	for from, to := c.span(doc); from < to; from++ {
		dst = append(dst, c.ordinal(from))
	}
	return dst
}

// Read is as that of NumberColumn.
func (c *OrdinalColumn) Read(docs []Doc, ords []uint32, has []bool) {
	var n [readPart]int64
	for len(docs) > 0 {
		k := min(len(n), len(docs))
		c.read(docs[:k], n[:k], has)
		for i, v := range n[:k] {
			if uint64(v) >= uint64(c.terms) {
				panic(damaged("ordinal %d of %d", v, c.terms))
			}
			ords[i] = uint32(v)
		}
		docs, ords, has = docs[k:], ords[k:], has[k:]
	}
}

// Having puts the docs that have any of some ordinals into a set.
func (c *OrdinalColumn) Having(some, set *Bits) {
	if c.several || c.docs.kind == setList {
		c.each(func(doc Doc, values []int64) {
			for _, v := range values {
				if uint64(v) >= uint64(c.terms) {
					panic(damaged("ordinal %d of %d", v, c.terms))
				}
				if some.Has(uint32(v)) {
					set.Set(doc)
					return
				}
			}
		})
		return
	}
	var docs [readPart]Doc
	var ords [readPart]uint32
	var has [readPart]bool
	for from := Doc(0); from < c.docs.docs; from += readPart {
		n := min(readPart, c.docs.docs-from)
		for i := range n {
			docs[i] = from + i
		}
		c.Read(docs[:n], ords[:n], has[:n])
		for i, ok := range has[:n] {
			if ok && some.Has(ords[i]) {
				set.Set(docs[i])
			}
		}
	}
}

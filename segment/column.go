package segment

// NumberColumn gives the numbers of a doc. Safe for concurrent use.
type NumberColumn struct{}

// Single reports whether no doc has more than one.
func (c *NumberColumn) Single() bool { panic("segment: not built yet") }

// Bounds are the least and the greatest number; ok is false when there is none.
func (c *NumberColumn) Bounds() (least, greatest int64, ok bool) { panic("segment: not built yet") }

// First is the least number of a doc; ok is false when it has none.
func (c *NumberColumn) First(doc Doc) (n int64, ok bool) { panic("segment: not built yet") }

// All appends the numbers of a doc, ascending.
func (c *NumberColumn) All(dst []int64, doc Doc) []int64 { panic("segment: not built yet") }

// Read puts the numbers of ascending docs into n, which has their length, and into has
// whether each has one. It is for columns that are Single, and faster than First.
func (c *NumberColumn) Read(docs []Doc, n []int64, has []bool) { panic("segment: not built yet") }

// OrdinalColumn gives the ordinals of a doc. Safe for concurrent use.
type OrdinalColumn struct{}

// Single reports whether no doc has more than one.
func (c *OrdinalColumn) Single() bool { panic("segment: not built yet") }

// First is the least ordinal of a doc; ok is false when it has none.
func (c *OrdinalColumn) First(doc Doc) (ord uint32, ok bool) { panic("segment: not built yet") }

// All appends the ordinals of a doc, ascending.
func (c *OrdinalColumn) All(dst []uint32, doc Doc) []uint32 { panic("segment: not built yet") }

// Read is as that of NumberColumn.
func (c *OrdinalColumn) Read(docs []Doc, ords []uint32, has []bool) { panic("segment: not built yet") }

// PointIndex finds docs by number. Safe for concurrent use.
type PointIndex struct{}

// Count is how many points lie from least to greatest, both included: exact up to two
// blocks.
func (p *PointIndex) Count(least, greatest int64) int { panic("segment: not built yet") }

// Within puts the docs of the points from least to greatest, both included, into a set
// for all docs of the segment.
func (p *PointIndex) Within(least, greatest int64, into *Bits) { panic("segment: not built yet") }

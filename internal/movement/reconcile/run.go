package reconcile

import (
	"math/bits"

	"github.com/reshelve/reshelve/internal/document"
)

// Side is one of those that are read.
type Side int

// The sides.
const (
	Expected Side = iota // the truth
	Found                // what is to be like it
	Before               // what Found once held: of that, what is not expected was deleted
	Sides                // how many there are
)

// UnknownVersion is the version of a document of which none is known.
const UnknownVersion = -1

// Entry is a document as it was read. Its slices are copied where they are kept.
type Entry struct {
	document.Fingerprint
	ID, Routing []byte
	Version     int64 // negative when it is not known
	// Shard and Number are the position of what is expected.
	Shard      int
	Number     int64
	Unreadable bool // it is there, and cannot be read
}

// Bounds of what a run holds and does.
type Bounds struct {
	Documents int64 // of both sides in one look; some 110 bytes each
	Looks     int   // after each other, each of which reads both sides again
	Examples  int   // of each class
	Before    bool  // there is a third side
}

// narrowings is how often at most the sides are summed again, in finer buckets.
const narrowings = 3

// narrows is by how many bits at least: less would be no gain for reading all again.
const narrows = 2

// Run is how far a comparison has come: what was taken over of the pass that is going on. It
// may be written down at any time, and go on in another process. Not safe for concurrent use.
type Run struct {
	// Totals are the sums of both sides, when the first pass has ended.
	Totals [2]Sum
	Report Report

	index    string // for positions
	bounds   Bounds
	pass     int
	narrowed int         // passes
	looked   int         // looks that have begun
	read     [Sides]bool // in this pass
	tables   [2]*Table   // of a pass that sums
	look     *look       // of one that looks, or that has looked last
	open     []unequal   // what is left to look at; at the end, the rest
	bits     int         // of the prefixes in open
	done     bool
	sights   []Sight // of the look that has ended last: they are not written down
	rest     *scope  // of open, at the end
}

// NewRun begins the comparison of an index of about so many documents.
func NewRun(index string, documents int64, b Bounds) *Run {
	r := &Run{index: index, bounds: b}
	r.Report.Limit = b.Examples
	r.sum(&everything, Bits(documents))
	return r
}

// sum begins a pass that sums what is in a scope.
func (r *Run) sum(s *scope, more int) {
	r.tables = [2]*Table{newTable(s, more), newTable(s, more)}
}

// Pass numbers the passes over the sides, from 0.
func (r *Run) Pass() int { return r.pass }

// Sides are those to be read now, all documents of each; none when the run has ended.
func (r *Run) Sides() []Side {
	switch {
	case r.done:
		return nil
	case r.tables[Expected] != nil:
		var both []Side
		for _, side := range []Side{Expected, Found} {
			if !r.read[side] {
				both = append(both, side)
			}
		}
		return both
	case !r.read[Expected]:
		return []Side{Expected}
	case !r.read[Found]:
		return []Side{Found}
	}
	return []Side{Before}
}

// Part is what was read of a side and is not taken over yet. It is used by one goroutine.
type Part struct {
	side  Side
	table *Table
	look  *look
	kept  []kept
}

// kept is what a look is given of a document.
type kept struct {
	key, content uint64
	version      int64
	number       int64
	shard        int
	unreadable   bool
	id, routing  string
}

// Part begins to read a part of a side in this pass.
func (r *Run) Part(side Side) *Part {
	p := &Part{side: side, look: r.look}
	if t := r.tables[Expected]; t != nil {
		p.table, p.look = newTable(t.scope, t.more), nil
	}
	return p
}

// Wants tells whether the pass looks at a document with this key: of others nothing needs to
// be known.
func (p *Part) Wants(key uint64) bool {
	if p.table != nil {
		_, in := p.table.bucket(key)
		return in
	}
	return p.look.wants(key)
}

// Add takes a document that the pass wants.
func (p *Part) Add(e Entry) {
	switch {
	case p.table != nil && e.Unreadable:
		p.table.suspect(e.Key)
	case p.table != nil:
		p.table.Add(e.Fingerprint)
	default:
		k := kept{key: e.Key, content: one(e.Content).hi, version: e.Version, number: e.Number, shard: e.Shard, unreadable: e.Unreadable}
		if p.side != Expected {
			k.id, k.routing = string(e.ID), string(e.Routing)
		}
		p.kept = append(p.kept, k)
	}
}

// Take takes over what a part has read, and empties it. It is fault.Limit when a side has
// grown meanwhile.
func (r *Run) Take(p *Part) error {
	if p.table != nil {
		r.tables[p.side].take(p.table)
		return nil
	}
	for i := range p.kept {
		if err := r.look.take(p.side, &p.kept[i], 2*r.bounds.Documents); err != nil {
			return err
		}
	}
	p.kept = p.kept[:0]
	return nil
}

// Whole says that all of a side was read and taken over. When it was the last of the pass, the
// next pass begins, or the run has ended.
func (r *Run) Whole(side Side) {
	r.read[side] = true
	switch {
	case r.done || !r.read[Expected] || !r.read[Found]:
		return
	case r.tables[Expected] != nil:
		if r.pass == 0 {
			r.Totals = [2]Sum{r.tables[Expected].Total(), r.tables[Found].Total()}
		}
		r.open, r.bits = differing(r.tables[Expected], r.tables[Found])
		r.narrow()
	case r.bounds.Before && !r.read[Before]:
		return
	default:
		found := r.look.report(r.index, r.bounds.Examples)
		r.sights = r.look.sights()
		r.Report.merge(&found)
		r.next()
	}
	r.read = [Sides]bool{}
	r.pass++
}

// narrow sums what is unequal again, in finer buckets, while that promises to leave fewer
// documents to look at, and there are too many.
func (r *Run) narrow() {
	documents := int64(0)
	for i := range r.open {
		documents += r.open[i].all()
	}
	finer := min(maxBits-bits.Len(uint(max(len(r.open)-1, 0))), 64-r.bits)
	if documents <= r.bounds.Documents || r.narrowed >= narrowings || finer < narrows {
		r.tables = [2]*Table{}
		r.next()
		return
	}
	r.narrowed++
	r.sum(scopeOf(r.open, r.bits), finer)
}

// next begins a look at as many documents as one may hold; what does not come to be looked at
// is the rest.
func (r *Run) next() {
	n, documents := 0, int64(0)
	for n < len(r.open) && documents+r.open[n].all() <= r.bounds.Documents {
		documents += r.open[n].all()
		n++
	}
	if n == 0 || r.looked >= r.bounds.Looks {
		r.Report.Rest, r.rest, r.done = restOf(r.open), scopeOf(r.open, r.bits), true
		return
	}
	r.looked++
	r.look = newLook(scopeOf(r.open[:n], r.bits))
	r.open = r.open[n:]
}

// Again forgets what was read of Found, which cannot be read on as it was: in the first pass
// that alone, later all that stands on it.
func (r *Run) Again() {
	if r.pass == 0 {
		t := r.tables[Found]
		r.tables[Found], r.read[Found] = newTable(t.scope, t.more), false
		return
	}
	*r = *NewRun(r.index, r.Totals[Expected].Count, r.bounds)
}

// Mend tells, when a run of at most one look has ended, whether a document that is expected is
// to be written again: where it was found missing, stale or different, with overwrite also
// newer, and where nobody has compared it.
func (r *Run) Mend(key uint64, shard int, number int64, overwrite bool) bool {
	if r.look != nil && r.look.wants(key) {
		i := r.look.items[key]
		if i == nil || int(i.shard) != shard || i.number != number {
			return false
		}
		return i.fate == unmet || i.fate == stale || i.fate == different || overwrite && i.fate == newer
	}
	_, in := r.rest.find(key)
	return in
}

// Delete tells, when a run of at most one look has ended, whether a document of Before, which
// is not expected any more, was found.
func (r *Run) Delete(key uint64) bool {
	if r.look == nil {
		return false
	}
	i := r.look.items[key]
	return i != nil && i.fate == zombie
}

// Extra is what a run of at most one look has seen of a document that was found and is not expected: 64 bits of its
// content. False when it is none, or was not compared.
func (r *Run) Extra(key uint64) (found uint64, extra bool) {
	if r.look == nil {
		return 0, false
	}
	i := r.look.items[key]
	if i == nil || i.fate != ghost && i.fate != zombie {
		return 0, false
	}
	return i.content, true
}

// Saw is what a run of at most one look has seen of a document that is to be written again: 64
// bits of the content that was found, to recognise a later change; 0 where nothing was. False
// when it was not compared.
func (r *Run) Saw(key uint64) (found uint64, compared bool) {
	if r.look == nil {
		return 0, false
	}
	i := r.look.items[key]
	if i == nil || i.fate != unmet && !i.fate.replaced() {
		return 0, false
	}
	return i.found, true
}

package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
)

// Side is one of the two that are compared.
type Side int

// The sides.
const (
	Expected Side = iota // the truth
	Found                // what is to be like it
)

// UnknownVersion is the version of a document of which none is known.
const UnknownVersion = -1

// Entry is what the second pass keeps of a document.
type Entry struct {
	document.Fingerprint
	ID, Routing string
	Version     int64  // negative when it is not known
	Where       string // for people: the position in a snapshot, the shard that answered
	// At most one of these is true.
	Deleted    bool // of the expected side: it is known to have been deleted; not counted in the first pass
	Unreadable bool // it is there, and cannot be read
	Misplaced  bool // of the found side: answered by a shard that does not own it
}

// Collector holds the documents of one group, of both sides.
type Collector struct {
	group Group
	limit int
	sides [2][]Entry
}

// NewCollector is for one group; more than limit documents are fault.Limit. They are more
// than the group has counted when the sides change meanwhile.
func NewCollector(g Group, limit int) *Collector { return &Collector{group: g, limit: limit} }

// Add takes a document of a side; those that the group does not want are passed over.
func (c *Collector) Add(side Side, e Entry) error {
	if !c.group.Wants(e.Key) {
		return nil
	}
	if len(c.sides[Expected])+len(c.sides[Found]) >= c.limit {
		return fault.New(fault.Limit, "more than %d documents are in buckets that were to hold %d", c.limit, c.group.Documents)
	}
	c.sides[side] = append(c.sides[side], e)
	return nil
}

// Compare says in what the two sides differ, with up to examples of each class, in the order
// of keys.
func (c *Collector) Compare(examples int) Report {
	for side := range c.sides {
		slices.SortStableFunc(c.sides[side], identity)
	}
	r := Report{Limit: examples}
	expected, found := c.sides[Expected], c.sides[Found]
	for len(expected)+len(found) > 0 {
		var first *Entry
		if len(expected) > 0 {
			first = &expected[0]
		}
		if len(found) > 0 && (first == nil || identity(found[0], *first) < 0) {
			first = &found[0]
		}
		es, fs := prefix(expected, first), prefix(found, first)
		r.compare(es, fs)
		expected, found = expected[len(es):], found[len(fs):]
	}
	return r
}

// identity orders entries so that those of one document stand together.
func identity(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), strings.Compare(a.ID, b.ID), strings.Compare(a.Routing, b.Routing))
}

func prefix(entries []Entry, first *Entry) []Entry {
	n := 0
	for n < len(entries) && identity(entries[n], *first) == 0 {
		n++
	}
	return entries[:n]
}

// compare classes all copies of one document.
func (r *Report) compare(expected, found []Entry) {
	truth, deleted := newest(expected)
	for i := range expected {
		if expected[i].Unreadable {
			r.add(Unreadable, &expected[i], nil)
			return // what should be there is not known
		}
	}
	there := r.owned(truth, found)
	switch {
	case there == nil && truth == nil:
	case there == nil:
		r.add(Missing, truth, nil)
	case there.Unreadable:
		r.add(Unreadable, truth, there)
	case truth == nil && deleted != nil:
		r.add(Zombie, deleted, there)
	case truth == nil:
		r.add(Ghost, nil, there)
	case truth.Content == there.Content:
		r.Equal++
	case truth.Version < 0 || there.Version < 0 || truth.Version == there.Version:
		r.add(Different, truth, there)
	case there.Version < truth.Version:
		r.add(Stale, truth, there)
	default:
		r.add(Newer, truth, there)
	}
}

// newest is the newest copy of a document that is to be there, and of its deletion; nil where
// there is none. A deletion counts only when nothing newer was written.
func newest(entries []Entry) (live, deleted *Entry) {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Deleted && (deleted == nil || e.Version >= deleted.Version):
			deleted = e
		case !e.Deleted && !e.Unreadable && (live == nil || e.Version >= live.Version):
			live = e
		}
	}
	if live != nil && deleted != nil && deleted.Version > live.Version {
		live = nil
	}
	return live, deleted
}

// owned is the copy that the owner of the document answers with. All others are misplaced.
func (r *Report) owned(truth *Entry, found []Entry) (there *Entry) {
	for i := range found {
		f := &found[i]
		if f.Misplaced {
			continue
		}
		if there == nil || there.Unreadable || truth != nil && f.Content == truth.Content && there.Content != truth.Content {
			there = f
		}
	}
	for i := range found {
		if f := &found[i]; f != there {
			r.add(Misplaced, truth, f)
		}
	}
	return there
}

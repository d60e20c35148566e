package reconcile

import (
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
)

// fate is what a look has seen of a document.
type fate byte

const (
	unmet fate = iota // it is expected, and was not found yet
	equal
	stale
	different
	newer
	unreadable
	ghost
	zombie
	misplaced // of a copy, beside that of its document
	fates     // how many there are
)

// replaced tells whether something else was found in the document's place.
func (f fate) replaced() bool { return f == stale || f == different || f == newer }

// classes are those of the fates; "" where nothing differs.
var classes = [fates]Class{Missing, "", Stale, Different, Newer, Unreadable, Ghost, Zombie, Misplaced}

// item is what a look keeps of a document.
type item struct {
	content uint64 // the first half of the fingerprint's content
	version int64  // as expected, or of a ghost and a zombie as found
	number  int64
	found   uint64 // of a stale, different or newer one: the content found
	shard   int32
	fate    fate
}

// candidate may be an example, if the document's fate stays what it was.
type candidate struct {
	Key  uint64 `json:"key"`
	Fate fate   `json:"fate"`
	Example
}

// candidates is how many are kept of each fate, for the few examples that are told: ghosts
// turn out to be zombies, and a right copy may come after a wrong one.
const candidates = 500

// look compares the documents of some buckets one by one. It holds those that are expected in
// them, and those that were found besides.
type look struct {
	scope      *scope
	items      map[uint64]*item
	candidates []candidate
	kept       [fates]int // candidates, by fate
	misplaced  int64
}

func newLook(s *scope) *look { return &look{scope: s, items: map[uint64]*item{}} }

func (l *look) wants(key uint64) bool {
	_, in := l.scope.find(key)
	return in
}

// take takes a document of a side. More than limit documents are fault.Limit: more than were
// counted, as happens when a side changes.
func (l *look) take(side Side, d *kept, limit int64) error {
	at := l.items[d.key]
	if at == nil && side != Before {
		if int64(len(l.items)) >= limit {
			return fault.New(fault.Limit, "more than %d documents are in buckets that were to hold fewer: a side has changed", limit)
		}
		at = d.item()
		l.items[d.key] = at
		switch {
		case side == Found:
			at.fate = ghost
			l.candidate(at, d, ghost)
		case d.unreadable:
			at.fate = unreadable
		}
		return nil
	}
	switch side {
	case Expected:
		at.again(d)
	case Found:
		l.found(at, d)
	case Before:
		if at != nil && at.fate == ghost { // it is known to have been deleted
			at.fate = zombie
			l.candidate(at, d, zombie)
		}
	}
	return nil
}

// found takes a copy on the other side. Beside the one that counts, which is a right one if
// there is any, all are misplaced. Where the truth cannot be read, nothing is known.
func (l *look) found(at *item, d *kept) {
	is := at.judge(d)
	switch {
	case at.fate == unreadable:
		return
	case at.fate == unmet:
		at.fate = is
		if is.replaced() {
			at.found = d.content
		}
	case is == equal && (at.fate == stale || at.fate == different || at.fate == newer):
		at.fate, is = equal, misplaced
	default:
		is = misplaced
	}
	if is == misplaced {
		l.misplaced++
	}
	l.candidate(at, d, is)
}

// candidate keeps a document that differs, while there are few of its fate.
func (l *look) candidate(at *item, d *kept, is fate) {
	if is == equal || l.kept[is] >= candidates {
		return
	}
	l.kept[is]++
	e := Example{Class: classes[is], ID: d.id, Routing: d.routing, FoundVersion: max(d.version, 0)}
	if is == zombie { // a deletion comes after what it deletes
		e.ExpectedVersion, e.FoundVersion = max(d.version+1, 0), max(at.version, 0)
	}
	l.candidates = append(l.candidates, candidate{d.key, is, e})
}

// item is what is kept of a document.
func (d *kept) item() *item {
	return &item{content: d.content, version: d.version, number: d.number, shard: int32(d.shard)}
}

// again takes another copy of a document that is expected: the newest is meant. Where one
// cannot be read, what should be there is not known.
func (i *item) again(d *kept) {
	switch {
	case d.unreadable:
		i.fate = unreadable
	case i.fate != unreadable && d.version >= i.version:
		*i = *d.item()
	}
}

// judge compares what was found with what is expected.
func (i *item) judge(d *kept) fate {
	switch {
	case d.unreadable:
		return unreadable
	case i.content == d.content:
		return equal
	case i.version < 0 || d.version < 0 || i.version == d.version:
		return different
	case d.version < i.version:
		return stale
	}
	return newer
}

// report is what the look has come to, when all sides were read. Of the documents that were
// not found the examples tell where they are expected, and not their names.
func (l *look) report(index string, examples int) Report {
	r := Report{Limit: examples}
	r.count(Misplaced, l.misplaced)
	var missing []uint64
	for key, i := range l.items {
		if i.fate == equal {
			r.Equal++
			continue
		}
		r.count(classes[i.fate], 1)
		if i.fate == unmet || i.fate == unreadable {
			missing = append(missing, key)
		}
	}
	for _, c := range l.candidates {
		i := l.items[c.Key]
		if c.Fate != misplaced && i.fate != c.Fate {
			continue
		}
		if i.fate != ghost && i.fate != zombie {
			c.ExpectedVersion, c.ExpectedAt = max(i.version, 0), i.at(index)
		}
		r.example(c.Example)
	}
	slices.Sort(missing)
	for _, key := range missing {
		i := l.items[key]
		if class := classes[i.fate]; r.shows(class) < examples {
			e := Example{Class: class, ExpectedVersion: max(i.version, 0), ExpectedAt: i.at(index)}
			if !slices.ContainsFunc(r.Examples, func(o Example) bool { return o.ExpectedAt == e.ExpectedAt }) {
				r.example(e)
			}
		}
	}
	return r
}

// at is the position at which a document is expected.
func (i *item) at(index string) string {
	return document.Position{Index: index, Shard: int(i.shard), Number: i.number}.String()
}

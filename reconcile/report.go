package reconcile

import (
	"fmt"
	"strings"
)

// Class is in what way a document differs.
type Class string

// The classes.
const (
	Missing    Class = "missing"    // it should be there, and is not
	Stale      Class = "stale"      // an older version is there
	Different  Class = "different"  // something else is there, and no version tells which is older
	Newer      Class = "newer"      // a newer version is there: someone else has written; nothing to repair
	Ghost      Class = "ghost"      // it is there, and never was, or no longer is, in the truth
	Zombie     Class = "zombie"     // a ghost whose delete is known
	Misplaced  Class = "misplaced"  // a shard answers it that does not own it, or more than one does
	Unreadable Class = "unreadable" // one of the sides cannot be read, so nothing is known
)

// Classes are all of them, in the order of reports.
var Classes = []Class{Missing, Stale, Different, Newer, Ghost, Zombie, Misplaced, Unreadable}

// Example is one document that differs.
type Example struct {
	Class           Class  `json:"class"`
	ID              string `json:"id"`
	Routing         string `json:"routing,omitempty"`
	ExpectedVersion int64  `json:"expectedVersion,omitempty"`
	FoundVersion    int64  `json:"foundVersion,omitempty"`
	ExpectedAt      string `json:"expectedAt,omitempty"`
	FoundAt         string `json:"foundAt,omitempty"`
}

// Report is in what two sides differ.
type Report struct {
	Equal    int64           `json:"equal"` // of the documents that were compared one by one
	Counts   map[Class]int64 `json:"counts,omitempty"`
	Examples []Example       `json:"examples,omitempty"`
	Limit    int             `json:"-"` // of examples of each class
}

// Differences are how many there are, of all classes but [Newer]: what others have written
// since is listed, and is no fault of the copy.
func (r *Report) Differences() (n int64) {
	for class, count := range r.Counts {
		if class != Newer {
			n += count
		}
	}
	return n
}

func (r *Report) add(class Class, expected, found *Entry) {
	e := Example{Class: class}
	if expected != nil {
		e.ID, e.Routing, e.ExpectedAt = expected.ID, expected.Routing, expected.Where
		e.ExpectedVersion = max(expected.Version, 0)
	}
	if found != nil {
		e.ID, e.Routing, e.FoundAt = found.ID, found.Routing, found.Where
		e.FoundVersion = max(found.Version, 0)
	}
	r.count(class, 1)
	r.example(e)
}

func (r *Report) count(class Class, n int64) {
	if r.Counts == nil {
		r.Counts = map[Class]int64{}
	}
	r.Counts[class] += n
}

// example keeps e unless there are enough of its class.
func (r *Report) example(e Example) {
	n := 0
	for i := range r.Examples {
		if r.Examples[i].Class == e.Class {
			n++
		}
	}
	if n < r.Limit {
		r.Examples = append(r.Examples, e)
	}
}

// AddUnreadable counts n documents of which not even the identity could be read, and where.
func (r *Report) AddUnreadable(n int64, where string) {
	r.count(Unreadable, n)
	r.example(Example{Class: Unreadable, ExpectedAt: where})
}

// Merge adds what another group, or another worker, has found.
func (r *Report) Merge(o *Report) {
	r.Equal += o.Equal
	for _, class := range Classes {
		if n := o.Counts[class]; n != 0 {
			r.count(class, n)
		}
	}
	for _, e := range o.Examples {
		r.example(e)
	}
}

// String is the report for people: how many differ by class, then the examples.
//
//	missing 2, ghost 1
//	missing "42" routing "a" version 3 at books/0/17
//	stale "7" version 2 at books/0/3; found version 1 at shard 4
func (r Report) String() string {
	var counts []string
	for _, class := range Classes {
		if n := r.Counts[class]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", class, n))
		}
	}
	if len(counts) == 0 {
		return "no differences"
	}
	lines := []string{strings.Join(counts, ", ")}
	for _, e := range r.Examples {
		lines = append(lines, e.String())
	}
	return strings.Join(lines, "\n")
}

// String is the example in one line.
func (e Example) String() string {
	s := string(e.Class)
	if e.ID != "" {
		s += fmt.Sprintf(" %q", e.ID)
	}
	if e.Routing != "" {
		s += fmt.Sprintf(" routing %q", e.Routing)
	}
	there := e.ExpectedVersion > 0 || e.ExpectedAt != ""
	s += place(e.ExpectedVersion, e.ExpectedAt)
	if e.FoundVersion > 0 || e.FoundAt != "" {
		if there {
			s += "; found"
		}
		s += place(e.FoundVersion, e.FoundAt)
	}
	return s
}

func place(version int64, where string) (s string) {
	if version > 0 {
		s = fmt.Sprintf(" version %d", version)
	}
	if where != "" {
		s += " at " + where
	}
	return s
}

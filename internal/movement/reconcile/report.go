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
}

// Report is in what two sides differ.
type Report struct {
	Equal    int64           `json:"equal"` // of the documents that were compared one by one
	Counts   map[Class]int64 `json:"counts,omitempty"`
	Examples []Example       `json:"examples,omitempty"`
	// Rest is what is known to differ, and was not compared document by document; nil: all was.
	Rest  *Rest `json:"rest,omitempty"`
	Limit int   `json:"-"` // of examples of each class
}

// Rest are buckets that are unequal, of more documents than are compared one by one: nobody
// knows how many of them differ.
type Rest struct {
	Buckets  int64 `json:"buckets"`
	Expected int64 `json:"expected"` // documents in them
	Found    int64 `json:"found"`
	// Missing and Ghosts are at least how many of them are, since a bucket has fewer, or more,
	// on the other side.
	Missing int64 `json:"missing,omitempty"`
	Ghosts  int64 `json:"ghosts,omitempty"`
}

func restOf(all []unequal) *Rest {
	if len(all) == 0 {
		return nil
	}
	r := &Rest{Buckets: int64(len(all))}
	for i := range all {
		expected, found := all[i].documents[Expected], all[i].documents[Found]
		r.Expected, r.Found = r.Expected+expected+all[i].suspects, r.Found+found
		if all[i].suspects == 0 {
			r.Missing, r.Ghosts = r.Missing+max(expected-found, 0), r.Ghosts+max(found-expected, 0)
		}
	}
	return r
}

// String is the rest for people.
func (r *Rest) String() string {
	s := fmt.Sprintf("of %d documents in %d more buckets, where %d were found, some differ and were not compared one by one", r.Expected, r.Buckets, r.Found)
	if r.Missing > 0 {
		s += fmt.Sprintf("; at least %d of them are missing", r.Missing)
	}
	if r.Ghosts > 0 {
		s += fmt.Sprintf("; at least %d were found that are not expected", r.Ghosts)
	}
	return s
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

func (r *Report) count(class Class, n int64) {
	if n == 0 {
		return
	}
	if r.Counts == nil {
		r.Counts = map[Class]int64{}
	}
	r.Counts[class] += n
}

// shows is how many examples of a class there are.
func (r *Report) shows(class Class) (n int) {
	for i := range r.Examples {
		if r.Examples[i].Class == class {
			n++
		}
	}
	return n
}

// example keeps e unless there are enough of its class.
func (r *Report) example(e Example) {
	if r.shows(e.Class) < r.Limit {
		r.Examples = append(r.Examples, e)
	}
}

// merge adds what another look has found.
func (r *Report) merge(o *Report) {
	r.Equal += o.Equal
	for _, class := range Classes {
		r.count(class, o.Counts[class])
	}
	for _, e := range o.Examples {
		r.example(e)
	}
}

// String is the report for people: how many differ by class, what was not compared one by one;
// then the examples.
//
//	missing 2, ghost 1
//	missing "42" routing "a" version 3 at books/0/17
//	stale "7" version 2 at books/0/3; found version 1
func (r Report) String() string {
	var counts []string
	for _, class := range Classes {
		if n := r.Counts[class]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", class, n))
		}
	}
	if len(counts) == 0 && r.Rest == nil {
		return "no differences"
	}
	first := strings.Join(counts, ", ")
	switch {
	case r.Rest != nil && first != "":
		first += "; " + r.Rest.String()
	case r.Rest != nil:
		first = r.Rest.String()
	}
	lines := []string{first}
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
	if e.ExpectedVersion > 0 {
		s += fmt.Sprintf(" version %d", e.ExpectedVersion)
	}
	if e.ExpectedAt != "" {
		s += " at " + e.ExpectedAt
	}
	if e.FoundVersion > 0 && (e.ExpectedVersion > 0 || e.ExpectedAt != "") {
		s += "; found"
	}
	if e.FoundVersion > 0 {
		s += fmt.Sprintf(" version %d", e.FoundVersion)
	}
	return s
}

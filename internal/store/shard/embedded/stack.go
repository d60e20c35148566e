package embedded

import (
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// stack is the entries of a shard as of one sequence number: each document of a range
// is shown by exactly one. It is never changed.
type stack struct {
	indexed int64         // what was written up to it is found
	covers  routing.Range // in which
	entries []*entry
	lost    []numbers // what is missing; a stack that lacks something is not published
	rows    rowCount  // of the documents that there are as of indexed, in the range
	wrong   error     // the entries show another number of documents; nil: they do not, or it is not known
	views   []segment.View
	users   atomic.Int64
}

// rowCount is how many documents the rows hold. The zero value is not known.
type rowCount struct {
	docs    int64
	known   bool // else it is not
	counted bool // else it is what segments have shown, until the rows have been counted
}

// newStack takes over one use of the file of each entry. It has one user.
func newStack(indexed int64, covers routing.Range, lost []numbers, entries []*entry) *stack {
	s := &stack{indexed: indexed, covers: covers, lost: lost, entries: entries}
	for _, e := range entries {
		s.views = append(s.views, segment.View{Segment: e.Segment, Hidden: e.hidden, File: e.path})
	}
	s.users.Store(1)
	return s
}

// of says how many documents there are, and looks whether the entries show as many. Nobody else has
// the stack yet.
func (s *stack) of(rows rowCount) *stack {
	s.rows, s.wrong = rows, nil
	if !rows.known || !rows.counted || len(s.lost) > 0 {
		return s
	}
	shown := int64(0)
	for _, e := range s.entries {
		shown += int64(e.docs)
	}
	if shown != rows.docs {
		s.wrong = fault.New(fault.Corrupt, "searches show %d documents, and there are %d, as of number %d", shown, rows.docs, s.indexed)
	}
	return s
}

// whole is why the stack does not show what there is; nil when it does, or that is not known. Nil
// is whole.
func (s *stack) whole() error {
	if s == nil {
		return nil
	}
	return s.wrong
}

// claim is the number up to which a manifest of the entries that are files finds everything:
// that of the stack, or the one before the first document that is in memory alone, which the
// changes from there on bring back. It is false when they would not: something is lost, or in
// memory alone and in no change.
func (s *stack) claim() (committed int64, ok bool) {
	committed = s.indexed
	if committed < 0 || len(s.lost) > 0 {
		return 0, false
	}
	for _, e := range s.entries {
		if e.name != "" {
			continue
		}
		if e.scanned {
			return 0, false
		}
		committed = min(committed, e.first-1)
	}
	return committed, true
}

// files are the entries that are files.
func (s *stack) files() (entries []*entry) {
	for _, e := range s.entries {
		if e.name != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// inMemory are the entries that are in memory alone, by their sequence numbers.
func (s *stack) inMemory() (entries []*entry) {
	for _, e := range s.entries {
		if e.name == "" {
			entries = append(entries, e)
		}
	}
	return ordered(entries)
}

// last is the greatest sequence number of its documents.
func (s *stack) last() int64 {
	last := int64(-1)
	for _, e := range s.entries {
		last = max(last, e.last)
	}
	return last
}

// count is that of its entries. Nil has none.
func (s *stack) count() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// retain adds a user. Nil has none.
func (s *stack) retain() *stack {
	if s != nil {
		s.users.Add(1)
	}
	return s
}

// release ends one use; with the last one it lets go of the files.
func (s *stack) release() {
	if s == nil || s.users.Add(-1) > 0 {
		return
	}
	for _, e := range s.entries {
		e.release()
	}
}

// inRAM is how many bytes of the segments are in memory.
func (s *stack) inRAM() (size int64) {
	if s == nil {
		return 0
	}
	for _, e := range s.inMemory() {
		size += int64(e.Bytes())
	}
	return size
}

// covers reports whether r is within outer.
func covers(outer, r routing.Range) bool { return outer.From <= r.From && r.To <= outer.To }

// without are the parts of a range that are not in another.
func without(r, other routing.Range) (parts []routing.Range) {
	meet, any := r.Meet(other)
	if !any {
		return []routing.Range{r}
	}
	if r.From < meet.From {
		parts = append(parts, routing.Range{From: r.From, To: meet.From - 1})
	}
	if meet.To < r.To {
		parts = append(parts, routing.Range{From: meet.To + 1, To: r.To})
	}
	return parts
}

package embedded

import (
	"math"

	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/shard"
)

// edit makes the next stack out of one: it hides documents, and copies what it changes.
// An entry whose segment turns out to be damaged is lost.
type edit struct {
	base    *stack
	entries []edited
}

// edited is an entry and what is hidden of it now.
type edited struct {
	*entry
	hidden *segment.Bits
	shown  int
	own    bool  // hidden is a copy
	lost   error // *segment.Damaged
}

func newEdit(base *stack) *edit {
	ed := &edit{base: base, entries: make([]edited, len(base.entries))}
	for i, e := range base.entries {
		ed.entries[i] = edited{entry: e, hidden: e.hidden, shown: e.shown}
	}
	return ed
}

// hide takes a document away that is shown as of a sequence number, if it is.
func (ed *edit) hide(ref shard.Ref, seqNo int64) {
	for i := len(ed.entries) - 1; i >= 0; i-- {
		if e := &ed.entries[i]; seqNo >= e.first && seqNo <= e.last && e.hide(ref, seqNo) {
			return
		}
	}
}

func (e *edited) hide(ref shard.Ref, seqNo int64) (found bool) {
	e.guarded(func() {
		var doc segment.Doc
		if doc, found = e.find(ref, seqNo); !found {
			return
		}
		e.copy()
		for child := e.FirstChild(doc); child <= doc; child++ {
			if !e.hidden.Has(child) {
				e.hidden.Set(child)
				e.shown--
			}
		}
	})
	return found
}

// copy makes hidden the edit's own.
func (e *edited) copy() {
	switch {
	case e.own:
		return
	case e.hidden == nil:
		e.hidden = segment.NewBits(e.Docs())
	default:
		e.hidden = e.hidden.Clone()
	}
	e.own = true
}

// guarded does what reads the segment, unless that is lost.
func (e *edited) guarded(do func()) {
	if e.lost == nil {
		e.lost = segment.Guard(func() error { do(); return nil })
	}
}

// narrow hides what is outside of a range.
func (ed *edit) narrow(within routing.Range) {
	for i := range ed.entries {
		e := &ed.entries[i]
		e.guarded(func() {
			out := e.OutOf(within)
			e.copy()
			into := e.hidden.Words()
			for w, more := range out.Words() {
				into[w] |= more
			}
			e.shown = e.Docs() - e.hidden.Count()
		})
	}
}

// shows reports whether a document is shown as of a sequence number.
func (ed *edit) shows(ref shard.Ref, seqNo int64) (shown bool) {
	for i := range ed.entries {
		e := &ed.entries[i]
		e.guarded(func() {
			doc, found := e.find(ref, seqNo)
			shown = found && (e.hidden == nil || !e.hidden.Has(doc))
		})
		if shown && e.lost == nil {
			return true
		}
	}
	return false
}

// numbers are sequence numbers from first to last.
type numbers struct{ first, last int64 }

var allNumbers = numbers{0, math.MaxInt64}

func (n numbers) contains(seqNo int64) bool { return n.first <= seqNo && seqNo <= n.last }

// rest is the base without what is lost, and the numbers of that behind others; nil when
// these may have been given out again since, by this shard.
func (ed *edit) rest(lost []numbers) (*stack, []numbers) {
	left := &stack{indexed: ed.base.indexed, covers: ed.base.covers}
	for i := range ed.entries {
		e := &ed.entries[i]
		switch {
		case e.lost == nil:
			left.entries = append(left.entries, e.entry)
		case e.last > ed.base.indexed: // another shard's numbers
			return nil, nil
		default:
			lost = append(lost, numbers{e.first, e.last})
		}
	}
	return left, lost
}

// finish is the next stack: what is left of the entries, and more, whose files it takes
// over.
func (ed *edit) finish(indexed int64, within routing.Range, more []*entry) *stack {
	var entries []*entry
	for _, e := range ed.entries {
		if e.shown == 0 {
			continue
		}
		kept := e.entry
		if e.own {
			changed := *e.entry
			changed.hidden, changed.shown = e.hidden, e.shown
			kept = &changed
		}
		kept.retain()
		entries = append(entries, kept)
	}
	return newStack(indexed, within, append(entries, more...))
}

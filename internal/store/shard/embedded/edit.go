package embedded

import (
	"slices"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
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
	docs   int
	own    bool  // hidden is a copy
	lost   error // *segment.Damaged
}

func newEdit(base *stack) *edit {
	ed := &edit{base: base, entries: make([]edited, len(base.entries))}
	for i, e := range base.entries {
		ed.entries[i] = edited{entry: e, hidden: e.hidden, shown: e.shown, docs: e.docs}
	}
	return ed
}

// hide takes a document away that is shown as of a sequence number, if it is. Entries may
// hold it that hide it already, because it was outside of the range for a while.
func (ed *edit) hide(ref shard.Ref, seqNo int64) {
	for i := len(ed.entries) - 1; i >= 0; i-- {
		if e := &ed.entries[i]; seqNo >= e.first && seqNo <= e.last && e.hide(ref, seqNo) {
			return
		}
	}
}

func (e *edited) hide(ref shard.Ref, seqNo int64) (shown bool) {
	e.guarded(func() {
		doc, found := e.find(ref, seqNo)
		if !found || e.hidden != nil && e.hidden.Has(doc) {
			return
		}
		shown = true
		e.copy()
		e.docs--
		for child := e.FirstChild(doc); child <= doc; child++ {
			e.hidden.Set(child)
			e.shown--
		}
	})
	return shown
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
			e.hidden.Add(out)
			e.shown, e.docs = shows(e.Segment, e.hidden)
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

// damage is the first of what was lost.
func (ed *edit) damage() error {
	for i := range ed.entries {
		if err := ed.entries[i].lost; err != nil {
			return err
		}
	}
	return nil
}

// rest is the stack of what is not lost.
func (ed *edit) rest() *stack {
	left, lost := []edited{}, slices.Clone(ed.base.lost)
	for _, e := range ed.entries {
		if e.lost == nil {
			left = append(left, e)
		} else {
			lost = append(lost, e.numbers())
		}
	}
	ed.entries = left
	return newStack(ed.base.indexed, ed.base.covers, lost, ed.kept()).of(ed.base.rows)
}

// kept are the entries that still show something, with one more use of their files.
func (ed *edit) kept() (entries []*entry) {
	for _, e := range ed.entries {
		if e.shown == 0 {
			continue
		}
		kept := e.entry
		if e.own {
			changed := *e.entry
			changed.hidden, changed.shown, changed.docs = e.hidden, e.shown, e.docs
			kept = &changed
		}
		kept.retain()
		entries = append(entries, kept)
	}
	return entries
}

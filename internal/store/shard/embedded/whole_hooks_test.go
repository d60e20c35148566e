package embedded

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// HoldRepairs lets no shard index again what it lacks, until it is undone.
func (e *Engine) HoldRepairs() (undo func()) {
	e.repairing <- struct{}{}
	return func() { <-e.repairing }
}

// The ways in which Spoil makes a shard show something else than there is.
const (
	MaskHidesMore  = "a mask hides a document that is there"
	MaskHidesLess  = "a mask hides nothing"
	EntryDropped   = "an entry is dropped"
	EntryTwice     = "an entry is shown twice"
	MergeDropsSome = "a merge drops a document"
)

// Spoils are all ways.
var Spoils = []string{MaskHidesMore, MaskHidesLess, EntryDropped, EntryTwice, MergeDropsSome}

// Spoil does to the newest stack of a shard what a fault in its making would. The first entry
// hides something.
func Spoil(s shard.Shard, how string) error {
	x := s.(*local).segments
	return x.inTurn(context.Background(), nil, func() error {
		base := x.retained()
		defer base.release()
		at := 0
		for i, e := range base.entries {
			if e.hidden != nil {
				at = i
			}
		}
		ed := newEdit(base)
		spoiled := &ed.entries[at]
		shown := firstShown(spoiled.Segment, spoiled.hidden)
		switch how {
		case MaskHidesMore:
			spoiled.hide(shard.Ref{Key: spoiled.Key(shown), ID: spoiled.ID(shown)}, spoiled.SeqNo(shown))
		case MaskHidesLess:
			spoiled.hidden, spoiled.own = nil, true
			spoiled.shown, spoiled.docs = shows(spoiled.Segment, nil)
		case EntryDropped:
			ed.entries = append(ed.entries[:at], ed.entries[at+1:]...)
		case EntryTwice:
			ed.entries = append(ed.entries, *spoiled)
		case MergeDropsSome:
			return x.spoilMerge(base.entries[at], shown)
		}
		x.shard.mu.Lock()
		defer x.shard.mu.Unlock()
		x.set(ed.rest())
		return x.show()
	})
}

// firstShown is the first document that is not hidden.
func firstShown(s *segment.Segment, hidden *segment.Bits) (doc segment.Doc) {
	for !s.IsRoot(doc) || hidden != nil && hidden.Has(doc) {
		doc++
	}
	return doc
}

// spoilMerge puts a segment into the place of an entry that was made without one of its docs.
func (x *segments) spoilMerge(e *entry, without segment.Doc) error {
	hidden := segment.NewBits(e.Docs())
	if e.hidden != nil {
		hidden = e.hidden.Clone()
	}
	for doc := e.FirstChild(without); doc <= without; doc++ {
		hidden.Set(doc)
	}
	var data bytes.Buffer
	err := segment.Merge(context.Background(), &data, []segment.View{{Segment: e.Segment, Hidden: hidden}})
	if err != nil {
		return err
	}
	r := rewritten{sources: []*entry{e}}
	if r.file, err = inMemory(data.Bytes()); err != nil {
		return err
	}
	defer r.file.release()
	return x.replace(r)
}

// SpoilStored does to the manifest of a closed shard what a fault in its making would: the
// mask of an entry hides one document more, or an entry is not listed.
func (e *Engine) SpoilStored(id shard.ID, mask bool) error {
	value, err := get(e.db, manifestKey(id))
	if err != nil {
		return err
	}
	m, err := readManifest(value)
	if err != nil {
		return err
	}
	if !mask {
		m.entries = m.entries[1:]
		return e.db.Set(manifestKey(id), encodeManifest(&m), pebble.Sync)
	}
	for _, of := range m.entries {
		if !of.hides {
			continue
		}
		en, err := openListed(e.files, e.db, id.Index, of, maskKey(id, of.number), nil)
		if err != nil {
			return err
		}
		hidden, root := en.hidden.Clone(), firstShown(en.Segment, en.hidden)
		for doc := en.FirstChild(root); doc <= root; doc++ {
			hidden.Set(doc)
		}
		en.release()
		return e.db.Set(maskKey(id, of.number), hidden.AppendTo(nil), pebble.Sync)
	}
	return errors.New("no entry hides anything")
}

// Miscount makes the count of documents of a shard another one.
func Miscount(s shard.Shard, by int64) {
	l := s.(*local)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.docs += by
}

// Estimate makes it what segments have shown, as after a hand-off, and counts.
func Estimate(s shard.Shard) {
	l := s.(*local)
	l.mu.Lock()
	l.state.estimated = true
	l.mu.Unlock()
}

// Count counts the rows of a shard whose counts are estimates.
func Count(s shard.Shard) error { return s.(*local).countAgain(context.Background()) }

// Lie hides a document of the newest stack, and counts it still.
func Lie(s shard.Shard) error {
	x := s.(*local).segments
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	ed := newEdit(x.stack)
	e := &ed.entries[0]
	shown, docs, doc := e.shown, e.docs, firstShown(e.Segment, e.hidden)
	e.hide(shard.Ref{Key: e.Key(doc), ID: e.ID(doc)}, e.SeqNo(doc))
	e.shown, e.docs = shown, docs
	x.set(ed.rest())
	return x.show()
}

// Again indexes what a shard lacks.
func Again(ctx context.Context, s shard.Shard, told func(rows int64)) error {
	_, err := s.(*local).segments.again(ctx, true, told)
	return err
}

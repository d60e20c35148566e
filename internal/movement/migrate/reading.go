package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/snapshot"
)

// How much of a slice of the target is read between two marks.
const (
	markEvery = 4096 // documents
	markAfter = time.Second
)

// reading is one part of a side that is being read.
type reading struct {
	*comparing
	side    reconcile.Side
	n       int
	part    *reconcile.Part
	printer document.Fingerprinter
	marked  time.Time
	count   int64           // of documents since then
	tally   transform.Tally // of what the steps did to them; nil: it is not counted
}

// part reads a part of a side from a mark on.
func (c *comparing) part(ctx context.Context, side reconcile.Side, n int, from mark) error {
	c.mu.Lock()
	r := &reading{comparing: c, side: side, n: n, part: c.run.Part(side), marked: time.Now()}
	if program := c.shapes[c.index.Name]; program != nil && side == reconcile.Expected && c.run.Pass() == 0 {
		r.tally = program.NewTally()
	}
	c.mu.Unlock()
	if side == reconcile.Found {
		return r.slice(ctx, from)
	}
	return c.shardOf(ctx, side, n, from, func(docs *snapshot.Documents) error { return r.shard(docs, from) })
}

// take takes over what was read up to a mark.
func (r *reading) take(at mark) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.run.Take(r.part); err != nil {
		return err
	}
	r.Marks[r.side][r.n] = at
	r.Read += r.count
	if r.side == reconcile.Found {
		r.ReadFound += r.count
	}
	r.count, r.marked, r.dirty = 0, time.Now(), true
	if r.tally != nil {
		r.Steps = r.Steps.Add(r.tally)
		r.tally = r.shapes[r.index.Name].NewTally()
	}
	return nil
}

// shardOf opens a shard of the snapshot, or of the one before it, from a mark on.
func (c *comparing) shardOf(ctx context.Context, side reconcile.Side, n int, from mark, read func(*snapshot.Documents) error) error {
	index, partial := c.index, c.plan.AllowPartial
	if side == reconcile.Before {
		index, partial = c.older, true
	}
	shard, err := index.Shard(ctx, n)
	if partial && fault.Is(err, fault.NotFound) {
		return nil
	}
	var docs *snapshot.Documents
	if err == nil {
		docs, err = shard.Documents(ctx, snapshot.ReadOptions{From: from.Position, Versions: true})
	}
	if err != nil {
		return errDamaged(index.Name, n, err)
	}
	defer docs.Close()
	if err := read(docs); err != nil {
		return err
	}
	if docs.Err() != nil {
		return errDamaged(index.Name, n, docs.Err())
	}
	return nil
}

// shard reads a shard to its end, checksums included: so a mark is the end of a segment.
func (r *reading) shard(docs *snapshot.Documents, from mark) error {
	for docs.Next() {
		if at := docs.Confirmed(); at > from.Position {
			from.Position = at
			if err := r.take(from); err != nil {
				return err
			}
		}
		r.count++
		r.expected(docs.Document())
	}
	if docs.Err() != nil {
		return nil // shardOf tells it
	}
	return r.take(mark{Ended: true})
}

// expected takes a document of a snapshot.
func (r *reading) expected(doc *document.Document) {
	key := r.printer.Key(doc.ID, doc.Routing)
	if !r.part.Wants(key) {
		return
	}
	if r.belongs != nil && r.side == reconcile.Expected && !r.belongs(doc) {
		return
	}
	if r.side == reconcile.Expected && r.gaps.has(doc) {
		return
	}
	kept, failure := r.shape(doc, r.tally)
	if !kept {
		return
	}
	e := r.entry(key, doc)
	e.Shard, e.Number, e.Unreadable = doc.Position.Shard, doc.Position.Number, doc.Source == nil || failure != nil
	r.part.Add(e)
}

// slice reads a slice of the target.
func (r *reading) slice(ctx context.Context, from mark) error {
	slice := r.open().Slice(r.n, from.After)
	for {
		doc, err := slice.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.take(mark{Ended: true})
		}
		if fault.Is(err, fault.Stale) {
			return fmt.Errorf("%w: %w", errPointLost, err)
		}
		if err != nil {
			return err
		}
		r.count++
		if key := r.printer.Key(doc.ID, doc.Routing); r.part.Wants(key) {
			r.part.Add(r.entry(key, doc))
		}
		if r.count >= markEvery || time.Since(r.marked) > markAfter {
			if err := r.take(mark{After: slice.Cursor()}); err != nil {
				return err
			}
		}
	}
}

// entry is a document whose key was the last that the printer was asked for.
func (r *reading) entry(key uint64, doc *document.Document) reconcile.Entry {
	e := reconcile.Entry{Fingerprint: document.Fingerprint{Key: key, Content: r.printer.Content(doc.Source)}, ID: doc.ID, Routing: doc.Routing, Version: reconcile.UnknownVersion}
	if doc.Versions != nil && (!r.plan.NoVersions || !r.compares()) { // what no versions were sent to has some of its own
		e.Version = doc.Versions.Version
	}
	return e
}

package memory

import (
	"bytes"
	"context"
	"iter"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// view is the truth at one sequence number. It never changes.
type view struct {
	seqNo  int64
	docs   int64
	rows   tree
	within routing.Range
	found  *segments
}

// over is the view of a shard that owns r.
func (v view) over(r routing.Range) view {
	if v.within != r {
		counted := truth{rows: v.rows}
		counted.recount(r)
		v.within, v.docs, v.found = r, counted.counts.docs, &segments{}
	}
	return v
}

// Reader is a shard.Reader in memory.
type Reader struct {
	shard *Shard
	view
	close sync.Once
}

// SeqNo is that of the refresh that published the view.
func (r *Reader) SeqNo() int64 { return r.seqNo }

// Docs is counted at the refresh.
func (r *Reader) Docs() int64 { return r.docs }

// Views are one, or none where there is no document. It is made by the first who asks.
func (r *Reader) Views() []segment.View { return r.found.of(r.rows, r.within, r.shard.indexer) }

// Lacks is nil: views are made out of the rows.
func (r *Reader) Lacks() error { return nil }

// Get gives a row that belongs to the caller, tombstones included.
func (r *Reader) Get(ctx context.Context, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	if ctx.Err() != nil {
		return shard.Row{}, false, unavailable(ctx)
	}
	if err := r.usable(); err != nil || !r.within.Contains(ref.Key) {
		return shard.Row{}, false, err
	}
	return owned(r.rows, ref, noSource)
}

// Rows gives all rows the same buffer for their sources, as Scan does.
func (r *Reader) Rows() shard.Rows { return &rows{of: r} }

type rows struct {
	of     *Reader
	buffer []byte
}

func (r *rows) Get(ctx context.Context, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	row, found, err := r.of.Get(ctx, ref, noSource)
	clear(r.buffer)
	if row.Source != nil {
		r.buffer = append(r.buffer[:0], row.Source...)
		row.Source = r.buffer
	}
	return row, found, err
}

func (r *rows) Close() error { return nil }

// owned is a row whose slices nobody else has.
func owned(rows tree, ref shard.Ref, noSource bool) (shard.Row, bool, error) {
	found, known := rows.get(ref)
	if !known {
		return shard.Row{}, false, nil
	}
	row := *found
	row.Source = bytes.Clone(row.Source)
	if noSource {
		row.Source = nil
	}
	return row, true, nil
}

// Scan gives all rows the same buffer for their sources, so that who keeps one past
// its step is found out by the tests that run on this engine.
func (r *Reader) Scan(ctx context.Context, what shard.Select) iter.Seq2[shard.Row, error] {
	return func(yield func(shard.Row, error) bool) {
		if err := r.usable(); err != nil {
			yield(shard.Row{}, err)
			return
		}
		meet, any := r.within.Meet(what.Range)
		if !any {
			return
		}
		var buffer []byte
		for found := range r.rows.within(meet, what.After) {
			if ctx.Err() != nil {
				yield(shard.Row{}, unavailable(ctx))
				return
			}
			if found.Deleted && !what.Tombstones {
				continue
			}
			row := *found
			clear(buffer)
			buffer = append(buffer[:0], row.Source...)
			row.Source = buffer
			if row.Deleted || what.NoSource {
				row.Source = nil
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (r *Reader) usable() error {
	r.shard.mu.Lock()
	defer r.shard.mu.Unlock()
	if !r.shard.readers[r] {
		return fault.New(fault.Unavailable, "the reader is closed")
	}
	return nil
}

// Close may be called again.
func (r *Reader) Close() error {
	r.close.Do(func() {
		r.shard.mu.Lock()
		defer r.shard.mu.Unlock()
		delete(r.shard.readers, r)
		r.shard.idle.Broadcast()
	})
	return nil
}

package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// harvest makes segments of rows of one view.
type harvest struct {
	ctx context.Context
	*segments
	*indexing        // while a segment is in the making
	view             *view
	held             numbers // by the segment in the making
	scans            bool    // rows are read that need not be in any change
	docs             int     // in it, children not counted
	entries          []*entry
	inRAM            int64 // bytes of them
	partiallyIndexed int   // rows that could not be indexed wholly
	why              error // the first of them could not
}

func (x *segments) harvest(ctx context.Context, v *view) *harvest {
	return &harvest{ctx: ctx, segments: x, view: v}
}

// add puts a row, of which nothing is kept.
func (h *harvest) add(row shard.Row) error {
	if h.ctx.Err() != nil { // a large text takes a second, and a closing shard is waited for
		return fault.Wrap(fault.Unavailable, context.Cause(h.ctx))
	}
	if h.indexing == nil {
		i, err := h.shard.engine.makers.next(h.ctx, h.indexer)
		if err != nil {
			return err
		}
		h.indexing = i
	}
	if err := h.put(row); err != nil {
		if h.partiallyIndexed++; h.why == nil {
			h.why = err
		}
	}
	if h.docs == 0 {
		h.held = numbers{row.SeqNo, row.SeqNo}
	}
	h.held.first, h.held.last = min(h.held.first, row.SeqNo), max(h.held.last, row.SeqNo)
	h.docs++
	if int64(h.builder.Bytes()) < h.shard.engine.tiers.builder {
		return nil
	}
	return h.cut()
}

// cut ends a segment.
func (h *harvest) cut() error {
	if h.docs == 0 {
		return nil
	}
	h.docs = 0
	data, err := h.builder.Build()
	if err != nil {
		return err
	}
	h.leave(h.indexing) // it is empty
	f, err := inMemory(data)
	if err != nil {
		return err
	}
	h.entries = append(h.entries, &entry{file: f, first: h.held.first, last: h.held.last, shown: f.Docs(), docs: f.Roots(), scanned: h.scans})
	if h.inRAM += int64(len(data)); h.inRAM > h.shard.engine.tiers.held {
		return h.spill()
	}
	return nil
}

// spill writes what is in memory to a file. Where it cannot be written it stays in
// memory, up to some times as much.
func (h *harvest) spill() error {
	var kept, inRAM []*entry
	for _, e := range h.entries {
		if e.name == "" {
			inRAM = append(inRAM, e)
		} else {
			kept = append(kept, e)
		}
	}
	r, err := h.rewrite(h.ctx, ordered(inRAM), true)
	if err != nil {
		if h.inRAM < 8*h.shard.engine.tiers.held {
			return nil
		}
		return err
	}
	written := r.entry()
	for _, e := range inRAM {
		e.release()
	}
	h.entries, h.inRAM = append(kept, written), 0
	return nil
}

// finish gives the entries of all that was added.
func (h *harvest) finish() ([]*entry, error) {
	if err := h.cut(); err != nil {
		return nil, err
	}
	if h.why != nil {
		h.shard.engine.options.Logger.Warn("store: documents cannot be found by all of their fields",
			"shard", place(h.shard.id), "documents", h.partiallyIndexed, "cause", h.why)
	}
	return h.entries, nil
}

// drop lets go of what was made, after a failure. The builder may hold something, and
// is not used again.
func (h *harvest) drop() {
	if h.indexing != nil {
		h.leave(nil)
	}
	for _, e := range h.entries {
		e.release()
	}
}

// leave lets another segment be in the making, with that builder.
func (h *harvest) leave(spare *indexing) {
	h.indexing = nil
	h.shard.engine.makers <- spare
}

const (
	fetchRows  = 512     // are read at once
	fetchBytes = 4 << 20 // of sources, at most; what comes behind is read one by one
)

// fetched is a row as a change left it.
type fetched struct {
	shard.Row
	there bool // else it was deleted, or written again
	known bool // it need not be read
	late  bool // it is to be read again, with its source
}

// changed adds the documents that changes have left, in their order.
func (h *harvest) changed(changes []shard.Change) error {
	rows := make([]fetched, len(changes))
	left := 0
	for i, c := range changes {
		if w := h.view.recent.get(c.SeqNo); w != nil {
			rows[i] = fetched{Row: w.row(c.Ref), there: !w.gone, known: true}
		} else {
			left++
		}
	}
	if left > 0 {
		if err := h.view.read(func(from *pebble.Snapshot) error { return h.fetch(from, changes, rows) }); err != nil {
			return err
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.late {
			err := h.view.read(func(from *pebble.Snapshot) (err error) {
				row.Row, row.there, err = h.shard.get(from, row.Ref, false)
				return err
			})
			if err != nil {
				return err
			}
		}
		if !row.there {
			continue
		}
		if err := h.add(row.Row); err != nil {
			return err
		}
		row.Row = shard.Row{}
	}
	return nil
}

// fetch reads rows in the order of their keys: neighbours lie in one file.
func (h *harvest) fetch(from *pebble.Snapshot, changes []shard.Change, rows []fetched) error {
	var order []int
	for i := range changes {
		if !rows[i].known {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(changes[a].Key, changes[b].Key), cmp.Compare(changes[a].ID, changes[b].ID))
	})
	it, err := h.shard.rows(from, false)
	if err != nil {
		return err
	}
	defer it.Close()
	var sources []byte
	for _, i := range order {
		late := len(sources) > fetchBytes
		row, found, err := h.shard.find(it, changes[i].Ref, late, nil)
		if err != nil {
			return err
		}
		if !found || row.SeqNo != changes[i].SeqNo || row.Deleted {
			continue
		}
		at := len(sources)
		sources = append(sources, row.Source...)
		row.Source = sources[at:len(sources):len(sources)]
		rows[i] = fetched{Row: row, there: true, late: late}
	}
	return nil
}

// sparse is how many rows a scan passes over until it ends the segment that is in the making: there are few at a time,
// and other shards wait.
const sparse = 10_000

// scanned adds the documents of a range whose sequence numbers are among some, and that
// the edit does not show.
func (h *harvest) scanned(part routing.Range, among []numbers, ed *edit) error {
	wanted := func(row *shard.Row) bool {
		return slices.ContainsFunc(among, func(n numbers) bool { return n.contains(row.SeqNo) }) && !ed.shows(row.Ref, row.SeqNo)
	}
	h.scans = true
	var failed error
	passed := 0
	err := (&reader{view: h.view}).scan(h.ctx, shard.Select{Range: part}, func(row shard.Row) bool {
		if passed++; wanted(&row) {
			failed, passed = h.add(row), 0
		} else if passed == sparse {
			failed = h.cut()
		}
		return failed == nil
	})
	return cmp.Or(failed, err)
}

package embedded

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Reindex makes all segments again.
func (s *local) Reindex(ctx context.Context, told func(rows int64)) error {
	done, err := s.begin(0)
	if err != nil {
		return err
	}
	defer done()
	if s.segments == nil {
		_, err = s.Refresh(ctx)
		return err
	}
	s.segments.made[forOrder].Add(1)
	_, err = s.segments.again(ctx, false, told)
	return s.failure(err)
}

// again makes a stack out of the rows of what is published, beside the turn, and publishes it with
// what was written meanwhile. With keep, documents that are shown as the rows are stay in their
// segments, and the others are indexed; without, all are. Told gets the number of rows that were
// read.
func (x *segments) again(ctx context.Context, keep bool, told func(rows int64)) (indexed int64, err error) {
	ctx, end := x.untilClosed(ctx)
	defer end()
	if _, err := x.refresh(ctx); err != nil {
		return 0, err
	}
	s := x.shard
	s.mu.Lock()
	was, v := s.settled(), s.published
	v.users++
	s.mu.Unlock()
	r := &reader{view: v} // keeps the changes behind it
	defer r.Close()
	if v.stack == nil {
		return 0, fault.New(fault.Unavailable, "it is being indexed")
	}
	g := &gathering{harvest: x.harvest(ctx, v), told: told}
	g.scans = true
	if keep {
		g.keep(v.stack)
	} else if err := x.roomFor(v.stack.entries); err != nil {
		return 0, err
	}
	st, err := g.stack()
	if err != nil {
		return 0, err
	}
	defer st.release()
	return g.indexed, x.inTurn(ctx, nil, func() error { return x.moveTo(ctx, v, st, was) })
}

// settled is what has settled the counts of a shard, and how often.
type settled struct {
	stated    int // its state was taken from disk, or counted for another range
	corrected int // its documents were, by what was read
}

// settled are those of now. The mutex is held.
func (s *local) settled() settled { return settled{s.stated, s.corrected} }

// moveTo makes a stack the shard's that was made of a view's rows, and publishes it with what was
// written since. The turn is held.
func (x *segments) moveTo(ctx context.Context, v *view, st *stack, was settled) error {
	s := x.shard
	for first := true; ; first = false {
		s.mu.Lock()
		if s.stated != was.stated {
			s.mu.Unlock()
			return fault.New(fault.Unavailable, "it was read again from the disk meanwhile, or has owned another range")
		}
		var err error
		if first && s.corrected == was.corrected { // else by somebody who has read the same
			err = s.recounted(v, st.rows.docs)
		}
		var next *view
		var base *stack
		if err == nil {
			next, base, err = x.viewed()
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
		_, done, err := x.advanceFrom(ctx, next, base, st, true)
		if done {
			x.agreed()
		}
		if done || err != nil {
			x.wake()
			return err
		}
	}
}

// agreed notes that the newest stack was made out of rows, of which each entry was counted.
func (x *segments) agreed() {
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	x.recount = false
	if x.stack.whole() == nil {
		x.lacking = false
	}
}

// recounted corrects the count of documents, of which a view has so many. The mutex is held.
func (s *local) recounted(v *view, docs int64) error {
	if !v.exact || v.docs == docs || v.within != s.state.within {
		return nil
	}
	s.engine.options.Logger.Error("store: the count of documents was wrong", "shard", place(s.id), "counted", v.docs, "there", docs)
	db, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	s.corrected++
	s.state.docs += docs - v.docs
	return db.Set(stateKey(s.id), encodeState(&s.state), pebble.NoSync)
}

// gathering makes the stack of the harvest's view out of all of its rows.
type gathering struct {
	*harvest
	told    func(rows int64) // nil: nobody wants to know
	of      []*entry         // that may show some
	seen    []*segment.Bits  // docs of each that are rows
	missing []shard.Ref      // rows that none of them shows, to be indexed
	rows    int64
	indexed int64 // of the rows
}

// keep leaves in their segments what a stack shows as the rows are.
func (g *gathering) keep(st *stack) {
	g.of = st.entries
	for _, e := range st.entries {
		g.seen = append(g.seen, segment.NewBits(e.Docs()))
	}
}

func (g *gathering) stack() (*stack, error) {
	err := g.scan()
	var entries []*entry
	if err == nil {
		entries, err = g.finish()
	}
	var kept []*entry
	for i := range g.of {
		var e *entry
		if err == nil {
			e, err = g.left(i)
		}
		if e != nil {
			kept = append(kept, e)
		}
	}
	if err != nil {
		g.drop()
		return nil, err
	}
	for _, e := range kept {
		e.retain()
	}
	v := g.view
	return newStack(v.seqNo, v.within, nil, append(kept, entries...)).of(rowCount{docs: g.rows, known: true, counted: true}), nil
}

// left is what is shown from now on of an entry; nil: nothing.
func (g *gathering) left(i int) (*entry, error) {
	e, seen := *g.of[i], g.seen[i]
	if seen.Next(0) == segment.End {
		return nil, nil
	}
	all := seen
	if e.hidden != nil {
		all = seen.Clone()
		all.Add(e.hidden)
	}
	if all.Count() < e.Docs() { // it shows what is no row
		e.hidden = seen.Rest()
	}
	return &e, e.count()
}

// scan goes through the rows.
func (g *gathering) scan() error {
	var failed error
	err := (&reader{view: g.view}).scan(g.ctx, shard.Select{Range: g.view.within, NoSource: g.of != nil}, func(row shard.Row) bool {
		if g.rows++; g.told != nil && g.rows%1024 == 0 {
			g.told(g.rows)
		}
		failed = g.meet(row)
		return failed == nil
	})
	if err = errors.Join(failed, err); err == nil {
		err = g.index()
	}
	if g.told != nil {
		g.told(g.rows)
	}
	return err
}

// meet indexes a row, or notes it where an entry may show it.
func (g *gathering) meet(row shard.Row) error {
	if g.of == nil {
		g.indexed++
		return g.add(row)
	}
	if shown, err := g.shows(&row); shown || err != nil {
		return err
	}
	if g.missing = append(g.missing, row.Ref); len(g.missing) < missingAtOnce {
		return nil
	}
	return g.index()
}

// missingAtOnce is how many rows are indexed together that no entry shows. Between them no segment is
// in the making, of which there are few at a time in all of the engine: most rows are shown.
const missingAtOnce = 4096

// index indexes what is missing.
func (g *gathering) index() error {
	for _, ref := range g.missing {
		var row shard.Row
		err := g.view.read(func(from *pebble.Snapshot) (err error) {
			row, _, err = g.shard.get(from, ref, false)
			return err
		})
		if err == nil {
			err = g.add(row)
		}
		if err != nil {
			return err
		}
	}
	g.indexed += int64(len(g.missing))
	g.missing = g.missing[:0]
	return g.cut()
}

// shows reports whether a row is shown, and notes where: once.
func (g *gathering) shows(row *shard.Row) (shown bool, err error) {
	err = segment.Guard(func() error {
		for i := len(g.of) - 1; i >= 0 && !shown; i-- {
			e, seen := g.of[i], g.seen[i]
			doc, found := e.find(row.Ref, row.SeqNo)
			if !found || e.hidden != nil && e.hidden.Has(doc) {
				continue
			}
			shown = true
			for child := e.FirstChild(doc); child <= doc; child++ {
				seen.Set(child)
			}
		}
		return nil
	})
	return shown, err
}

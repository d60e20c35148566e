package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// staged is what a shard becomes when the placement names the term.
type staged struct {
	term  int64
	truth *truth // nil: the shard goes on with its own, as far as it owns it then
}

// Stage makes the truth of each incarnation out of the rows that the shards of from own.
func (e *Engine) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (*shard.Staged, error) {
	sources, err := e.sources(index, from, to)
	if err != nil {
		return nil, err
	}
	for i, s := range sources { // in their order: two that overlap wait for each other, and not in a ring
		if slices.Contains(sources[:i], s) {
			continue // it is refused below
		}
		select {
		case s.staging <- struct{}{}:
			defer func() { <-s.staging }()
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // and not by chance, where both are so
			return nil, unavailable(ctx)
		}
	}
	result := &shard.Staged{}
	var rows []placement.Shard
	for _, s := range sources {
		r, row, err := s.fix()
		if err != nil {
			return nil, errors.Join(err, result.Close())
		}
		result.From, rows = append(result.From, r), append(rows, row)
	}
	if err := shard.CheckStage(rows, to); err != nil {
		return nil, errors.Join(err, result.Close())
	}
	made := map[shard.ID]staged{}
	for _, i := range to {
		next := gather(result.From, i.Range)
		result.To = append(result.To, narrowed(result.From, i.Range))
		if slices.ContainsFunc(rows, func(row placement.Shard) bool { return shard.GoesOn(row, i) }) {
			next = nil
		}
		made[shard.ID{Index: index, Number: i.Number}] = staged{i.Term, next}
	}
	var late error
	err = e.one(ctx, fmt.Sprintf("stage %d %v", index, from), func() {
		if late = current(sources, rows); late != nil {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		for id := range made {
			if _, open := e.open[id]; open && !slices.Contains(from, id.Number) {
				late = fault.New(fault.Conflict, "shard %d of index %d is open, and not one of those that change", id.Number, id.Index)
				return
			}
		}
		maps.Copy(e.staged, made)
	})
	if err = errors.Join(err, late); err != nil {
		return nil, errors.Join(err, result.Close())
	}
	return result, nil
}

// current refuses what was made of shards that have changed their owner meanwhile.
func current(sources []*Shard, rows []placement.Shard) error {
	for i, s := range sources {
		s.mu.Lock()
		is, closed := s.placed, s.closed
		s.mu.Unlock()
		if closed || is != rows[i] {
			return &shard.Stale{ID: s.id, Asked: rows[i].Epoch, Epoch: is.Epoch}
		}
	}
	return nil
}

// narrowed are what readers show of a range.
func narrowed(from []shard.Reader, within routing.Range) (views []segment.View) {
	for _, r := range from {
		for _, v := range r.Views() {
			less := segment.View{Segment: v.Segment, Hidden: segment.NewBits(v.Docs())}
			for doc := range segment.Doc(v.Docs()) {
				if !v.Shows(doc) || !within.Contains(v.Key(doc)) {
					less.Hidden.Set(doc)
				}
			}
			views = append(views, less)
		}
	}
	return views
}

// sources are the open shards of the numbers.
func (e *Engine) sources(index uint32, from []uint32, to []shard.Incarnation) (sources []*Shard, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	is := map[uint32]bool{}
	for _, number := range from {
		s := e.open[shard.ID{Index: index, Number: number}]
		if s == nil {
			return nil, fault.New(fault.NotFound, "shard %d of index %d is not open", number, index)
		}
		sources, is[number] = append(sources, s), true
	}
	for _, i := range to {
		if _, open := e.open[shard.ID{Index: index, Number: i.Number}]; open && !is[i.Number] {
			return nil, fault.New(fault.Conflict, "shard %d of index %d is open, and not one of those that change", i.Number, index)
		}
	}
	return sources, nil
}

// fix refreshes a shard and gives a reader of it, fence or not, and what it owns.
func (s *Shard) fix() (*Reader, placement.Shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.placed.Epoch == 0 {
		return nil, s.placed, s.over(0)
	}
	s.refresh()
	r := &Reader{shard: s, view: s.published}
	s.readers[r] = true
	return r, s.placed, nil
}

// gather is the truth of a shard that begins with what readers show of a range.
func gather(from []shard.Reader, within routing.Range) *truth {
	t := newTruth()
	for _, source := range from {
		r := source.(*Reader)
		t.pruned = max(t.pruned, r.seqNo)
		if meet, any := r.within.Meet(within); any {
			for row := range r.rows.within(meet, nil) {
				t.rows = t.rows.with(*row)
			}
		}
	}
	t.recount(within)
	return t
}

// become makes the shard what was staged for the row, and shows it; false when that is
// nothing. The mutex is held, or nobody has the shard yet.
func (s *Shard) become(row placement.Shard) bool {
	next, is := s.engine.unstage(s.id, row.Term)
	if !is {
		return false
	}
	if next.truth == nil {
		next.truth = s.truth.within(row.Range)
	} else {
		next.truth.inherits = s.engine.options.Clock()
	}
	s.engine.replace(s.id, next.truth)
	s.truth = next.truth
	s.publish()
	return true
}

// unstage takes what was staged for a term.
func (e *Engine) unstage(id shard.ID, term int64) (staged, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found, is := e.staged[id]
	if !is || found.term != term {
		return staged{}, false
	}
	delete(e.staged, id)
	return found, true
}

func (e *Engine) replace(id shard.ID, by *truth) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.truths[id] = by
}

// Unstage leaves what a shard takes up when it is opened, or reads the placement.
func (e *Engine) Unstage(ctx context.Context, index uint32, placements shard.Placements) error {
	p, err := placements.Placement(ctx, index)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return e.one(ctx, fmt.Sprintf("unstage %d", index), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		maps.DeleteFunc(e.staged, func(id shard.ID, s staged) bool {
			row, named := p.Shard(id.Number)
			return id.Index == index && (!named || row.Term != s.term)
		})
	})
}

// Forget removes the shard's rows too: nobody else reads them here.
func (e *Engine) Forget(ctx context.Context, id shard.ID) error {
	if err := e.shut(func(open shard.ID) bool { return open == id }); err != nil {
		return err
	}
	return e.one(ctx, fmt.Sprintf("forget %d %d", id.Index, id.Number), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.truths, id)
	})
}

package embedded

import (
	"context"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// source is an open shard whose turn Stage holds, and what it shows.
type source struct {
	*local
	end   func()
	row   placement.Shard
	view  *view
	stack *stack // nil: no segments
}

// sources begin work on the shards of from, which are open.
func (e *Engine) sources(index uint32, from []uint32, to []shard.Incarnation) (sources []*source, err error) {
	defer func() {
		if err != nil {
			for _, s := range sources {
				s.end()
			}
		}
	}()
	e.mu.Lock()
	open := map[uint32]*local{}
	for id, s := range e.shards {
		if id.Index == index {
			open[id.Number] = s
		}
	}
	e.mu.Unlock()
	for i, number := range from {
		s := open[number]
		if slices.Contains(from[:i], number) {
			return sources, fault.New(fault.Bug, "shard %d is named twice", number)
		}
		if s == nil {
			return sources, fault.At(fault.New(fault.NotFound, "it is not open"), place(shard.ID{Index: index, Number: number}))
		}
		done, err := s.begin(0)
		if err != nil {
			return sources, err
		}
		sources = append(sources, &source{local: s, end: done})
	}
	for _, t := range to {
		if open[t.Number] != nil && !slices.Contains(from, t.Number) {
			return sources, fault.At(fault.New(fault.Conflict, "it is open, and nothing is staged from it"), place(open[t.Number].id))
		}
	}
	return sources, nil
}

// pin refreshes a source, sees to it that all its segments are files, and gives a reader of
// what it shows. Its turn is held from then on, until end.
func (s *source) pin(ctx context.Context) (*reader, error) {
	x := s.segments
	if x == nil {
		if _, err := s.Refresh(ctx); err != nil {
			return nil, err
		}
		return s.pinned(), nil
	}
	if x.inRAM.Load() > pinnedInTurn {
		if _, err := x.commit(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := x.untilClosed(ctx)
	defer cancel()
	if err := x.take(ctx); err != nil {
		return nil, err
	}
	done := s.end
	s.end = sync.OnceFunc(func() { x.give(); done() })
	if _, err := x.refreshInTurn(ctx); err != nil {
		return nil, err
	}
	if err := x.toFiles(ctx, s); err != nil {
		return nil, err
	}
	r := s.pinned()
	if s.stack.indexed != s.view.seqNo || len(s.stack.lost) > 0 || len(s.stack.inMemory()) > 0 {
		return r, fault.New(fault.Unavailable, "its segments were made again meanwhile")
	}
	if err := s.stack.whole(); err != nil {
		return r, fault.Wrap(fault.Unavailable, err)
	}
	return r, nil
}

// pinnedInTurn is how many bytes of segments in memory are written with the turn held; more
// is committed before.
const pinnedInTurn = 1 << 20

// pinned is a reader of what is published.
func (s *source) pinned() *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view, s.row = s.published, s.gate.now()
	s.view.users++
	return &reader{view: s.view}
}

// toFiles writes the segments of a source that are in memory alone. The turn is held.
func (x *segments) toFiles(ctx context.Context, s *source) error {
	st := x.retained()
	if inRAM := st.inMemory(); len(inRAM) > 0 {
		r, err := x.rewrite(ctx, inRAM, true)
		if err == nil {
			err = x.replace(r)
			r.file.release()
		}
		st.release()
		if err != nil {
			return err
		}
		st = x.retained()
	}
	defer st.release()
	s.stack = st.retain()
	end := s.end
	s.end = sync.OnceFunc(func() { s.stack.release(); end() })
	return nil
}

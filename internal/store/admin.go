package store

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// change makes an edit of the catalog and follows it: indices that it adds are in
// ready, with their shards open, and so are those that it opens. The caller holds
// s.admin. A change that has begun does not end with ctx: a client that goes away must
// not leave a write on its way of which nobody knows how it ends.
//
// When it fails, it is as if nothing had happened, but for a failure of the kind
// fault.Unavailable after which the coordination store cannot even be read: then the
// edit may turn out to have been made, and the next change follows it.
func (s *Store) change(ctx context.Context, ready map[string]*index, edit func(catalog.Catalog) (catalog.Catalog, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	var intended []byte
	var names catalog.Catalog // what intended holds
	record, err := coord.Update(ctx, s.coord, catalogKey, func(value []byte) ([]byte, error) {
		found, err := s.names.Decode(value)
		if err != nil {
			return nil, err
		}
		if found, err = edit(found); err != nil {
			return nil, err
		}
		var encoded []byte
		if encoded, names, err = s.names.Encode(found); err != nil { // before it is written, not after
			return nil, fault.Wrap(fault.Bug, err)
		}
		intended = encoded
		return intended, nil
	})
	if err != nil && intended != nil {
		// Whether it was written is not known: what is there now tells.
		found, reading := s.coord.Get(ctx, catalogKey)
		if reading == nil && string(found.Value) == string(intended) {
			record, err = found, nil
		} else {
			s.doubt = true
		}
	}
	if err != nil {
		return err
	}
	s.follow(ctx, names, record.Revision, ready)
	return nil
}

// follow publishes a view of the catalog: with the indices that it names, opened or
// closed as it says. What it no longer names is taken down. The caller holds s.admin.
func (s *Store) follow(ctx context.Context, names catalog.Catalog, revision int64, ready map[string]*index) {
	old := s.view.Load().indices
	var leaving []*index
	indices := make(map[string]*index, len(names.Indices))
	for name, entry := range names.Indices {
		idx := old[name]
		if idx != nil && idx.entry == entry && (entry.Closed || idx.shards != nil) {
			indices[name] = idx
			continue
		}
		next, err := s.adopt(ctx, name, entry, idx, ready[name])
		if err != nil {
			s.options.Logger.Error("an index cannot be opened", "index", name, "error", err)
		}
		if next != nil {
			indices[name] = next
		}
		if idx != nil && idx.shards != nil && (next == nil || next.shards == nil || next.entry.Number != idx.entry.Number) {
			leaving = append(leaving, idx)
		}
	}
	for name, idx := range old {
		if _, still := names.Indices[name]; !still {
			leaving = append(leaving, idx)
		}
	}
	s.publish(func(v *view) { v.catalog, v.revision, v.indices = names, revision, indices })
	s.retire(ctx, leaving, func(idx *index) bool {
		entry, named := names.Indices[idx.record.Name]
		return !named || entry.Number != idx.entry.Number
	})
}

// adopt is an index as the catalog has it now. old is what it was, ready is what was
// prepared for it; both may be nil.
func (s *Store) adopt(ctx context.Context, name string, entry catalog.Entry, old, ready *index) (*index, error) {
	next := &index{}
	switch {
	case ready != nil:
		*next = *ready
	case old != nil && old.entry.Number == entry.Number:
		*next = *old
	default:
		read, err := s.readIndex(ctx, name, entry)
		if err != nil {
			return nil, err
		}
		next = read
	}
	next.entry = entry
	if entry.Closed {
		next.shards = nil
		return next, nil
	}
	if next.shards != nil {
		return next, nil
	}
	return next, s.openShards(ctx, next)
}

// retire closes the shards of indices that no view has any more and, where an index was removed,
// deletes its rows and records. It does so for all at the same time, since the engine and the
// coordination store then sync once for many. Requests that still read an index are waited for in the
// background, and here for a limited time, since such a request may itself wait for the caller.
func (s *Store) retire(ctx context.Context, leaving []*index, removed func(*index) bool) {
	ctx = context.WithoutCancel(ctx)
	over := make(chan struct{}, len(leaving))
	for _, idx := range leaving {
		gone := removed(idx)
		s.running.Go(func() {
			s.takeDown(ctx, idx, gone)
			over <- struct{}{}
		})
	}
	for range leaving {
		select {
		case <-over:
		case <-time.After(retirement):
			return
		}
	}
}

// takeDown retires one index. It waits for requests that still read it, but not for long once the store is
// being closed.
func (s *Store) takeDown(ctx context.Context, idx *index, removed bool) {
	for round, rest := 1, 20; ; round++ {
		err := s.guarded("removal", func() error { return s.dismantle(ctx, idx, removed) })
		if err == nil {
			return
		}
		if removed && fault.Is(err, fault.Unavailable) { // a full disk
			s.later("what index "+idx.record.Name+" was made of", err, func(ctx context.Context) error { return s.dismantle(ctx, idx, true) })
			return
		}
		if rest == 0 || !fault.Is(err, fault.Conflict) {
			s.leftOver(idx, err)
			return
		}
		if s.background.Err() != nil {
			rest--
		}
		_ = pause(ctx, round) // ctx does not end
	}
}

// retirement is how long a change waits until the next of the indices that it has removed is not read any
// more.
const retirement = time.Second

// leftOver tells that something of an index remains; the next start removes it.
func (s *Store) leftOver(idx *index, err error) {
	s.options.Logger.Warn("something of an index was left over, the next start removes it", "index", idx.record.Name, "number", idx.entry.Number, "error", err)
}

func (s *Store) dismantle(ctx context.Context, idx *index, removed bool) error {
	defer s.leave(idx)()
	for _, sh := range idx.shards {
		if removed {
			sh.Discard()
		}
	}
	if err := idx.closeShards(); err != nil || !removed {
		return err
	}
	return s.erase(ctx, idx.entry.Number)
}

// erase removes the rows and records of an index whose shards are closed and that the
// catalog does not name.
func (s *Store) erase(ctx context.Context, number uint32) error {
	if err := s.engine.Drop(ctx, number); err != nil {
		return err
	}
	err := s.both(indexKey(number), placementKey(number), func(key string) error {
		record, err := s.coord.Get(ctx, key)
		if err == nil {
			err = s.coord.Delete(ctx, key, record.Revision)
		}
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	s.read.forget(number)
	return nil
}

// both does something with two records at the same time: a coordination store syncs once for both.
func (s *Store) both(first, second string, do func(key string) error) error {
	done := make(chan error, 1)
	go func() { done <- s.guarded("a record", func() error { return do(second) }) }()
	err := do(first)
	return joined(err, <-done)
}

package sim

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/memory"
)

// follow reads what has happened behind cursors. Those of before may be of another placement.
func (s *server) follow(ctx context.Context, from, kept []cursor, seen map[string]delivered) (found followed, err error) {
	p, err := s.store.PlacementOf(ctx, indexName)
	if err != nil {
		return found, err
	}
	for _, row := range p.Shards {
		if err := s.shards.hold(ctx, &p, row, kept); err != nil {
			return found, err
		}
		next, all, err := s.shards.behind(ctx, &p, row, from, seen)
		if err != nil {
			return found, err
		}
		found.next, found.all = append(found.next, next), append(found.all, all...)
	}
	return found, nil
}

// opened is an engine that knows the shards which the store has opened of it.
type opened struct {
	*memory.Engine
	mu     sync.Mutex
	shards map[shard.ID]shard.Shard
}

// Open is shard.Engine's.
func (e *opened) Open(ctx context.Context, id shard.ID, placements shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, placements, settings)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		e.shards[id] = sh
	}
	return sh, err
}

// one is the shard of a row; fault.Stale while it is not open as that.
func (e *opened) one(p *placement.Placement, row placement.Shard) (shard.Shard, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sh := e.shards[shard.ID{Index: p.Index, Number: row.Number}]
	if sh == nil || sh.Placed() != row {
		return nil, fault.New(fault.Stale, "shard %d is not open yet as what it was placed", row.Number)
	}
	return sh, nil
}

// hold lets a shard keep what is behind the cursor that is kept of it.
func (e *opened) hold(ctx context.Context, p *placement.Placement, row placement.Shard, kept []cursor) error {
	sh, err := e.one(p, row)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(kept, func(c cursor) bool { return c.number == row.Number && c.Incarnation == row.Term })
	if i < 0 || sh.Holds()["follower"] == kept[i].Position {
		return nil
	}
	err = sh.Hold(ctx, "follower", kept[i].Position)
	if expired := (*shard.Expired)(nil); errors.As(err, &expired) { // it will be told so
		return nil
	}
	return err
}

// behind is what has happened in a shard. After a hand-off it goes on behind the lowest of the
// cursors whose ranges the shard has: a shard that went on under its number has kept its changes,
// also those of what it has handed over, and another one has those since the hand-off. So what is
// pruned there is what the cursor has not seen; then the shard is read as a whole.
func (e *opened) behind(ctx context.Context, p *placement.Placement, row placement.Shard, from []cursor, seen map[string]delivered) (next cursor, all []delivered, err error) {
	sh, err := e.one(p, row)
	if err != nil {
		return next, nil, err
	}
	last, is := lowest(from, row.Range)
	if !is {
		last.SeqNo = -1
	}
	next = cursor{row.Number, row.Range, shard.Position{Incarnation: row.Term, SeqNo: last.SeqNo}}
	for change, err := range sh.Changes(ctx, next.Position, atOnce) {
		if expired := (*shard.Expired)(nil); errors.As(err, &expired) {
			return e.whole(ctx, sh, next, seen)
		}
		if err != nil {
			return next, nil, err
		}
		d, err := e.is(ctx, p, &change)
		if err != nil {
			return next, nil, err
		}
		all, next.SeqNo = append(all, d), change.SeqNo
	}
	return next, all, nil
}

// is reads the document of a change, where it is now.
func (e *opened) is(ctx context.Context, p *placement.Placement, change *shard.Change) (delivered, error) {
	i := slices.IndexFunc(p.Shards, func(row placement.Shard) bool { return row.Range.Contains(change.Key) })
	owner, err := e.one(p, p.Shards[i])
	if err != nil {
		return delivered{}, err
	}
	row, found, err := owner.Get(ctx, p.Shards[i].Epoch, change.Ref)
	if err == nil && !found { // its tombstone was pruned
		return delivered{place: place{change.ID, p.Shards[i].Term, change.SeqNo}, key: change.Key, named: change.SeqNo, absent: true}, nil
	}
	return deliveredAs(&row, change.SeqNo), err
}

func deliveredAs(row *shard.Row, named int64) delivered {
	return delivered{place: place{row.ID, row.PrimaryTerm, row.SeqNo}, source: string(row.Source), key: row.Key, named: named}
}

// whole reads all documents of a shard; of those that are seen and not there, that they are deleted.
func (e *opened) whole(ctx context.Context, sh shard.Shard, at cursor, seen map[string]delivered) (next cursor, all []delivered, err error) {
	if _, err := sh.Refresh(ctx); err != nil {
		return at, nil, err
	}
	r, err := sh.Acquire(ctx, sh.Placed().Epoch)
	if err != nil {
		return at, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	there := map[string]bool{}
	for row, err := range r.Scan(ctx, shard.Select{Range: at.within, Tombstones: true}) {
		if err != nil {
			return at, nil, err
		}
		there[row.ID] = true
		all = append(all, deliveredAs(&row, -1))
	}
	at.SeqNo = r.SeqNo()
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if d := seen[id]; !there[id] && at.within.Contains(d.key) {
			all = append(all, delivered{place: place{id, at.Incarnation, at.SeqNo}, key: d.key, absent: true})
		}
	}
	return at, all, nil
}

package migrate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
	"golang.org/x/sync/errgroup"
)

// Bounds of comparing one index.
const (
	compareAtOnce = 4                // shards, or slices of the target, that are read at the same time
	lookAt        = 250_000          // documents of both sides that are compared one by one in a pass
	lookTimes     = 4                // such passes
	examples      = 10               // of each class
	pointLives    = 10 * time.Minute // the target's point in time, when nobody is heard of
)

// comparing is the comparison of one index of the target with the snapshot, as far as it is.
// It reads both sides at the same time, in parts; what was read of a part is taken over now and
// then, together with the mark up to which that is, and written down now and then: see save.
type comparing struct {
	*turn
	held    *heldCheck
	index   *snapshot.Index
	older   *snapshot.Index               // what the target held before a delta; nil: it is none
	belongs func(*document.Document) bool // nil: all documents of the index
	name    string                        // of the piece, in the keys of what is written down
	gaps    collapsed                     // documents of the index that are not brought
	was     map[uint64]*before            // of a repair of a delta: what may be replaced
	agreed  *sighted                      // of a repair: what the comparison before it has seen

	mu         sync.Mutex
	scan       *cluster.Scan // nil when the target need not be read any more
	run        *reconcile.Run
	sofar                    // how far that is
	dirty      bool          // it is further than what is written down
	unkept     bool          // what the pass that has just ended has seen is not kept yet
	unanswered int           // batches of deletions: what they have deleted is not counted
	saves      chan struct{} // filled while somebody saves
	saved      int           // times
}

// mark is how far a part was read: a shard up to a position before which all checksums were
// right, a slice of the target behind the document of a cursor.
type mark struct {
	Position int64  `json:"position,omitempty"`
	After    string `json:"after,omitempty"`
	Ended    bool   `json:"ended,omitempty"`
}

// openComparison opens both sides, and goes on where an attempt before has written down that
// it was.
func (t *turn) openComparison(ctx context.Context, held *heldCheck, name string, mends bool) (*comparing, error) {
	v := held.Piece().Verified
	c := &comparing{turn: t, held: held, belongs: t.belongs(v.Index, v.Target), name: name, saves: make(chan struct{}, 1)}
	var err error
	if c.index, err = t.snapshot.Index(ctx, v.Index); err != nil {
		return nil, err
	}
	if c.gaps, err = t.collapsedOf(ctx, v.Index); err != nil {
		return nil, err
	}
	if err := t.checkSame(ctx, v.Target); err != nil {
		return nil, err
	}
	if since := t.plan.since(v.Index); since != nil {
		if c.older, err = t.olderIndex(ctx, since, v.Index); err != nil {
			return nil, err
		}
	}
	if mends {
		if c.agreed, err = t.sightedBefore(ctx, name, v.Target); err != nil {
			return nil, err
		}
	}
	there, err := c.load(ctx)
	switch {
	case err != nil:
		return nil, err
	case there:
		return c, c.resume(ctx)
	}
	bounds := reconcile.Bounds{Documents: lookAt, Looks: lookTimes, Examples: examples, Before: c.older != nil}
	if mends { // what one look does not hold need not be compared: it is sent
		bounds.Looks = 1
	}
	c.run = reconcile.NewRun(v.Index, t.expected(v.Index), bounds)
	return c, c.openScan(ctx)
}

// compare reads both sides as often as it takes.
func (c *comparing) compare(ctx context.Context) error {
	for {
		sides := c.unread()
		if len(sides) == 0 {
			return nil
		}
		group, reading := errgroup.WithContext(ctx)
		for _, side := range sides {
			group.Go(func() error { return c.side(reading, side) })
		}
		err := group.Wait()
		if errors.Is(err, errPointLost) && ctx.Err() == nil {
			err = c.again(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

// unread are the sides to be read now.
func (c *comparing) unread() []reconcile.Side {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run.Sides()
}

// side reads what is left of a side, for the pass that goes on.
func (c *comparing) side(ctx context.Context, side reconcile.Side) error {
	err := c.parts(ctx, side, func(ctx context.Context, n int, from mark) error { return c.part(ctx, side, n, from) })
	if err == nil && side == reconcile.Found && c.run.Pass() == 0 {
		err = c.checkShown(ctx)
	}
	if err != nil {
		return err
	}
	return c.whole(ctx, side)
}

// whole takes over that all of a side was read, and keeps what the pass has seen, if that ends it.
func (c *comparing) whole(ctx context.Context, side reconcile.Side) error {
	c.mu.Lock()
	c.run.Whole(side)
	pass, seen := c.run.Pass(), c.run.Sights()
	c.Marks[side], c.dirty = nil, true
	c.unkept = len(seen) > 0 && c.agreed == nil
	keeps := c.unkept
	c.mu.Unlock()
	if !keeps {
		return nil
	}
	return c.keepSights(ctx, pass, seen)
}

// parts does something with each part of a side that has not ended, several at a time; all
// comparisons of the process share how many.
func (c *comparing) parts(ctx context.Context, side reconcile.Side, do func(ctx context.Context, n int, from mark) error) error {
	n := 0
	switch side {
	case reconcile.Expected:
		n = c.index.Shards
	case reconcile.Found:
		n = c.slices()
	case reconcile.Before, known:
		n = c.older.Shards
	}
	c.mu.Lock()
	if len(c.Marks[side]) != n {
		c.Marks[side] = make([]mark, n)
	}
	marks := append([]mark(nil), c.Marks[side]...)
	c.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(compareAtOnce)
	for n, from := range marks {
		if from.Ended {
			continue
		}
		group.Go(func() error {
			done, err := c.lane.readsPart(ctx)
			if err != nil {
				return err
			}
			defer done()
			return do(ctx, n, from)
		})
	}
	return group.Wait()
}

package migrate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/reconcile"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/work"
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

	mu    sync.Mutex
	scan  *cluster.Scan // nil when the target need not be read any more
	run   *reconcile.Run
	sofar               // how far that is
	dirty bool          // it is further than what is written down
	saves chan struct{} // filled while somebody saves
	saved int           // times
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
	if err := t.checkSame(ctx, v.Target); err != nil {
		return nil, err
	}
	if since := t.plan.since(v.Index); since != nil {
		if c.older, err = t.olderIndex(ctx, since, v.Index); err != nil {
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

// openScan looks at the target as it is now.
func (c *comparing) openScan(ctx context.Context) error {
	now, err := c.Driver.Now(ctx)
	if err != nil {
		return err
	}
	scan, err := c.target.OpenScan(ctx, c.held.Piece().Target, scanOptions(c.expected(c.index.Name)))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scan, c.AsOf = scan, now
	return nil
}

// scanOptions are those of a scan of about so many documents: few are read in one part.
func scanOptions(documents int64) cluster.ScanOptions {
	o := cluster.ScanOptions{Slices: compareAtOnce, KeepAlive: pointLives}
	if documents < markEvery {
		o.Slices = 1
	}
	return o
}

// open is the scan of the target.
func (c *comparing) open() *cluster.Scan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scan
}

// closeScan ends the point in time, which is needed no more.
func (c *comparing) closeScan(ctx context.Context) {
	scan := c.open()
	c.mu.Lock()
	c.scan = nil
	c.mu.Unlock()
	if scan != nil {
		_ = scan.Close(ctx) // it ends by itself
	}
}

// resume goes on at the point in time at which the target was looked at, if there still is
// one. An error that the target has only for that point means that there is none. Where the
// server has none at all, what was read whole of the target stands.
func (c *comparing) resume(ctx context.Context) error {
	target := c.held.Piece().Target
	c.Logger.Info("a comparison goes on", "worker", c.Worker, "index", target, "pass", c.run.Pass(), "documents", c.Read)
	switch {
	case len(c.run.Sides()) == 0:
		return nil
	case c.Scan.Point == "" && len(c.Marks[reconcile.Found]) == 0:
		return c.openScan(ctx)
	}
	scan, err := c.target.ResumeScan(ctx, c.Scan, scanOptions(c.expected(c.index.Name)))
	if err == nil {
		err = scan.Renew(ctx)
	}
	if err == nil || ctx.Err() != nil {
		c.scan = scan
		return err
	}
	if err := c.checkSame(ctx, target); err != nil {
		return err
	}
	return c.again(ctx, err)
}

// again begins to read the target again, at another point in time: what was read of it at the
// one before says nothing about this one. Later than in the first pass everything stands on it.
func (c *comparing) again(ctx context.Context, why error) error {
	c.Logger.Warn("the target has forgotten the point in time at which it was compared, and is read again", "worker", c.Worker,
		"index", c.held.Piece().Target, "asOf", c.AsOf, "pass", c.run.Pass(), "error", why)
	c.mu.Lock()
	if c.run.Pass() == 0 {
		c.Read -= c.ReadFound
		c.Marks[reconcile.Found] = nil
	} else {
		c.sofar = sofar{}
	}
	c.ReadFound, c.dirty = 0, true
	c.run.Again()
	c.mu.Unlock()
	return c.openScan(ctx)
}

// errPointLost is the end of a point in time.
var errPointLost = errors.New("the target has forgotten the point in time")

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
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Whole(side)
	c.Marks[side], c.dirty = nil, true
	return nil
}

// parts does something with each part of a side that has not ended, several at a time; all
// comparisons of the process share how many.
func (c *comparing) parts(ctx context.Context, side reconcile.Side, do func(ctx context.Context, n int, from mark) error) error {
	n := 0
	switch side {
	case reconcile.Expected:
		n = c.index.Shards
	case reconcile.Found:
		n = c.open().Slices()
	case reconcile.Before:
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

// verified is what the comparison has come to.
func (c *comparing) verified(ctx context.Context) (v Verified, err error) {
	v = c.held.Piece().Verified
	v.Expected, v.Found = c.run.Totals[reconcile.Expected].String(), c.run.Totals[reconcile.Found].String()
	v.Result, v.AsOf, v.Steps = c.run.Report, c.AsOf, c.Steps
	v.Result.Examples = slices.Clone(v.Result.Examples) // the run is perhaps being written down
	if err := c.nameAll(ctx, v.Result.Examples); err != nil {
		return v, err
	}
	since := c.plan.since(v.Index)
	if since != nil && since.Whole {
		return v, nil
	}
	existed, err := c.existed(ctx, v.Index)
	if existed {
		v.Others = v.Result.Counts[reconcile.Ghost]
	}
	return v, err
}

// nameAll gives the examples of which only the position is known their names.
func (c *comparing) nameAll(ctx context.Context, all []reconcile.Example) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * compareAtOnce)
	for i := range all {
		e := &all[i]
		at, err := document.ParsePosition(e.ExpectedAt)
		if e.ID == "" && err == nil {
			group.Go(func() error { return c.nameOne(ctx, e, at) })
		}
	}
	return group.Wait()
}

func (c *comparing) nameOne(ctx context.Context, e *reconcile.Example, at document.Position) error {
	shard, err := c.index.Shard(ctx, at.Shard)
	if err != nil {
		return errDamaged(at.Index, at.Shard, err)
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{From: at.Number, To: at.Number + 1, IDsOnly: true})
	if err != nil {
		return errDamaged(at.Index, at.Shard, err)
	}
	defer docs.Close()
	if docs.Next() {
		e.ID, e.Routing = string(docs.Document().ID), string(docs.Document().Routing)
	}
	return docs.Err()
}

// expected is how many documents an index is thought to hold.
func (t *turn) expected(index string) int64 {
	for i := range t.plan.Indices {
		if t.plan.Indices[i].Source == index {
			return t.plan.Indices[i].Documents
		}
	}
	return 0
}

// existed tells whether the target had the index before the movement.
func (t *turn) existed(ctx context.Context, index string) (bool, error) {
	e, err := drive.Read[entry](ctx, t.Driver, t.key("index", work.Safe(index)))
	if fault.Is(err, fault.NotFound) { // its record was lost: what else is there counts as a difference
		return false, nil
	}
	return e.Existed, err
}

package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// openScan looks at the target as it is now, and not as it was at its last refresh: an index may
// refresh never.
func (c *comparing) openScan(ctx context.Context) error {
	now, err := c.Driver.Now(ctx)
	if err != nil {
		return err
	}
	target := c.held.Piece().Target
	uuid, err := c.identityIfTold(ctx, target) // before the scan: of one that is made between the two, a repair finds that it is another
	if err != nil {
		return err
	}
	err = c.target.Refresh(ctx, target)
	unrefreshed := c.compares() && fault.Is(err, fault.Unauthorised) // to compare, it is enough to read
	var scan *cluster.Scan
	if err == nil || unrefreshed {
		scan, err = c.target.OpenScan(ctx, target, scanOptions(c.expected(c.index.Name)))
	}
	absent := c.compares() && fault.Is(err, fault.NotFound)
	if err != nil && !absent {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scan, c.AsOf, c.Absent, c.Unrefreshed, c.UUID = scan, now, absent, unrefreshed, uuid
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

// slices is how many parts the target is read in: none, where it has no such index.
func (c *comparing) slices() int {
	if scan := c.open(); scan != nil {
		return scan.Slices()
	}
	return 0
}

// open is the scan of the target; nil where it has no such index, or need not be read any more.
func (c *comparing) open() *cluster.Scan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scan
}

// checkShown refuses a target that holds documents which its searches do not find: a store may
// hand documents out without searching.
func (c *comparing) checkShown(ctx context.Context) error {
	scan := c.open()
	if scan == nil {
		return nil
	}
	shown, err := scan.Shown(ctx)
	if fault.Is(err, fault.Stale) {
		return fmt.Errorf("%w: %w", errPointLost, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || shown < 0 || shown == c.ReadFound {
		return err
	}
	return fault.New(fault.Corrupt, "the target holds %d documents in index %s, and searches find %d", c.ReadFound, c.held.Piece().Target, shown)
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
	case len(c.run.Sides()) == 0, c.Absent:
		return nil
	case c.Scan.Point == "" && len(c.Marks[reconcile.Found]) == 0:
		return c.openScan(ctx)
	}
	lost, err := c.reopenScan(ctx)
	if lost == nil {
		return err
	}
	return c.again(ctx, lost)
}

// reopenScan goes on with the scan that was written down, and gives why the target has forgotten its point in time if it has.
func (c *comparing) reopenScan(ctx context.Context) (lost, err error) {
	target := c.held.Piece().Target
	scan, err := c.target.ResumeScan(ctx, c.Scan, scanOptions(c.expected(c.index.Name)))
	if err == nil {
		err = scan.Renew(ctx)
	}
	if err == nil || ctx.Err() != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.scan = scan
		return nil, err
	}
	if err := c.checkSame(ctx, target); err != nil {
		return nil, err
	}
	return err, nil
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

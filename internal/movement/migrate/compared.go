package migrate

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/snapshot"
	"golang.org/x/sync/errgroup"
)

// verified is what the comparison has come to.
func (c *comparing) verified(ctx context.Context) (v Verified, err error) {
	v = c.held.Piece().Verified
	v.Expected, v.Found = c.run.Totals[reconcile.Expected].String(), c.run.Totals[reconcile.Found].String()
	v.Result, v.AsOf, v.Steps, v.Strict = c.run.Report, c.AsOf, c.Steps, c.plan.Strict
	v.Absent, v.Unrefreshed, v.UUID = c.Absent, c.Unrefreshed, c.UUID
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
	if t.compares() {
		return slices.ContainsFunc(t.plan.Indices, func(i Index) bool { return i.Source == index && i.Shared }), nil
	}
	e, err := drive.Read[entry](ctx, t.Driver, t.key("index", work.Safe(index)))
	if fault.Is(err, fault.NotFound) { // its record was lost: what else is there counts as a difference
		return false, nil
	}
	return e.Existed, err
}

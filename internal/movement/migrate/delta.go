package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/snapshot"
)

// Since is what an index of the target holds already: a movement that has finished brought
// it, out of an older snapshot of the same repository. Only what has changed since is moved.
type Since struct {
	Movement     string `json:"movement"`
	Snapshot     string `json:"snapshot"`
	SnapshotUUID string `json:"snapshotUuid"`
	// Whole tells that the target's index holds nothing but what movements have brought:
	// whatever the newer snapshot does not hold is a difference.
	Whole bool `json:"whole,omitempty"`
	// Lacking tells that movements have ended without some of its documents: what the target does not
	// have was perhaps never there.
	Lacking bool `json:"lacking,omitempty"`
}

// Changed counts what a delta met.
type Changed struct {
	Segments int `json:"segments"` // of the newer snapshot
	// SegmentsSkipped, DocumentsSkipped and BytesSkipped are of segments that both snapshots
	// hold: they are not read.
	SegmentsSkipped  int   `json:"segmentsSkipped"`
	DocumentsSkipped int64 `json:"documentsSkipped"` // nested ones included
	BytesSkipped     int64 `json:"bytesSkipped"`
	Compared         int64 `json:"compared"`  // documents of the newer snapshot that were read
	Unchanged        int64 `json:"unchanged"` // of those
	Deleted          int64 `json:"deleted"`   // on the target
	// Kept are documents that the newer snapshot does not hold any more, and that others
	// have changed on the target since: they are left.
	Kept int64 `json:"kept,omitempty"`
	// Others names the first documents of each shard that others have written on the target since:
	// those of Kept, and the conflicts of what was to be written.
	Others []Other `json:"others,omitempty"`
}

func (c *Changed) add(o *Changed) {
	c.Segments += o.Segments
	c.SegmentsSkipped += o.SegmentsSkipped
	c.DocumentsSkipped += o.DocumentsSkipped
	c.BytesSkipped += o.BytesSkipped
	c.Compared += o.Compared
	c.Unchanged += o.Unchanged
	c.Deleted += o.Deleted
	c.Kept += o.Kept
	c.Others = addOthers(c.Others, o.Others)
}

// change is the piece of what has changed in one shard. It is done in groups of buckets of
// keys; Next is the first bucket of which not everything is answered.
type change struct {
	work.Lease
	Index string `json:"index"`
	Shard int    `json:"shard"`
	Next  uint32 `json:"next"`
	Changed
	Copied work.Counts `json:"copied"`
}

// Bounds of what one change holds in memory.
const (
	changeGroup = 400_000 // documents of both sides in one group
	changeBits  = 17      // of the tables of buckets: 3 MiB each
)

// isDelta tells whether of any index only the changes are moved.
func (p *Plan) isDelta() bool {
	return slices.ContainsFunc(p.Indices, func(i Index) bool { return i.Since != nil })
}

// since is the index of the plan, when it is a delta; nil otherwise.
func (p *Plan) since(index string) *Since {
	for i := range p.Indices {
		if p.Indices[i].Source == index {
			return p.Indices[i].Since
		}
	}
	return nil
}

// makeChanges makes a piece for each shard of an index that is a delta.
func (t *turn) makeChanges(ctx context.Context, index *snapshot.Index) error {
	for n := range index.Shards {
		c := change{Lease: work.Lease{CreatorID: t.Worker}, Index: index.Name, Shard: n}
		if err := t.Driver.Make(ctx, t.changeKey(index.Name, n), c); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) changeKey(index string, n int) string {
	return t.key("change", work.Safe(fmt.Sprintf("%s__%d", index, n)))
}

// changes does what has changed in one shard, at random; Done when all of that has ended.
func (t *turn) changes(ctx context.Context) (worker.Outcome, error) {
	all, err := drive.Pieces[change](ctx, t.Driver, t.key("change", ""))
	if err != nil {
		return worker.Outcome{}, err
	}
	key, left := worker.Choose(ctx, all, t.plan.Policy, t.now(ctx))
	if left == 0 {
		return worker.Outcome{Done: true}, nil
	}
	if key == "" {
		return worker.Outcome{}, nil
	}
	held, _, err := worker.Claim[change](ctx, t.Slot, t.movement, t.key("change", key), t.plan.Policy)
	if err != nil || held == nil {
		return worker.Outcome{}, err
	}
	began := held.Piece().Next
	err = worker.Beating(t.Slot, t.movement, held, t.plan.Policy, held.Beat, func(ctx context.Context) error {
		return t.doChange(ctx, held, time.Now().Add(held.Checkpoint()))
	})
	if fault.Is(err, fault.Transient) && held.Lost() == nil && held.Piece().Next > began { // it got on: the next lease goes on from there
		return worker.Outcome{Worked: true}, held.Release("")
	}
	outcome, err := worker.Settle(ctx, held, err)
	return worker.Outcome{Worked: outcome.Worked}, err
}

// withChanges does a delta's changes beside the items of what is copied whole.
func (t *turn) withChanges(ctx context.Context, items func(context.Context) (worker.Outcome, error)) (worker.Outcome, error) {
	if !t.plan.isDelta() {
		return items(ctx)
	}
	changes, err := t.changes(ctx)
	if err != nil || changes.Worked {
		return changes, err
	}
	outcome, err := items(ctx)
	if outcome.Done && !changes.Done { // others are at what is left: nothing was done here
		return worker.Outcome{}, err
	}
	return outcome, err
}

// doChange compares what both snapshots hold of a shard, sends what is new or other in the
// newer one, and deletes what it does not hold any more. Until is when it stops between two
// groups.
func (t *turn) doChange(ctx context.Context, held *drive.Held[change, *change], until time.Time) error {
	defer t.sends(ctx)()
	c, err := t.openChange(ctx, held)
	if err == nil {
		err = t.writable(ctx, c.index)
	}
	if err != nil {
		return err
	}
	if err := t.forgetFailures(ctx, &work.Item{Index: c.index, Shard: c.shard}, int64(held.Piece().Next)<<32); err != nil {
		return err
	}
	groups, err := c.groups(ctx, held.Piece().Next)
	if err != nil {
		return err
	}
	for i := range groups {
		if time.Now().After(until) {
			return fault.New(fault.Transient, "the lease ended before all of the shard was compared")
		}
		if err := c.group(ctx, &groups[i]); err != nil {
			return t.nameless(ctx, c.index, err)
		}
		if err := c.store(groups[i].To); err != nil {
			return err
		}
	}
	return c.store(1 << changeBits)
}

// changing is the work on a change.
type changing struct {
	*turn
	held         *drive.Held[change, *change]
	index        string
	shard        int
	target       string
	older, newer *snapshot.Shard // older is nil where the older snapshot lacks it
	parts        snapshot.Changes
	bits         int

	tally          // of the group at work
	compared int64 // by the first pass
}

// openChange opens both sides.
func (t *turn) openChange(ctx context.Context, held *drive.Held[change, *change]) (*changing, error) {
	piece := held.Piece()
	c, err := t.changingOf(ctx, piece.Index, piece.Shard)
	if err != nil {
		return nil, err
	}
	c.held, c.bits = held, min(reconcile.Bits(t.expected(c.index)), changeBits)
	return c, nil
}

// changingOf opens both sides of a shard.
func (t *turn) changingOf(ctx context.Context, index string, n int) (c *changing, err error) {
	c = &changing{turn: t, index: index, shard: n, target: t.targetOf(index)}
	since := t.plan.since(index)
	if since == nil {
		return nil, fault.New(fault.Bug, "index %s is no delta", index)
	}
	if c.newer, err = t.shard(ctx, index, n); err != nil {
		return nil, errDamaged(index, n, err)
	}
	if c.older, err = t.olderShard(ctx, since, index, n); err != nil || c.older == nil {
		return c, err
	}
	parts, err := c.newer.Since(ctx, c.older)
	if err != nil {
		return nil, errDamaged(index, n, err)
	}
	c.parts = *parts
	return c, nil
}

// olderShard opens a shard in the older snapshot; nil where that was taken without it.
func (t *turn) olderShard(ctx context.Context, since *Since, index string, n int) (*snapshot.Shard, error) {
	idx, err := t.olderIndex(ctx, since, index)
	if err != nil {
		return nil, err
	}
	shard, err := idx.Shard(ctx, n)
	if fault.Is(err, fault.NotFound) && t.plan.AllowPartial {
		return nil, nil
	}
	return shard, err
}

// olderIndex is an index in the older snapshot.
func (t *turn) olderIndex(ctx context.Context, since *Since, index string) (*snapshot.Index, error) {
	older, err := t.from.Find(ctx, since.SnapshotUUID)
	if drive.Passing(err) {
		return nil, err
	}
	if err != nil {
		return nil, fault.WithNext(fault.New(fault.Refused, "snapshot %s, which movement %s brought, cannot be read any more: %w", since.Snapshot, since.Movement, err),
			"migrate the index in full")
	}
	return older.Index(ctx, index)
}

// store keeps what was counted of the buckets before next.
func (c *changing) store(next uint32) error {
	err := c.held.Update(func(piece change, now time.Time) (change, error) {
		lease, err := piece.Beat(c.Worker, now, true)
		piece.Lease, piece.Next = lease, max(piece.Next, next)
		piece.Segments, piece.SegmentsSkipped = c.parts.Segments, c.parts.Same
		piece.DocumentsSkipped, piece.BytesSkipped = c.parts.Documents, c.parts.Bytes
		piece.Compared = c.compared
		piece.Deleted += c.deleted
		piece.Kept += c.kept
		piece.Others = addOthers(piece.Others, c.others)
		piece.Copied.Add(c.copied)
		piece.Unchanged = max(piece.Compared-piece.Copied.Read, 0)
		return piece, err
	})
	c.tally = tally{}
	return err
}

// addChanges adds what the pieces of changes tell.
func (p *Progress) addChanges(ctx context.Context, d *drive.Driver, id string, at map[string]*IndexProgress, h *holders) error {
	changes, err := drive.Pieces[change](ctx, d, work.Prefix(id)+"change/")
	for _, c := range changes {
		h.see(&c.Lease)
		p.Add(c.Copied)
		p.addPiece(&c.Lease)
		if of := at[c.Index]; of != nil {
			of.Copied.Add(c.Copied)
			of.Items.add(&c.Lease)
			if of.Changed == nil {
				of.Changed = &Changed{}
			}
			of.Changed.add(&c.Changed)
		}
	}
	return err
}

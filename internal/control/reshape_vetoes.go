package control

import (
	"context"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// vetoes are what stands against a plan besides its shape, each with what can be done about it.
func (k *MovementService) vetoes(ctx context.Context, p placement.Placement, at string, planned *ReshapePlan, files map[uint32]footprint) error {
	s := k.side.lane.Store
	if err := k.busyWith(ctx, p, at, planned); err != nil {
		return err
	}
	if s.Catalog().Indices[planned.Name].Closed {
		planned.refuse(fault.Refused, "open it: POST /"+planned.Name+"/_open", "index %s is closed", planned.Name)
	}
	status, err := s.PlacementView(ctx, planned.Name)
	if err != nil {
		return err
	}
	for _, row := range status.Shards {
		for _, g := range planned.Plan.Groups {
			if slices.Contains(g.From, row.Shard) {
				planned.Worst += worst(row.Bytes, files[row.Number], len(g.To))
			}
		}
	}
	planned.fits(s.Health())
	return nil
}

// worst is how much disk a shard may take again while it becomes so many parts. Its segments are
// written once more, each document in one part. The words of the documents are repeated in the
// parts, so that what the documents are without compression counts where that is more. A mask of
// a bit for each document says what each part does not own.
func worst(documents int64, files footprint, parts int) int64 {
	return max(documents, files.bytes) + (int64(parts)*files.docs+7)/8
}

func (p *ReshapePlan) refuse(kind fault.Kind, next, format string, args ...any) {
	p.Refusals = append(p.Refusals, Tell(fault.WithNext(fault.New(kind, format, args...), "%s", next)))
}

// busyWith refuses an index that another movement reshapes, or that a migration writes to.
func (k *MovementService) busyWith(ctx context.Context, p placement.Placement, at string, planned *ReshapePlan) error {
	other, err := reshapedBy(p)
	if err != nil {
		return err
	}
	if other != "" {
		planned.refuse(fault.Conflict, "wait for it, or end it: "+statusOf(other, at), "index %s is being reshaped by movement %s", planned.Name, other)
	}
	writers, err := recorded(ctx, k.d.Store(), &migrate.Plan{}, false)
	if err != nil {
		return err
	}
	for _, w := range writers {
		if slices.Contains(w.indices, planned.Name) {
			where := at
			if w.at != "" {
				where = w.at
			}
			planned.refuse(fault.Conflict, "wait for it, finish it or abort it: "+statusOf(w.id, where), "movement %s, which is %s, writes to index %s", w.id, w.state, planned.Name)
		}
	}
	return nil
}

// statusOf is the command that shows how far another movement is.
func statusOf(id, at string) string { return commandAt(at, "movement", "status", id) }

// commandAt is a command for a place; at is "" where the name of the place is not known.
func commandAt(at string, words ...string) string {
	if at == "" {
		return Command(words...)
	}
	return Command(append(slices.Clip(words), "--at", at)...)
}

// fits refuses a store that takes no writes, and a disk without room for the worst case.
func (p *ReshapePlan) fits(health shard.Health) {
	if health.ReadOnly != nil {
		p.Refusals = append(p.Refusals, Tell(fault.WithNext(fault.New(fault.Unavailable, "the store takes no writes: %w", health.ReadOnly), "mend that, then plan again")))
		return
	}
	if free := health.Disk.Free - health.Disk.LowWater; health.Disk.Free > 0 && free < p.Worst {
		p.refuse(fault.Refused, "free space, or split one shard at a time", "until what is not owned has been shed %d bytes more may be taken, and %d are free", p.Worst, max(free, 0))
	}
}

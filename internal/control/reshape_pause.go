package control

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
)

const (
	probes = 3  // of the coordination store, for one prediction
	enough = 3  // hand-offs of the same before that are believed rather than probes
	fences = 16 // of them, at most
	// perShard is what each shard that takes part in a hand-off takes, to be staged and opened, or given up:
	// of 200 from 60,000 documents (BenchmarkHandOffToMany of package store).
	perShard = 250 * time.Microsecond
	changes  = 5 // durable changes that a hand-off waits for: what is being written, two of staging, the placement, the new owners
)

// predict tells how long requests will wait behind a hand-off: as long as behind those of the same shape that
// this index has had before; and where those are few, as long as the store's durable changes and a refresh of
// the index take now. It has no answer where neither can be had.
func (k *MovementService) predict(ctx context.Context, planned *ReshapePlan) error {
	var largest shape
	for _, g := range planned.Plan.Groups {
		if of := shapeOf(g); of.shards() > largest.shards() {
			largest = of
		}
	}
	measured, err := k.earlierPauses(ctx, planned.Plan.Index, largest)
	if err != nil {
		return err
	}
	basis := placement.Before
	if len(measured) < enough {
		basis = placement.Probes
		measured = k.probe(ctx, planned, largest)
	}
	if p, is := placement.Predict(basis, measured, planned.PauseBudget); is {
		planned.Plan.Pause = &p
	}
	return nil
}

// shape is how many shards become how many in one hand-off.
type shape struct{ from, to int }

func shapeOf(g placement.Group) shape { return shape{len(g.From), len(g.To)} }

func (s shape) shards() int { return s.from + s.to }

// back is that of the way back.
func (s shape) back() shape { return shape{s.to, s.from} }

// earlierPauses are how long the newest hand-offs of an index took that had a shape. What others took, of other
// shapes or of other indices, says little: it depends on the documents and on the number of shards.
func (k *MovementService) earlierPauses(ctx context.Context, index uint32, of shape) (all []time.Duration, err error) {
	records, err := k.d.Movements(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b movement.Record) int { return b.Created.Compare(a.Created) })
	for i := range records {
		var told reshard.Progress
		if !Reshapes(records[i].Kind) || len(records[i].Report) == 0 || json.Unmarshal(records[i].Report, &told) != nil {
			continue
		}
		plan, err := reshard.ReadPlan(&records[i])
		if err != nil || plan.Shards.Index != index {
			continue
		}
		take := func(pauses []reshard.Pause, of shape) {
			for group, pause := range pauses {
				if group < len(plan.Shards.Groups) && shapeOf(plan.Shards.Groups[group]) == of {
					all = append(all, pause.Fence)
				}
			}
		}
		take(told.Pauses, of)
		if told.Back != nil {
			take(told.Back.Pauses, of.back())
		}
	}
	return all[:min(len(all), fences)], nil
}

// probe times what a hand-off is made of; nothing where the store does not let it.
func (k *MovementService) probe(ctx context.Context, planned *ReshapePlan, of shape) (all []time.Duration) {
	s := k.side.lane.Store
	if s.Health().ReadOnly != nil || s.Catalog().Indices[planned.Name].Closed {
		return nil
	}
	for range probes {
		begun := time.Now()
		if _, err := s.Refresh(ctx, catalog.Expression{Names: []string{planned.Name}}); err != nil {
			return nil
		}
		refreshed := time.Since(begun)
		change, err := s.Probe(ctx, planned.Plan.Index)
		if err != nil {
			return nil
		}
		all = append(all, refreshed+changes*change+time.Duration(of.shards())*perShard)
	}
	return all
}

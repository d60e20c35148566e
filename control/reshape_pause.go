package control

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/reshard"
)

const (
	probes = 3  // of the coordination store, for one prediction
	enough = 3  // hand-offs of before that are believed rather than probes
	fences = 16 // of them, at most
	// perTarget is what each shard that comes of a hand-off takes, to be staged and opened: of 200
	// from 60,000 documents (BenchmarkHandOffToMany of package store).
	perTarget = 250 * time.Microsecond
	changes   = 5 // durable changes that a hand-off waits for: what is being written, two of staging, the placement, the new owners
)

// predict tells how long requests will wait behind a hand-off: as long as behind those that this
// store has done before; and where those are few, as long as its durable changes and a refresh of
// the index take now. It has no answer where neither can be had.
func (k *Desk) predict(ctx context.Context, planned *ReshapePlan) error {
	targets := 0
	for _, g := range planned.Plan.Groups {
		targets = max(targets, len(g.To))
	}
	measured, err := k.earlierPauses(ctx, targets)
	if err != nil {
		return err
	}
	basis := placement.Before
	if len(measured) < enough {
		basis = placement.Probes
		measured = k.probe(ctx, planned, targets)
	}
	if p, is := placement.Predict(basis, measured, planned.PauseBudget); is {
		planned.Plan.Pause = &p
	}
	return nil
}

// earlierPauses are how long the newest hand-offs of the store would have taken to so many shards.
func (k *Desk) earlierPauses(ctx context.Context, targets int) (all []time.Duration, err error) {
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
		ways := told.Pauses
		if told.Back != nil {
			ways = append(slices.Clip(ways), told.Back.Pauses...)
		}
		for _, pause := range ways {
			all = append(all, fenceTo(pause, targets))
		}
	}
	return all[:min(len(all), fences)], nil
}

// fenceTo is how long a hand-off would have taken to so many shards, if those are more than it was
// to: each is staged, and opened.
func fenceTo(p reshard.Pause, targets int) time.Duration {
	if p.Targets == 0 || targets <= p.Targets {
		return p.Fence
	}
	return p.Fence + (p.Steps.Stage+p.Steps.Open)*time.Duration(targets-p.Targets)/time.Duration(p.Targets)
}

// probe times what a hand-off is made of; nothing where the store does not let it.
func (k *Desk) probe(ctx context.Context, planned *ReshapePlan, targets int) (all []time.Duration) {
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
		all = append(all, refreshed+changes*change+time.Duration(targets)*perTarget)
	}
	return all
}

package control

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// carryOut lets the verb of an order happen, and is the ID of the movement to which it happened: that of a new comparison, when
// a movement that has finished is verified. Stored is that of beginComparison.
func (c *Control) carryOut(ctx context.Context, d *drive.Driver, s *side, o *Order, stored func(id string) error) (id string, err error) {
	if id, err = o.again(ctx, d, stored); err != nil || id != "" {
		return id, err
	}
	return o.ID, c.order(ctx, d, s, o)
}

// again begins, for the order to verify a migration or a comparison that has finished, a comparison of its own of the same:
// what has ended stays as it is. It is "" for every other order. Stored is that of beginComparison.
func (o *Order) again(ctx context.Context, d *drive.Driver, stored func(id string) error) (id string, err error) {
	if o.Verb != movement.Verify {
		return "", nil
	}
	m, err := d.Movement(ctx, o.ID)
	if err != nil || m.State != movement.Finished || Reshapes(m.Kind) {
		return "", unsteered(err)
	}
	plan, err := comparisonOf(&m)
	if err != nil {
		return "", err
	}
	return beginComparison(ctx, d, plan, o.By, o.Why, stored)
}

// comparisonOf is the plan of a comparison of what a movement has brought, or compared, by what its report says. It asks what
// the movement's own comparison has asked: what others write into indices that they had before is no difference.
func comparisonOf(m *movement.Record) (*migrate.Plan, error) {
	plan, err := migrate.ReadPlan(m)
	if err != nil {
		return nil, err
	}
	var report migrate.Progress
	if err := json.Unmarshal(m.Report, &report); err != nil {
		return nil, fault.New(fault.Corrupt, "the report of movement %s is not understood: %w", m.ID, err)
	}
	plan.Indices = slices.Clone(plan.Indices)
	for i := range plan.Indices {
		index := &plan.Indices[i]
		if index.Stream != nil {
			err := fault.New(fault.Refused, "movement %s has appended to data stream %s, and which index behind it holds what is not known any more", m.ID, index.Target)
			return nil, fault.WithNext(err, "compare each index: %s", Command("verify", "--from", plan.Repository, "--snapshot", plan.SnapshotUUID,
				"--to", plan.Target, "--index", index.Source, "--rename", index.Source+"=INDEX-BEHIND-IT"))
		}
		brought := slices.IndexFunc(report.Indices, func(p migrate.IndexProgress) bool { return p.Source == index.Source && p.Target == index.Target })
		whole := index.Since != nil && index.Since.Whole
		index.Shared = index.Shared || brought >= 0 && report.Indices[brought].Existed && !whole
		index.Since = nil
	}
	if m.Kind != movement.Comparison {
		plan.Of = m.ID
	}
	plan.Take, plan.Templates, plan.Gone, plan.IntoExisting, plan.AllowFailures = nil, nil, nil, false, 0
	return &plan, nil
}

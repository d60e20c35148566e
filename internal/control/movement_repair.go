package control

import (
	"context"
	"errors"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// order applies an order. The repair of a comparison of its own writes to the target, which it has not done before: it meets
// other movements as one does that begins.
func (c *Control) order(ctx context.Context, d *drive.Driver, s *side, o *Order) error {
	if o.Verb != movement.Repair {
		return o.apply(ctx, d, s)
	}
	m, err := d.Movement(ctx, o.ID)
	if err == nil && m.State == movement.Finished && !Reshapes(m.Kind) {
		err := fault.New(fault.Conflict, "it is finished, and what differs now is not known")
		return fault.WithNext(err, "reshelve movement verify begins a comparison of its own: repair that")
	}
	if err != nil || Reshapes(m.Kind) || m.Ask(o.Verb).Answer != movement.Goes {
		return o.apply(ctx, d, s) // it says why not
	}
	plan, err := migrate.ReadPlan(&m)
	if err == nil {
		err = o.repairable(&plan)
	}
	switch {
	case err == nil && m.Kind != movement.Comparison:
		return o.apply(ctx, d, s)
	case err == nil:
		err = c.claimFor(ctx, d, s, &MigrateRequest{}, &plan, m.ID)
	}
	if err == nil {
		err = o.apply(ctx, d, s)
	}
	if err != nil {
		return err
	}
	if err := c.refuseTwice(ctx, s, &plan, m.ID); err != nil { // one that has begun meanwhile, and has not seen this one
		_, _, stopped := d.Apply(ctx, m.ID, movement.Event{Verb: movement.Pause, By: o.By, Why: "another movement writes there"})
		return errors.Join(err, stopped)
	}
	return nil
}

// repairable refuses a repair that would replace or delete what the snapshot cannot judge.
func (o *Order) repairable(plan *migrate.Plan) error {
	streams := slices.IndexFunc(plan.Indices, func(i migrate.Index) bool { return i.Stream != nil })
	switch {
	case o.Overwrite && streams >= 0:
		err := fault.New(fault.Refused, "in data stream %s, which was appended to, nothing is replaced", plan.Indices[streams].Target)
		return fault.WithNext(err, "repair it without --overwrite, which brings what is missing")
	case o.DeleteExtra && plan.AllowPartial:
		err := fault.New(fault.Refused, "the snapshot may be incomplete (--allow-partial): documents that it lacks would be deleted on the target")
		return fault.WithNext(err, "repair it without --delete-extra; to delete what is too many, compare complete indices alone: reshelve verify with --index and without --allow-partial")
	}
	return nil
}

// repairs reports whether a comparison of its own has written to the target, or is to.
func repairs(m *movement.Record) bool {
	return slices.ContainsFunc(m.Phases, func(p movement.Phase) bool { return p.Name == movement.RepairPhase })
}

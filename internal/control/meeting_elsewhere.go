package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// recordsAt are the records of movements that a target holds itself, for a while; nil when it
// holds none: to look makes none, unless create says so.
func (c *Control) recordsAt(ctx context.Context, s *side, at string, create bool) (records coord.Store, leave func() error, err error) {
	none := func() error { return nil }
	if !s.beside {
		return s.coord, none, nil
	}
	t, err := s.target(ctx, c, at)
	switch {
	case err != nil:
		return nil, nil, err
	case t.records != nil:
		return t.records, none, nil
	}
	server, err := t.Client.Server(ctx)
	if err != nil {
		return nil, nil, err
	}
	if server.Product != cluster.Reshelve && !create {
		if there, err := t.Client.IndexExists(ctx, recordsIndex); err != nil || !there {
			return nil, nil, err
		}
	}
	if records, err = c.wiring.Coordinate(ctx, t.Reached); err != nil {
		return nil, nil, err
	}
	return records, records.Close, nil
}

// claimFor makes the claim of a movement that is recorded beside its target, looks for others
// that write to the same indices, and refuses it when there is one. Then nothing is left of it.
func (c *Control) claimFor(ctx context.Context, d *drive.Driver, s *side, req *MigrateRequest, plan *migrate.Plan, id string) (err error) {
	if !s.beside {
		return c.refuseTwice(ctx, s, plan, id)
	}
	ours := movement.Entry{Kind: migrate.KindClaim, Name: id, By: workerName()}
	claim := migrate.Claim{ID: id, At: s.at, State: movement.Planned, Indices: written(plan), By: ours.By}
	records, leave, err := c.recordsAt(ctx, s, plan.Target, true)
	if fault.Is(err, fault.Unauthorised) { // who records elsewhere is perhaps not let in
		cmp.Or(req.Logger, slog.Default()).Warn("the target takes no claim: movements that are recorded elsewhere do not see this one", "why", err)
		return c.refuseTwice(ctx, s, plan, id)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	there := drive.New(records, 0)
	if claim.Made, err = there.Now(ctx); err != nil {
		return err
	}
	if err := d.Intend(ctx, id, ours); err != nil {
		return err
	}
	if err = there.Make(ctx, migrate.ClaimKey(id), claim); err == nil {
		err = c.refuseTwice(ctx, s, plan, id)
	}
	if err == nil {
		claim.State = movement.Running
		err = there.Put(ctx, migrate.ClaimKey(id), claim)
	}
	if err == nil {
		return d.Made(ctx, id, ours, "")
	}
	if left := there.Remove(ctx, migrate.ClaimKey(id)); left != nil { // it stays in the ledger
		return errors.Join(err, left)
	}
	return errors.Join(err, d.Strike(ctx, id, ours))
}

// claimAll adds to the claim of a movement the indices of its plan, which is known only now, and
// looks for others once more.
func (c *Control) claimAll(ctx context.Context, s *side, plan *migrate.Plan, id string) error {
	if !s.beside {
		return nil
	}
	records, leave, err := c.recordsAt(ctx, s, plan.Target, false)
	if fault.Is(err, fault.Unauthorised) || err == nil && records == nil {
		return nil // it has none
	} else if err != nil {
		return err
	}
	all, err := migrate.Claims(ctx, records)
	for i := range all {
		if all[i].ID == id {
			all[i].At, all[i].Indices = s.at, written(plan)
			err = drive.New(records, 0).Put(ctx, migrate.ClaimKey(id), all[i])
		}
	}
	if err == nil {
		err = c.refuseTwice(ctx, s, plan, id)
	}
	return errors.Join(err, leave())
}

// LiftClaim removes the claim of a movement whose own records are lost from the target that it
// wrote to. What the movement made there stays.
func (c *Control) LiftClaim(ctx context.Context, at, id string) error {
	return c.with(ctx, at, func(ctx context.Context, d *drive.Driver, s *side) error {
		if s.beside {
			return fault.WithNext(fault.New(fault.Usage, "claims lie on targets"), "name the target that the movement writes to as --at")
		}
		all, err := migrate.Claims(ctx, s.coord)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(c migrate.Claim) bool { return c.ID == id }) {
			return fault.New(fault.NotFound, "movement %s has no claim there", id)
		}
		return d.Remove(ctx, migrate.ClaimKey(id))
	})
}

// claimed says of a movement that is not recorded at the place at that it has a claim there, and
// where it is recorded.
func claimed(ctx context.Context, s *side, id, at string, err error) error {
	if s.beside || !fault.Is(err, fault.NotFound) {
		return err
	}
	all, e := migrate.Claims(ctx, s.coord)
	if e != nil {
		return err
	}
	for _, c := range all {
		if c.ID == id && c.State == movement.Damaged {
			err = fault.New(fault.Corrupt, "movement %s is not recorded here, and its claim here is damaged", id)
			return fault.WithNext(err, "%s lifts the claim", Command("movement", "abort", "--records-lost", id, "--at", at))
		}
		if c.ID == id {
			err = fault.New(fault.NotFound, "movement %s is recorded at %s, and only claims indices here", id, c.At)
			return fault.WithNext(err, "%s shows it; if its records are lost: %s lifts the claim",
				Command("movement", "status", id, "--at", c.At), Command("movement", "abort", "--records-lost", id, "--at", at))
		}
	}
	return err
}

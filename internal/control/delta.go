package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/snapshot"
)

// brought is a movement that has finished, as far as a delta can go on from it.
type brought struct {
	id       string
	plan     migrate.Plan
	progress migrate.Progress
}

// planDelta lets the indices of a plan go on from what earlier movements have brought into the
// same indices of the target, out of older snapshots of the same repository. An index that no
// movement has brought, or that is gone from the target, is moved in full.
func (c *Control) planDelta(ctx context.Context, req *MigrateRequest, side *side, plan *migrate.Plan, snap *snapshot.Snapshot) error {
	earlier, err := req.goesOnFrom(ctx, side)
	if err != nil || earlier == nil {
		return err
	}
	repository, err := c.repository(ctx, plan.Repository)
	if err != nil {
		return err
	}
	found := 0
	for i := range plan.Indices {
		index := &plan.Indices[i]
		b, at := newest(earlier, index, req.Since)
		if b == nil {
			continue
		}
		if there, err := side.client.IndexExists(ctx, index.Target); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		if index.Since, err = sinceOf(ctx, repository, b, at, snap, index.Source, plan.Transform); err != nil {
			return fault.At(err, "index "+index.Source)
		}
		found++
		for _, old := range b.plan.Indices {
			if !slices.Contains(snap.Indices, old.Source) && !slices.Contains(plan.Gone, old.Source) {
				plan.Gone = append(plan.Gone, old.Source)
			}
		}
	}
	if found > 0 {
		return nil
	}
	return req.nothingBrought(plan.Target)
}

// isDelta tells whether only what has changed since is to be moved.
func (req *MigrateRequest) isDelta() bool { return req.Delta || req.Since != "" }

// goesOnFrom are the movements that a delta may go on from, never nil; nil when it is none.
func (req *MigrateRequest) goesOnFrom(ctx context.Context, side *side) ([]brought, error) {
	if !req.isDelta() {
		return nil, nil
	}
	if req.NoVersions {
		err := fault.New(fault.Refused, "without versions a delta does not know what is newer: a document that was deleted could come back")
		return nil, fault.WithNext(err, "leave --no-versions away, or migrate in full")
	}
	earlier, err := earlierMovements(ctx, side)
	return append([]brought{}, earlier...), err
}

// nothingBrought is the refusal of a delta that goes on from nothing.
func (req *MigrateRequest) nothingBrought(target string) error {
	err := fault.New(fault.Refused, "no movement that has finished is known to have brought these indices to %s", target)
	if req.Since != "" {
		err = fault.New(fault.Refused, "no movement that has finished is known to have brought these indices to %s, and is, or moved, %q", target, req.Since)
	}
	return fault.WithNext(err, "migrate in full, without --delta and --since; %s lists what is known", Command("movement", "ls", "--at", req.Place()))
}

// willGoOn tells, before a snapshot is taken, which indices of a plan a delta will go on with, as
// far as that is known: what the snapshot itself decides is asked when it is there.
func (c *Control) willGoOn(ctx context.Context, req *MigrateRequest, side *side, plan *migrate.Plan) (map[string]bool, error) {
	earlier, err := req.goesOnFrom(ctx, side)
	if err != nil || earlier == nil {
		return nil, err
	}
	found := map[string]bool{}
	var repository *snapshot.Repository
	for i := range plan.Indices {
		b, _ := newest(earlier, &plan.Indices[i], req.Since)
		if b == nil {
			continue
		}
		if repository == nil {
			if repository, err = c.repository(ctx, plan.Repository); err != nil {
				return nil, err
			}
		}
		if _, err := olderOf(ctx, repository, b, plan.Transform); err != nil {
			return nil, fault.At(err, "index "+plan.Indices[i].Source)
		}
		found[plan.Indices[i].Source] = true
	}
	if len(found) == 0 {
		return nil, req.nothingBrought(plan.Target)
	}
	return found, nil
}

// earlierMovements are the migrations that a place has seen to their end, the newest first.
func earlierMovements(ctx context.Context, side *side) (all []brought, err error) {
	records, err := drive.New(side.coord, 0).Movements(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b movement.Record) int { return b.Ended.Compare(a.Ended) })
	for i := range records {
		m := &records[i]
		if m.Kind != movement.Migrate || m.State != movement.Finished {
			continue
		}
		b := brought{id: m.ID}
		if b.plan, err = migrate.ReadPlan(m); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(m.Report, &b.progress); err != nil {
			return nil, fault.New(fault.Corrupt, "the report of movement %s is not understood: %w", m.ID, err)
		}
		all = append(all, b)
	}
	return all, nil
}

// newest is the newest movement that wrote the target of an index; named, when it is not "",
// says which: its ID, or what it moved. At is where its progress tells of the index.
func newest(earlier []brought, index *migrate.Index, named string) (b *brought, at int) {
	for i := range earlier {
		b := &earlier[i]
		if named != "" && !slices.Contains([]string{b.id, b.plan.Snapshot, b.plan.SnapshotUUID}, named) {
			continue
		}
		at := slices.IndexFunc(b.progress.Indices, func(p migrate.IndexProgress) bool {
			return p.Target == index.Target && p.Source == index.Source && p.State == "done"
		})
		if at >= 0 {
			return b, at
		}
	}
	return nil, 0
}

// wholly is what to do about an index of which there is no delta.
const wholly = "migrate it in full, into an index that is not there: delete that of the target, or choose another name with --rename"

// olderOf is the snapshot that a movement brought, or why no delta can go on from it.
func olderOf(ctx context.Context, repository *snapshot.Repository, b *brought, transformation string) (*snapshot.Snapshot, error) {
	if b.plan.NoVersions {
		err := fault.New(fault.Refused, "movement %s brought it without versions, so it is not known what is newer", b.id)
		return nil, fault.WithNext(err, wholly)
	}
	if b.plan.Transform != transformation {
		err := fault.New(fault.Refused, "movement %s brought it with another transformation, or with none", b.id)
		return nil, fault.WithNext(err, "give the same --transform; or %s", wholly)
	}
	older, err := repository.Find(ctx, b.plan.SnapshotUUID)
	if fault.Is(err, fault.NotFound) {
		err := fault.New(fault.Refused, "movement %s brought it out of snapshot %s, which is not in this repository (any more)", b.id, b.plan.Snapshot)
		return nil, fault.WithNext(err, wholly)
	}
	return older, err
}

// sinceOf tells from where on an index is moved, or why it cannot be.
func sinceOf(ctx context.Context, repository *snapshot.Repository, b *brought, at int, snap *snapshot.Snapshot, name, transformation string) (*migrate.Since, error) {
	older, err := olderOf(ctx, repository, b, transformation)
	if err != nil {
		return nil, err
	}
	if older.Start.After(snap.Start) {
		err := fault.New(fault.Refused, "the target holds it as in snapshot %s, which is newer than %s", older.Name, snap.Name)
		return nil, fault.WithNext(err, "choose a newer snapshot with --snapshot")
	}
	was, err := older.Index(ctx, name)
	if err != nil {
		return nil, err
	}
	is, err := snap.Index(ctx, name)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(was.UUID, is.UUID) || was.Setting["index.creation_date"] != is.Setting["index.creation_date"] || was.Shards != is.Shards {
		err := fault.New(fault.Refused, "it was created anew in the source since snapshot %s", older.Name)
		return nil, fault.WithNext(err, "%s; or leave it out", wholly)
	}
	if len(is.Types) > 1 {
		return nil, fault.WithNext(fault.New(fault.Refused, "it has several mapping types, in each of which an id is another document: there is no delta of those"), wholly)
	}
	p := &b.progress.Indices[at]
	return &migrate.Since{Movement: b.id, Snapshot: older.Name, SnapshotUUID: older.UUID,
		Whole: !p.Existed || p.Since != nil && p.Since.Whole, Lacking: b.progress.Lacks(at)}, nil
}

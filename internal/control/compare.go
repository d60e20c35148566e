package control

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// CompareRequest asks for a snapshot to be compared with a target, whoever has filled that. Nothing is made or changed
// there. It is a movement of which nothing but the comparison is done. The zero value of a field is its default.
type CompareRequest struct {
	Selection
	Target     string      // a URL, or a data folder that is there
	Rename     []string    // "old=new", names of indices
	Transform  string      // the steps that the documents went through; see package transform
	Types      string      // what became of indices of several mapping types: "split" or "merge"
	NoVersions bool        // the target has versions of its own: they do not tell which side is older
	Workers    int         // slots of this process; 2
	Policy     work.Policy // of leases
	Memory     int64       // bytes to stay below when the target is a folder
	By, Why    string
	Logger     *slog.Logger
	// Coordinate is where it is recorded: "target", "local:DIR", a URL of PostgreSQL, or, by "auto" and "", see Place.
	Coordinate string
	NoWait     bool // start it, and leave the work to workers
	// Planned is called with the plan before anything starts; it may be nil.
	Planned func(*Preview) `json:"-"`
}

// Place is where the comparison is recorded: the place that a worker joins. A cluster is not written to. Unless the request names
// a place, it is a folder of this user, one for each repository and target.
func (r *CompareRequest) Place() (string, error) {
	auto := r.Coordinate == "" || r.Coordinate == "auto"
	switch {
	case r.Coordinate == "target", auto && (&MigrateRequest{Target: r.Target}).folder():
		return r.Target, nil
	case !auto:
		return r.Coordinate, nil
	}
	home := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(home) {
		own, err := os.UserHomeDir()
		if err != nil {
			err := fault.New(fault.Usage, "there is no folder of this user to record the comparison in: %w", err)
			return "", fault.WithNext(err, "name one with --coordinate local:DIR")
		}
		home = filepath.Join(own, ".local", "state")
	}
	pair := sha256.Sum256([]byte(absolute(r.Repository) + "\x00" + Bare(r.Target)))
	return "local:" + filepath.Join(home, "reshelve", "verify-"+hex.EncodeToString(pair[:6])), nil
}

// migration is the request as one for a movement of the same.
func (r *CompareRequest) migration() (*MigrateRequest, error) {
	place, err := r.Place()
	if err != nil {
		return nil, err
	}
	m := &MigrateRequest{Selection: r.Selection, Target: r.Target, Rename: r.Rename, Transform: r.Transform, NoVersions: r.NoVersions, Workers: r.Workers,
		Policy: r.Policy, Memory: r.Memory, By: r.By, Why: r.Why, Logger: r.Logger, Coordinate: place, NoWait: r.NoWait, Planned: r.Planned, compares: true}
	if place == r.Target {
		m.Coordinate = "target"
	}
	m.Metadata.Types = translate.Types(r.Types)
	m.Templates.None = true
	m.setDefaults()
	return m, nil
}

// Compare compares a snapshot with a target, until that is done or holds for differences. One of before, of the same, that
// has not ended goes on; if it holds, both sides are compared again. Told is called from time to time with how far it is.
func (c *Control) Compare(ctx context.Context, req CompareRequest, told func(*Movement)) (m *Movement, err error) {
	asked, err := req.migration()
	if err != nil {
		return nil, err
	}
	var preview *Preview
	asked.admit = func(side *side) (err error) {
		if preview, err = c.comparison(ctx, asked, side); err != nil {
			return err
		}
		if err = preview.refusal(); err != nil && req.Planned != nil {
			req.Planned(preview)
		}
		return err
	}
	side, err := c.sideOf(ctx, req.Target, asked)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, side.leave()) }()
	if preview == nil { // the target has the records
		if err := asked.admit(side); err != nil {
			return nil, err
		}
	}
	if err := writersCheck.on(ctx, &looking{Preview: preview, control: c, req: asked, side: side}); err != nil {
		return nil, err
	}
	if req.Planned != nil {
		req.Planned(preview)
	}
	d := drive.New(side.coord, preview.Plan.Policy.ClockTolerance)
	id, err := beginComparison(ctx, d, preview.Plan, req.By, req.Why, nil)
	if err != nil {
		return nil, err
	}
	if req.NoWait {
		return movementOf(ctx, d, side, id, asked.Place())
	}
	return c.work(ctx, d, side, id, asked, told)
}

// PreviewComparison plans a comparison and starts nothing.
func (c *Control) PreviewComparison(ctx context.Context, req CompareRequest) (p *Preview, err error) {
	asked, err := req.migration()
	if err != nil {
		return nil, err
	}
	asked.Coordinate = "" // no place for records is made
	c = c.planning()
	side, err := c.sideOf(ctx, req.Target, asked)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, side.leave()) }()
	if p, err = c.comparison(ctx, asked, side); err != nil {
		return nil, err
	}
	return p, writersCheck.on(ctx, &looking{Preview: p, control: c, req: asked, side: side})
}

// comparison makes the plan of a comparison, but for the check of movements.
func (c *Control) comparison(ctx context.Context, req *MigrateRequest, side *side) (*Preview, error) {
	planned, err := c.planMigration(ctx, req)
	if err != nil {
		return nil, err
	}
	planned.plan.Strict = true
	return c.look(ctx, req, side, planned, comparisonChecks())
}

// beginComparison starts a comparison, or lets the one of the same plan go on that has not ended. Stored is called when
// another is on record, before it starts; nil: nobody is.
func beginComparison(ctx context.Context, d *drive.Driver, plan *migrate.Plan, by, why string, stored func(id string) error) (id string, err error) {
	id, verb, err := unended(ctx, d, plan)
	if err != nil || id != "" {
		if err == nil && verb != "" {
			_, _, err = d.Apply(ctx, id, movement.Event{Verb: verb, By: by, Why: why})
		}
		return id, err
	}
	body, err := json.Marshal(plan)
	if err != nil {
		return "", fault.Wrap(fault.Bug, err)
	}
	now, err := d.Now(ctx)
	if err != nil {
		return "", err
	}
	m := movement.Record{ID: newID(now), Kind: movement.Comparison, State: movement.Planned, Plan: body, Phases: migrate.ComparisonPhases(), Created: now}
	ctx, done := unhurried(ctx)
	defer done()
	err = d.Plan(ctx, m)
	if err == nil && stored != nil {
		if err = stored(m.ID); err != nil {
			return "", errors.Join(err, d.Forget(ctx, m.ID))
		}
	}
	if err == nil {
		_, _, err = d.Apply(ctx, m.ID, movement.Event{Verb: movement.Start, By: by, Why: why})
	}
	return m.ID, err
}

// unended is a comparison of the same plan, whatever its leases are, that has not ended, and the verb by which it goes on;
// "" when there is none, or when it is at work.
func unended(ctx context.Context, d *drive.Driver, plan *migrate.Plan) (id string, verb movement.Verb, err error) {
	same, err := alike(*plan)
	if err != nil {
		return "", "", err
	}
	all, err := d.Movements(ctx)
	for i := range all {
		m := &all[i]
		if m.Kind != movement.Comparison || m.State.Ended() || m.State == movement.Aborting {
			continue
		}
		other, err := migrate.ReadPlan(m)
		if err != nil {
			continue // it is damaged, and left alone
		}
		if text, err := alike(other); err != nil || !bytes.Equal(text, same) {
			continue
		}
		switch {
		case m.State == movement.Held && m.Listed:
			verb = movement.Verify
		case m.State == movement.Planned:
			verb = movement.Start
		case m.State != movement.Running:
			verb = movement.Resume
		}
		return m.ID, verb, nil
	}
	return "", "", err
}

// alike is what plans have in common that compare the same.
func alike(p migrate.Plan) ([]byte, error) {
	p.Policy = work.Policy{}
	text, err := json.Marshal(p)
	return text, fault.Wrap(fault.Bug, err)
}

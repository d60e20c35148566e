package control

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// Preview is what a migration would do, and what speaks against it.
type Preview struct {
	Plan    *migrate.Plan  `json:"plan"`
	Indices []PreviewIndex `json:"indices"`
	// Templates are what becomes of those of the plan, in its order.
	Templates []PreviewTemplate `json:"templates,omitempty"`
	// Pipelines are ingest pipelines of the snapshot. They are only named: none is made.
	Pipelines []string `json:"pipelines,omitempty"`
	// Private are indices with a dot in front, which are left out because nobody named them.
	Private []string `json:"private,omitempty"`
	// Unknown is what will be known only of a snapshot that is yet to be taken, in words.
	Unknown []string `json:"unknown,omitempty"`
	Cost    Cost     `json:"cost"`
	// Checks are what was looked at before, each passed or failed.
	Checks []Check `json:"checks"`
	// Problems forbid the start, each with its remedy: those of all checks.
	Problems []Problem `json:"problems,omitempty"`
}

// PreviewIndex is what becomes of one index.
type PreviewIndex struct {
	Index  string `json:"index"`
	Target string `json:"target"`
	// Stream is the data stream that its documents are appended to.
	Stream string `json:"stream,omitempty"`
	// Targets are the indices that it becomes where its mapping types are split.
	Targets []string `json:"targets,omitempty"`
	There   bool     `json:"there"`            // the target has it, and it is left as it is
	Holds   int64    `json:"holds"`            // documents that the target has in it
	Closed  bool     `json:"closed,omitempty"` // on the target, which does not count what it holds
	// Changes are what the rules of package translate make of its metadata.
	Changes []Change `json:"changes,omitempty"`
	// Collapse is what becomes of ids that its mapping types have in common, where these become one index.
	Collapse *migrate.Collapse `json:"collapse,omitempty"`
	// Applied is what templates of the target do to what is created.
	Applied []migrate.Applied `json:"applied,omitempty"`

	bodies []translate.Body
}

// Preview plans a migration and starts nothing.
func (c *Control) Preview(ctx context.Context, req MigrateRequest) (*Preview, error) {
	at, remove, err := existing(req.Target)
	if err != nil {
		return nil, err
	}
	defer remove()
	c = c.planning()
	side, err := c.sideOf(ctx, at, &req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = side.leave() }()
	return c.prepare(ctx, &req, side)
}

// existing is the target itself, or for a folder that is not there yet one that is empty,
// for as long as the preview takes: a preview makes nothing.
func existing(target string) (at string, remove func(), err error) {
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		return target, func() {}, nil
	}
	if err := errors.Join(checkTarget(target), checkFolder(target, true)); err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(target); err == nil {
		return target, func() {}, nil
	}
	dir, err := previewFolder()
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

func (c *Control) preview(ctx context.Context, req *MigrateRequest, side *side) (*Preview, error) {
	planned, err := c.planMigration(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := c.planDelta(ctx, req, side, planned.plan, planned.snapshot); err != nil {
		return nil, err
	}
	return c.look(ctx, req, side, planned, checks())
}

// look makes a preview of a plan by the checks, one after the other.
func (c *Control) look(ctx context.Context, req *MigrateRequest, side *side, planned *planned, checks []check) (p *Preview, err error) {
	p = &Preview{Plan: planned.plan, Private: planned.private}
	for _, check := range checks {
		if err := check.on(ctx, &looking{Preview: p, planned: planned, control: c, req: req, side: side}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// on makes the check, and adds what it has found to the preview.
func (k *check) on(ctx context.Context, l *looking) (err error) {
	done := Check{Name: k.name}
	l.done = &done
	if done.Found, err = k.look(ctx, l); err != nil {
		return fault.At(err, "check "+k.name)
	}
	done.Passed = len(done.Problems) == 0
	l.Checks = append(l.Checks, done)
	l.Problems = append(l.Problems, done.Problems...)
	return nil
}

func previewIndex(ctx context.Context, snap *snapshot.Snapshot, target *cluster.Client, plan *migrate.Plan, index migrate.Index) (p PreviewIndex, err error) {
	p = PreviewIndex{Index: index.Source, Target: index.Target, There: true}
	if len(index.Places) > 0 {
		p.Targets = index.Targets()
	}
	there := map[string]bool{}
	for _, name := range index.Targets() {
		if there[name], err = target.IndexExists(ctx, name); err != nil {
			return p, err
		}
		p.There = p.There && there[name]
		if there[name] {
			if err := refuseAlias(ctx, target, index.Source, name); err != nil {
				return p, err
			}
			holds, err := target.Count(ctx, name)
			if err != nil {
				return p, err
			}
			p.Holds += holds
		}
	}
	if p.There {
		return p, nil
	}
	bodies, err := migrate.Translate(ctx, snap, target, plan.Metadata, index, nil)
	for _, b := range bodies {
		if !there[b.Name] {
			p.bodies = append(p.bodies, b)
			p.Changes = append(p.Changes, b.Changes...)
		}
	}
	return p, err
}

// refuseAlias refuses a name that is no index of the target but leads to some: whoever moves the
// alias meanwhile would send the documents elsewhere, and what was there before counted as moved.
func refuseAlias(ctx context.Context, target *cluster.Client, source, name string) error {
	found, err := target.Indices(ctx, name)
	if err != nil {
		return err
	}
	if index, is := found[name]; is || len(found) == 0 {
		return refuseBlocked(name, index.Settings)
	}
	behind := slices.Sorted(maps.Keys(found))
	if found[behind[0]].DataStream == name {
		err := fault.New(fault.Refused, "%s is a data stream of the target, and no index", name)
		return fault.WithNext(err, "append to it with --data-streams append, or give the index another name with --rename")
	}
	err = fault.New(fault.Refused, "%s is an alias of the target, of %s", name, listed(behind))
	return fault.WithNext(err, "give the index another name with --rename, or write into the index behind the alias: --rename %s=%s --into-existing", source, behind[0])
}

// Outcome is the error of a plan that could not be started; nil when nothing speaks against it.
func (p *Preview) Outcome() error {
	if len(p.Problems) == 0 {
		return nil
	}
	return fault.WithNext(fault.New(fault.Refused, "it would not start: %s", have(len(p.Problems), "problem", "problems")), "mend what has failed of the checks")
}

// refusal is the error that forbids the start; nil when nothing does.
func (p *Preview) refusal() error {
	if len(p.Problems) == 0 {
		return nil
	}
	var all []string
	kind := fault.Refused
	for _, alone := range []fault.Kind{fault.Conflict, fault.Corrupt} { // when nothing but that is in the way
		if !slices.ContainsFunc(p.Problems, func(problem Problem) bool { return problem.Kind != alone.String() }) {
			kind = alone
		}
	}
	first := p.Problems[0]
	for _, problem := range p.Problems {
		if all = append(all, problem.Message); problem.Kind == fault.Conflict.String() {
			first = problem // another movement is at work there: what it has brought is what else is in the way
		}
	}
	err := fault.New(kind, "%s", strings.Join(all, "; "))
	return fault.WithNext(err, "%s", first.Next)
}

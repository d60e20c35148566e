package control

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/snapshot"
)

// planned is a plan, and what was met while the snapshot was read for it.
type planned struct {
	plan     *migrate.Plan
	snapshot *snapshot.Snapshot
	indices  map[string]*snapshot.Index // by name; what cannot be read is missing
	unread   []error                    // why: one for each index that cannot be read
	lost     []error                    // what the repository lacks, and the migration does not need
	private  []string                   // indices of servers, which nobody named
	exact    bool                       // documents and bytes are counted, not extrapolated
	// collapses are what is known of indices whose mapping types become one, by name.
	collapses map[string]*migrate.Collapse
}

// planMigration reads what the snapshot holds, and decides what is moved where.
// An index that cannot be read is in the plan all the same, and told.
func (c *Control) planMigration(ctx context.Context, req *MigrateRequest) (*planned, error) {
	if req.planned != nil {
		return req.planned, nil
	}
	chosen, err := c.choose(ctx, req.Selection)
	if err != nil {
		return nil, err
	}
	if req.Transform != "" {
		if _, err := transform.Parse([]byte(req.Transform)); err != nil {
			return nil, fault.At(err, "the transformation")
		}
	}
	req.setDefaults()
	if req.Metadata, err = req.Metadata.Checked(); err != nil {
		return nil, err
	}
	plan := req.plan()
	plan.Snapshot, plan.SnapshotUUID, plan.Version = chosen.snapshot.Name, chosen.snapshot.UUID, chosen.snapshot.Version
	renaming, err := renamings(req.Rename)
	if err != nil {
		return nil, err
	}
	var left []string
	if chosen.names, left, err = withoutPrivate(ctx, chosen, req.Indices); err != nil {
		return nil, err
	}
	p := &planned{plan: plan, private: left, snapshot: chosen.snapshot, indices: map[string]*snapshot.Index{}, exact: true, collapses: map[string]*migrate.Collapse{}}
	streams, err := planStreams(ctx, req, chosen, renaming)
	if err != nil {
		return nil, err
	}
	for _, name := range chosen.names {
		index := migrate.Index{Source: name}
		if s, in := streams[name]; in {
			index.Target, index.Stream = s.Name, &s
		} else if index.Target, err = renamed(renaming, name); err != nil {
			return nil, err
		}
		if err := p.read(ctx, &index); err != nil {
			return nil, err
		}
		plan.Indices = append(plan.Indices, index)
	}
	if err := checkRenamings(renaming, plan.Indices); err != nil {
		return nil, err
	}
	if err := checkNames(plan.Indices); err != nil {
		return nil, err
	}
	plan.Digits = work.Digits(items(plan))
	plan.Templates, err = planTemplates(ctx, req, chosen, plan)
	return p, err
}

// plan is that of a request, but for what the snapshot holds.
func (req *MigrateRequest) plan() *migrate.Plan {
	return &migrate.Plan{Repository: absolute(req.Repository), Target: req.recorded(), Policy: req.Policy, IntoExisting: req.IntoExisting,
		NoVersions: req.NoVersions, AllowPartial: req.AllowPartial, AllowFailures: req.AllowFailures, Transform: req.Transform,
		ItemBytes: req.ItemBytes, Metadata: req.Metadata, Lossless: !req.Yes}
}

// withoutPrivate leaves out indices whose names begin with a dot, which servers and their
// plugins keep for themselves, unless a pattern with a dot names them, or they hold a data stream.
func withoutPrivate(ctx context.Context, chosen selection, patterns []string) (names, private []string, err error) {
	backing := map[string]bool{}
	dotted := func(name string) bool { return strings.HasPrefix(name, ".") }
	if slices.ContainsFunc(chosen.names, dotted) {
		global, err := chosen.snapshot.Global(ctx)
		if err != nil {
			return nil, nil, err
		}
		if backing, err = migrate.Backing(global); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range chosen.names {
		named := slices.ContainsFunc(patterns, func(p string) bool { return dotted(p) && wildcard.Match(p, name) })
		if !dotted(name) || named || backing[name] {
			names = append(names, name)
		} else {
			private = append(private, name)
		}
	}
	return names, private, nil
}

// read reads what the snapshot tells of an index.
func (p *planned) read(ctx context.Context, index *migrate.Index) error {
	idx, err := p.snapshot.Index(ctx, index.Source)
	if err == nil {
		p.indices[index.Source] = idx
		index.Shards = idx.Shards
		var e *snapshot.Estimate
		if e, err = p.snapshot.Estimate(ctx, func(n string) bool { return n == index.Source }); err == nil {
			index.Documents, index.Bytes, index.Stored = e.Documents, e.SourceBytes, e.Stored
			p.exact = p.exact && e.Exact
			for _, lost := range e.Lost {
				p.lost = append(p.lost, fault.At(lost, "index "+index.Source))
			}
			return nil
		}
	}
	if _, other := tellable(err); other != nil {
		return other
	}
	place := "index " + index.Source
	var told *fault.Error
	if !errors.As(err, &told) || !slices.Contains(told.Place(), place) { // the reader may have told it
		err = fault.At(err, place)
	}
	p.unread = append(p.unread, err)
	return nil
}

// items is about how many items the copy has: each shard is cut into parts of ItemBytes.
func items(plan *migrate.Plan) (n int) {
	for _, index := range plan.Indices {
		n += index.Shards + int(max(index.Stored, index.Bytes)/max(plan.ItemBytes, 1))
	}
	return n
}

// absolute is a location that means the same wherever a worker is started.
func absolute(location string) string {
	if strings.Contains(location, "://") {
		return location
	}
	if path, err := filepath.Abs(location); err == nil {
		return path
	}
	return location
}

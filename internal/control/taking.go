package control

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// prepare makes the plan of a migration: of a snapshot that is there, or, as far as it can be
// told before, of one that is taken first.
func (c *Control) prepare(ctx context.Context, req *MigrateRequest, side *side) (*Preview, error) {
	if req.FromCluster == "" {
		return c.preview(ctx, req, side)
	}
	req.setDefaults()
	checked, err := req.Metadata.Checked() // before a snapshot is taken
	if err != nil {
		return nil, err
	}
	req.Metadata = checked
	if _, err := c.located(req.Repository); err != nil { // before the source is told to write there
		return nil, err
	}
	source, err := c.openSource(ctx, req.FromCluster)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	server, err := source.Server(ctx)
	if err != nil {
		return nil, err
	}
	if server.Product == cluster.Reshelve {
		err := fault.At(fault.New(fault.Refused, "it is a reshelve serve, which takes no snapshots"), Bare(req.FromCluster))
		return nil, fault.WithNext(err, "stop it and copy its data folder, or name an OpenSearch or an Elasticsearch")
	}
	take, err := takeOf(ctx, req, source)
	if err != nil {
		return nil, err
	}
	p := &Preview{Plan: req.plan()}
	p.Plan.Version, p.Plan.Take = server.Version.String(), take
	if err := c.expect(ctx, p, req, side, source); err != nil {
		return nil, err
	}
	p.Unknown = append(p.Unknown, "how large the sources are, uncompressed: what is shown is what the files of the source take, one copy of each shard")
	return p, c.refuseTwice(ctx, side, p.Plan, "")
}

// takeOf is the snapshot that is to be taken.
func takeOf(ctx context.Context, req *MigrateRequest, source *cluster.Client) (*migrate.Take, error) {
	kept := *req
	kept.Target, kept.FromCluster, kept.Logger = req.recorded(), "", nil
	asked, err := json.Marshal(kept)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	take := &migrate.Take{Cluster: Bare(req.FromCluster), Repository: req.SnapshotRepository, Indices: req.Indices, Asked: asked}
	known, err := source.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	if _, there := known[req.SnapshotRepository]; there {
		return take, nil
	}
	take.Register, err = repositoryAt(absolute(req.Repository))
	return take, err
}

// expect fills the plan with what the source holds now, which is about what the snapshot
// will: movements that would write to the same indices are known before.
func (c *Control) expect(ctx context.Context, p *Preview, req *MigrateRequest, side *side, source *cluster.Client) error {
	all, err := source.Stats(ctx, "*")
	if err != nil {
		return err
	}
	sizes, names := map[string]cluster.IndexStats{}, []string{}
	for _, index := range all {
		sizes[index.Index] = index
		names = append(names, index.Index)
	}
	if names, err = selectIndices(names, req.Indices); err != nil {
		return err
	}
	renaming, err := renamings(req.Rename)
	if err != nil {
		return err
	}
	for _, name := range names {
		target, err := renamed(renaming, name)
		if err != nil {
			return err
		}
		size := sizes[name]
		p.Plan.Indices = append(p.Plan.Indices, migrate.Index{Source: name, Target: target, Shards: size.Shards, Documents: size.Documents, Stored: size.Primary})
		p.Cost.Documents, p.Cost.FileBytes = p.Cost.Documents+size.Documents, p.Cost.FileBytes+size.Primary
	}
	if err := checkRenamings(renaming, p.Plan.Indices); err != nil {
		return err
	}
	if err := checkNames(p.Plan.Indices); err != nil {
		return err
	}
	goesOn, err := c.willGoOn(ctx, req, side, p.Plan)
	if err != nil {
		return err
	}
	for i := range p.Plan.Indices {
		name, target := p.Plan.Indices[i].Source, p.Plan.Indices[i].Target
		shown := PreviewIndex{Index: name, Target: target}
		if shown.There, err = side.client.IndexExists(ctx, target); err == nil && shown.There {
			shown.Holds, err = side.client.Count(ctx, target)
		}
		if err != nil {
			return err
		}
		if shown.Holds > 0 && !req.IntoExisting && !goesOn[name] {
			err := fault.New(fault.Refused, "index %s of the target holds %d documents", target, shown.Holds)
			p.Problems = append(p.Problems, Tell(fault.WithNext(err, "give it another name with --rename, or write into it with --into-existing")))
		}
		p.Indices = append(p.Indices, shown)
	}
	return nil
}

// complete makes the plan of a snapshot that has been taken.
func (c *Control) complete(ctx context.Context, joined *side, id string, plan migrate.Plan) (migrate.Plan, error) {
	var req MigrateRequest
	if err := json.Unmarshal(plan.Take.Asked, &req); err != nil {
		return plan, fault.New(fault.Corrupt, "what movement %s was asked for is not understood: %w", id, err)
	}
	req.Repository, req.Snapshot, req.own = plan.Repository, plan.Snapshot, id
	client, err := joined.reach(ctx, c, plan.Target)
	if err != nil {
		return plan, err
	}
	here := &side{client: client, coord: joined.coord, beside: joined.beside, at: joined.at, targets: joined.targets}
	preview, err := c.preview(ctx, &req, here)
	if err == nil {
		err = preview.refusal()
	}
	if err != nil {
		return plan, err
	}
	preview.Plan.Take = plan.Take
	return *preview.Plan, c.claimAll(ctx, here, preview.Plan, id)
}

// phases are those of a plan.
func phases(plan *migrate.Plan) []movement.Phase {
	if plan.Take == nil {
		return migrate.Phases()
	}
	return append([]movement.Phase{migrate.SnapshotPhase()}, migrate.Phases()...)
}

// openSource makes a client of a cluster of which a snapshot is taken.
func (c *Control) openSource(ctx context.Context, at string) (*cluster.Client, error) {
	options, err := c.access(ofSource, at)
	if err != nil {
		return nil, err
	}
	c.contact.cluster(&options)
	return cluster.Open(ctx, options)
}

// repositoryAt is a repository as a cluster is told of it, which uses credentials of its
// own for it.
func repositoryAt(location string) (*cluster.Repository, error) {
	l, err := blob.ParseLocation(location)
	if err != nil {
		return nil, err
	}
	settings := func(bucket, prefix string) map[string]any {
		all := map[string]any{bucket: l.Bucket}
		if l.Prefix != "" {
			all[prefix] = l.Prefix
		}
		return all
	}
	switch l.Scheme {
	case "file":
		return &cluster.Repository{Type: "fs", Settings: map[string]any{"location": l.Prefix}}, nil
	case "s3":
		r := &cluster.Repository{Type: "s3", Settings: settings("bucket", "base_path")}
		for ours, theirs := range map[string]string{"endpoint": "endpoint", "region": "region"} {
			if value := l.Options.Get(ours); value != "" {
				r.Settings[theirs] = value
			}
		}
		if l.Options.Has("path-style") {
			r.Settings["path_style_access"] = "true"
		}
		return r, nil
	case "gs":
		return &cluster.Repository{Type: "gcs", Settings: settings("bucket", "base_path")}, nil
	case "az":
		return &cluster.Repository{Type: "azure", Settings: settings("container", "base_path")}, nil
	}
	err = fault.New(fault.Usage, "no cluster can write snapshots to %s:// locations", l.Scheme)
	return nil, fault.WithNext(err, "give as --snapshot-to a folder, %s", strings.Join([]string{"s3://…", "gs://…", "or az://…"}, ", "))
}

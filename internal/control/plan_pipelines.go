package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// lookPipelines refuses a plan whose indices name ingest pipelines that the target lacks, or that would change the
// documents on their way: every write goes through a final pipeline. An index that the movement makes gets its final
// pipeline when everything was compared.
func lookPipelines(ctx context.Context, l *looking) (string, error) {
	there, err := l.side.client.Pipelines(ctx)
	unknown := fault.Is(err, fault.Unauthorised)
	if err != nil && !unknown {
		return "", err
	}
	named, lacking := 0, map[pipeline][]string{}
	for i := range l.Indices {
		index := &l.Indices[i]
		for _, a := range index.Applied {
			for _, p := range []pipeline{{"default_pipeline", a.DefaultPipeline, ""}, {"final_pipeline", a.FinalPipeline, ""}} {
				if p.name == "" {
					continue
				}
				named++
				if p.from = saysPipeline(&a, p.kind); !slices.Contains(there, p.name) && !unknown {
					lacking[p] = append(lacking[p], kindOf(index)+" "+a.Index)
				}
			}
			l.lookStreamPipelines(index, &a)
		}
		if err := l.lookFinal(ctx, i); err != nil {
			return "", err
		}
	}
	server, err := l.side.client.Server(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range slices.SortedFunc(maps.Keys(lacking), func(a, b pipeline) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from))
	}) {
		l.refuse(l.bringsPipeline(p, server.Product), "index.%s of %s names the ingest pipeline %s, which the target lacks: it refuses every document that clients write there", p.kind, listed(lacking[p]), p.name)
	}
	if unknown && named > 0 {
		l.warn("let these credentials read ingest pipelines (OpenSearch: cluster:admin/ingest/pipeline/get; Elasticsearch: read_pipeline)", "these credentials may not read the ingest pipelines of the target, which may lack those that the new indices name: %v", err)
	}
	if named == 0 {
		return "nothing that is created goes through one", nil
	}
	return fmt.Sprintf("%s; none sees what is moved", have(named, "is named for an index that is created", "are named for indices that are created")), nil
}

// pipeline is an ingest pipeline that a setting of an index names: kind is the setting, from is where its value comes from.
type pipeline struct{ kind, name, from string }

func kindOf(index *PreviewIndex) string {
	if index.Stream != "" {
		return "data stream"
	}
	return "index"
}

// saysPipeline names where the pipeline setting of an index comes from: a template, or the index itself.
func saysPipeline(a *migrate.Applied, kind string) string {
	for _, add := range a.Adds {
		if add.Where == "settings.index."+kind {
			return "template " + add.Template + " of the target"
		}
	}
	return "what the index is created with"
}

// bringsPipeline is the remedy of a pipeline that the target lacks: the snapshot's, or one that does nothing.
func (l *looking) bringsPipeline(p pipeline, product cluster.Product) string {
	kind, name, from := p.kind, p.name, p.from
	if product == cluster.Reshelve {
		return "Reshelve has no ingest pipelines: take index." + kind + " out of " + from
	}
	put := "_ingest/pipeline/" + name
	if slices.Contains(l.Pipelines, name) {
		return "bring it along: reshelve snapshot inspect" + arguments(l.Plan.Repository, l.Plan.Snapshot, "--output", "json") +
			" | jq" + arguments(fmt.Sprintf(".global.ingest.pipeline[] | select(.id == %q).config", name)) +
			" | curl" + arguments("-X", "PUT", l.req.Target+"/"+put, "-H", "Content-Type: application/json", "-d", "@-") +
			"; or take index." + kind + " out of " + from
	}
	return "make it, here as one that does nothing: " + l.asks("PUT", put, `{"processors":[]}`) + "; or take index." + kind + " out of " + from
}

// lookStreamPipelines refuses a final pipeline of a data stream, and warns of a default one: its backing indices are made
// by the template, and nothing of that can be taken away.
func (l *looking) lookStreamPipelines(index *PreviewIndex, a *migrate.Applied) {
	if index.Stream == "" {
		return
	}
	if a.FinalPipeline != "" && !l.req.Yes {
		l.refuse("take index.final_pipeline out of "+saysPipeline(a, "final_pipeline")+" until the movement has ended, or accept with --yes what it changes",
			"data stream %s: every document goes through its final pipeline %s, and may differ in the comparison", a.Index, a.FinalPipeline)
	}
	if a.DefaultPipeline != "" {
		l.warn("take index.default_pipeline out of "+saysPipeline(a, "default_pipeline")+" until the movement has ended",
			"data stream %s: what a repair or a redrive brings goes through its default pipeline %s, as all updates do", a.Index, a.DefaultPipeline)
	}
}

// lookFinal refuses the final pipeline of an index that is there: documents that are sent to it go through it.
func (l *looking) lookFinal(ctx context.Context, i int) error {
	index := &l.Indices[i]
	if !index.There || index.Stream != "" || l.req.Yes {
		return nil
	}
	for _, name := range l.Plan.Indices[i].Targets() {
		settings, err := l.side.client.Settings(ctx, name)
		if fault.Is(err, fault.Unauthorised) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Refused) { // the checks of indices and rights report it
			continue
		}
		if err != nil {
			return err
		}
		pipeline, _ := settings["index.final_pipeline"].(string)
		if pipeline == "" || pipeline == "_none" {
			continue
		}
		l.refuse("take it away until the movement has ended: "+l.asks("PUT", name+"/_settings", `{"index.final_pipeline":"_none"}`)+", or accept with --yes what it changes",
			"index %s of the target sends every document through its final pipeline %s, which no request can go past: documents may differ in the comparison", name, pipeline)
	}
	return nil
}

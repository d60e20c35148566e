package migrate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// kindPipeline is the kind of ledger entries of final pipelines that indices are without while they are filled.
// Before is what the index gets afterwards, and keeps: at the end of the movement it is perhaps of another owner.
const kindPipeline = "pipeline"

// finalPipeline is the setting of a pipeline that every document goes through: no request can go past it.
const finalPipeline = "index.final_pipeline"

// noPipeline is the value of such a setting that names none.
const noPipeline = "_none"

// bare takes away what templates of the target have added to an index that the movement has made and that holds
// nothing yet: aliases, which would show it half full, and a final pipeline, which would change the documents.
// What that is, is written down before. The ledger calls the index made only after this, and without that no
// document is sent to it: so a worker that dies here leaves an empty index, with which the next one goes on. What it has sent may come
// late: see quiet and missing.
func (t *turn) bare(ctx context.Context, held *drive.Held[entry, *entry], name string) error {
	there, err := t.target.Glance(ctx, name)
	if err != nil {
		return err
	}
	delete(there.Aliases, t.ways[name])
	if err := t.withoutAliases(ctx, held, name, there.Aliases); err != nil {
		return err
	}
	pipeline, _ := there.Settings[finalPipeline].(string)
	if pipeline == "" || pipeline == noPipeline {
		return nil
	}
	before, err := json.Marshal(map[string]any{finalPipeline: pipeline})
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	if err := t.Driver.Intend(ctx, t.movement.ID, movement.Entry{Kind: kindPipeline, Name: name, Before: before, Keep: true, By: t.Worker}); err != nil {
		return err
	}
	return t.target.PutSettings(ctx, name, map[string]any{finalPipeline: noPipeline})
}

// withoutAliases takes aliases away from an index, and keeps them in its piece.
func (t *turn) withoutAliases(ctx context.Context, held *drive.Held[entry, *entry], name string, aliases map[string]json.RawMessage) error {
	if len(aliases) == 0 {
		return nil
	}
	err := held.Update(func(e entry, _ time.Time) (entry, error) {
		all := maps.Clone(e.Aliases)
		if all == nil {
			all = map[string]map[string]json.RawMessage{}
		}
		kept := maps.Clone(aliases)
		maps.Copy(kept, all[name]) // what an attempt before has seen
		all[name] = kept
		e.Aliases = all
		return e, nil
	})
	if err != nil {
		return err
	}
	var actions []cluster.AliasAction
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		actions = append(actions, cluster.AliasAction{Remove: true, Index: name, Alias: alias})
	}
	if err = t.target.ChangeAliases(ctx, actions); fault.Is(err, fault.Unauthorised) {
		err = fault.WithNext(fault.New(fault.Unauthorised, "%s", err.Error()), "templates of the target give index %s aliases that would show it while it is filled: let these credentials manage %s "+
			"(OpenSearch: indices:admin/aliases; Elasticsearch: the privilege manage), or take them out of the templates, then reshelve movement resume or redrive", name, strings.Join(slices.Sorted(maps.Keys(aliases)), ", "))
	}
	return err
}

// takenAway are the aliases that bare has taken away, by index of the target.
func (t *turn) takenAway(ctx context.Context) (map[string]map[string]json.RawMessage, error) {
	entries, err := drive.Pieces[entry](ctx, t.Driver, t.key("index", ""))
	all := map[string]map[string]json.RawMessage{}
	for _, e := range entries {
		maps.Copy(all, e.Aliases)
	}
	return all, err
}

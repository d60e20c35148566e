package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// Requests that take away what templates have added cannot be fenced: a server takes one whenever it comes, also after
// another worker has repeated it and the movement has put on what it took. So nothing is put on before the leases of
// all who made indices have been over for as long as such a request can live, and the end of the movement looks
// whether it is still there. One that comes even later, out of a proxy that held it longer, is noticed by nobody.

// returned are the aliases of templates that the indices have got back, by index.
type returned struct {
	Aliases map[string][]string `json:"aliases"`
}

func returnedOf(actions []cluster.AliasAction, away map[string]map[string]json.RawMessage) returned {
	back := returned{Aliases: map[string][]string{}}
	for _, a := range actions {
		if _, taken := away[a.Index][a.Alias]; taken {
			back.Aliases[a.Index] = append(back.Aliases[a.Index], a.Alias)
		}
	}
	return back
}

// quiet tells whether nothing that has been sent to make indices can be under way any more, as far as leases say.
func (t *turn) quiet(ctx context.Context) (bool, error) {
	entries, err := drive.Pieces[entry](ctx, t.Driver, t.key("index", ""))
	if err != nil {
		return false, err
	}
	now := t.now(ctx)
	for _, e := range entries {
		if !e.Quiet(t.plan.Policy, now) {
			return false, nil
		}
	}
	return true, nil
}

// putOn gives the indices the final pipelines that they were filled without. The ledger keeps them: see missing.
func (t *turn) putOn(ctx context.Context, ledger []movement.Entry) error {
	for i := range ledger {
		if ledger[i].Kind == kindPipeline {
			if _, err := t.restoreSettings(ctx, &ledger[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing says what of that which was put on is not there at the end of the movement. It is not put on again: its owner
// has perhaps taken it off meanwhile.
func (t *turn) missing(ctx context.Context, ledger []movement.Entry) (all []string, err error) {
	for i := range ledger {
		if e := &ledger[i]; e.Kind == kindPipeline {
			there, err := t.target.Glance(ctx, e.Name)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			var before map[string]string
			if err := json.Unmarshal(e.Before, &before); err != nil {
				return nil, fault.New(fault.Corrupt, "the settings of %s are not understood: %w", e.Name, err)
			}
			if now, _ := there.Settings[finalPipeline].(string); now == "" || now == noPipeline {
				all = append(all, fmt.Sprintf("index %s had got its final pipeline %s back and is without it at the end of the movement: unless somebody took it off on purpose, "+
					"a request of the movement came late: put it on again (PUT /%s/_settings {%q:%q})", e.Name, before[finalPipeline], e.Name, finalPipeline, before[finalPipeline]))
			}
		}
	}
	back, err := drive.Read[returned](ctx, t.Driver, t.key("returned"))
	if fault.Is(err, fault.NotFound) {
		return all, nil
	}
	for _, index := range slices.Sorted(maps.Keys(back.Aliases)) {
		if err != nil {
			return nil, err
		}
		var there cluster.IndexInfo
		if there, err = t.target.Glance(ctx, index); fault.Is(err, fault.NotFound) {
			err = nil
			continue
		}
		for _, alias := range back.Aliases[index] {
			if _, has := there.Aliases[alias]; err == nil && !has {
				all = append(all, fmt.Sprintf("index %s had got alias %s of a template back and is without it at the end of the movement: unless somebody took it off on purpose, "+
					"a request of the movement came late: put it on again (PUT /%s/_alias/%s)", index, alias, index, alias))
			}
		}
	}
	slices.Sort(all)
	return all, err
}

// tellMissing puts what is missing into the report of a movement that ends. That the target cannot be asked keeps no movement
// from its end.
func (t *turn) tellMissing(ctx context.Context, reported string, ledger []movement.Entry) error {
	all, err := t.missing(ctx, ledger)
	switch {
	case err != nil && (drive.Passing(err) || ctx.Err() != nil):
		return err
	case err != nil:
		all = append(all, fmt.Sprintf("whether the indices still have the aliases and pipelines of templates was not looked at: %v", err))
	}
	for _, what := range all {
		if err := t.leave(ctx, reported, what); err != nil {
			return err
		}
	}
	return nil
}

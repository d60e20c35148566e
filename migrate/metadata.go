package migrate

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/translate"
)

// Metadata is how the metadata of indices become the target's. The zero value leaves out what
// has no counterpart and refuses several mapping types.
type Metadata struct {
	Types   translate.Types `json:"types,omitempty"`
	Shards  int             `json:"shards,omitempty"` // of each index on the target; 0: as they were
	Streams Streams         `json:"streams,omitempty"`
	// NoAliases leaves the aliases out.
	NoAliases bool `json:"noAliases,omitempty"`
	// ReduceReplicas and ReduceRefresh let indices that are made have no replicas, and no
	// refreshes of their own, until they are filled.
	ReduceReplicas bool `json:"reduceReplicas,omitempty"`
	ReduceRefresh  bool `json:"reduceRefresh,omitempty"`
}

// RuleAliasTaken is the rule of aliases that are left out because the target has an index of
// that name, or an alias of an index that is not of the movement.
const RuleAliasTaken = "alias-taken"

// Translate is what creates an index of the plan on the target, and every change that the
// rules of package translate make to it: what a plan shows. Ours tells which indices of the
// target the movement has made; nil: none. Changes that lose meaning need consent, which is
// for the caller to ask.
func Translate(ctx context.Context, from *snapshot.Snapshot, target *cluster.Client, m Metadata, index Index, ours func(name string) (bool, error)) ([]translate.Body, error) {
	idx, err := from.Index(ctx, index.Source)
	if err != nil {
		return nil, err
	}
	server, err := target.Server(ctx)
	if err != nil {
		return nil, err
	}
	route := translate.Route{From: translate.SnapshotBy(from.Version, idx.Setting), Types: m.Types, Shards: m.Shards,
		To: translate.Server{Product: string(server.Product), Major: server.Version.Major, Minor: server.Version.Minor}}
	source := translate.Index{Name: index.Target, Settings: idx.Setting, Mappings: idx.Mappings, Types: idx.Types}
	if !m.NoAliases {
		if source.Aliases, err = withoutWriteAliases(idx.Aliases); err != nil {
			return nil, err
		}
	}
	bodies, err := route.Index(source)
	if err != nil {
		return nil, err
	}
	for i := range bodies {
		if err := leaveTaken(ctx, target, &bodies[i], ours); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// leaveTaken takes aliases out of a body whose names the target has given away.
func leaveTaken(ctx context.Context, target *cluster.Client, body *translate.Body, ours func(string) (bool, error)) error {
	var parts struct {
		Settings json.RawMessage            `json:"settings,omitempty"`
		Mappings json.RawMessage            `json:"mappings,omitempty"`
		Aliases  map[string]json.RawMessage `json:"aliases"`
	}
	if err := json.Unmarshal(body.JSON, &parts); err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	var taken []string
	for name := range parts.Aliases {
		is, err := takenAlias(ctx, target, name, ours)
		if err != nil {
			return err
		}
		if is {
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	slices.Sort(taken)
	for _, name := range taken {
		delete(parts.Aliases, name)
		body.Changes = append(body.Changes, translate.Change{Rule: RuleAliasTaken, Where: "aliases." + name, What: "left out: the target has something of that name"})
	}
	var err error
	body.JSON, err = json.Marshal(parts)
	return fault.Wrap(fault.Bug, err)
}

// takenAlias tells whether a name is that of an index of the target, or of an alias that
// leads to one which is not ours.
func takenAlias(ctx context.Context, target *cluster.Client, name string, ours func(string) (bool, error)) (bool, error) {
	answer, err := target.Do(ctx, http.MethodGet, []string{name}, nil, nil)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var indices map[string]json.RawMessage
	if err := json.Unmarshal(answer, &indices); err != nil {
		return false, fault.New(fault.Corrupt, "the target's answer about %s is not understood: %w", name, err)
	}
	if _, is := indices[name]; is || ours == nil {
		return true, nil
	}
	for index := range indices {
		if made, err := ours(index); err != nil || !made {
			return true, err
		}
	}
	return false, nil
}

// indexBodies are the requests that make an index on the target: one, or one for each mapping
// type. Aliases come when everything was compared.
func (t *turn) indexBodies(ctx context.Context, index Index) ([]translate.Body, error) {
	bare := t.plan.Metadata
	bare.NoAliases = true
	return Translate(ctx, t.snapshot, t.target, bare, index, nil)
}

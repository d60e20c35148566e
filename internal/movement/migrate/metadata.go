package migrate

import (
	"context"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
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
	// Set and Mappings are asked for in the place of what the snapshot has, of indices that are made.
	Set      []Setting `json:"set,omitempty"`
	Mappings []Mapping `json:"mappings,omitempty"`
}

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
		if index.Stream == nil { // what backs a stream is made by a template
			if err := m.override(&bodies[i]); err != nil {
				return nil, err
			}
		}
		if err := fitAliases(ctx, target, &bodies[i], ours); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// indexBodies are the requests that make an index on the target: one, or one for each mapping
// type. Aliases come when everything was compared.
func (t *turn) indexBodies(ctx context.Context, index Index) ([]translate.Body, error) {
	bare := t.plan.Metadata
	bare.NoAliases = true
	return Translate(ctx, t.snapshot, t.target, bare, index, nil)
}

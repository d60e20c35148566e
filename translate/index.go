package translate

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/fault"
)

// private are settings that a server writes for itself and never takes.
var private = []string{"index.uuid", "index.creation_date", "index.provided_name", "index.version.", "index.resize.", "index.routing.allocation.initial_recovery.",
	"index.shrink.", "index.history.", "index.replication.type", "index.remote_store.", "index.verified_before_close", "index.blocks.", "index.frozen", "index.store.snapshot."}

// kept are the settings that the first version of the lane passes on.
var kept = []string{"index.number_of_shards", "index.number_of_replicas", "index.refresh_interval", "index.analysis.", "index.mapping.", "index.max_result_window", "index.sort.", "index.similarity.", "index.codec", "index.routing_partition_size", "index.number_of_routing_shards", "index.max_ngram_diff", "index.max_shingle_diff"}

// Index is the request that makes the index on the target.
func (r Route) Index(i Index) (Body, error) {
	b := Body{Name: i.Name}
	settings := map[string]string{}
	for name, value := range i.Settings {
		switch {
		case startsWith(name, private):
		case startsWith(name, kept):
			settings[name] = value
		default:
			b.Changes = append(b.Changes, Change{Rule: "setting-left-out", Where: "settings." + name, What: "the target decides: " + value})
		}
	}
	mappings, err := r.mappings(i)
	if err != nil {
		return b, err
	}
	slices.SortFunc(b.Changes, func(x, y Change) int { return strings.Compare(x.Where, y.Where) })
	b.JSON, err = json.Marshal(struct {
		Settings map[string]string `json:"settings"`
		Mappings json.RawMessage   `json:"mappings,omitempty"`
		Aliases  json.RawMessage   `json:"aliases,omitempty"`
	}{settings, mappings, i.Aliases})
	return b, err
}

func startsWith(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return name == p || strings.HasSuffix(p, ".") && strings.HasPrefix(name, p) })
}

// mappings is the mapping without types.
func (r Route) mappings(i Index) (json.RawMessage, error) {
	if i.Types == nil || len(i.Mappings) == 0 {
		return i.Mappings, nil
	}
	var types map[string]json.RawMessage
	if err := json.Unmarshal(i.Mappings, &types); err != nil {
		return nil, fault.New(fault.Corrupt, "the mappings of %s are not understood: %w", i.Name, err)
	}
	delete(types, "_default_")
	if len(types) > 1 {
		return nil, fault.New(fault.Refused, "the index %s has %d mapping types", i.Name, len(types))
	}
	for _, mapping := range types {
		return mapping, nil
	}
	return nil, nil
}

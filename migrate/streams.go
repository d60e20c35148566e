package migrate

import (
	"encoding/json"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Backing are the names of the indices that hold the data streams of a snapshot.
func Backing(g *snapshot.Global) (map[string]bool, error) {
	var streams map[string]struct {
		Indices []struct {
			Name string `json:"index_name"`
		} `json:"indices"`
	}
	if len(g.DataStreams) > 0 {
		if err := json.Unmarshal(g.DataStreams, &streams); err != nil {
			return nil, fault.New(fault.Corrupt, "the data streams of the snapshot are not understood: %w", err)
		}
	}
	backing := map[string]bool{}
	for _, s := range streams {
		for _, index := range s.Indices {
			backing[index.Name] = true
		}
	}
	return backing, nil
}

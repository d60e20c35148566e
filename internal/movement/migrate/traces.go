package migrate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Traces are the indices that a movement with a damaged record or plan writes to: those that its ledger and the
// records of its indices name, which are stored before anything is sent.
func Traces(ctx context.Context, d *drive.Driver, id string) ([]string, error) {
	entries, _, err := d.ReadLedger(ctx, id)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		if e.Kind == kindIndex || e.Kind == kindStream {
			names[e.Name] = true
		}
	}
	pieces, err := d.Store().List(ctx, work.Prefix(id)+"index/")
	if err != nil {
		return nil, err
	}
	for _, piece := range pieces {
		var e entry
		if json.Unmarshal(piece.Value, &e) != nil || e.Target == "" {
			continue // the movement that they are of is damaged anyway
		}
		for _, name := range e.Targets() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

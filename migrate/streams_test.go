package migrate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/snapshot"
)

func TestBackingIndices(t *testing.T) {
	r := newRig(t, streams, "only")
	global, err := r.from.Global(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	backing, err := migrate.Backing(global)
	if err != nil || len(backing) != 2 || !backing[".ds-loans-2024-000001"] || !backing[".ds-loans-2024-000002"] {
		t.Errorf("%v, %v", backing, err)
	}
	if none, err := migrate.Backing(&snapshot.Global{}); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := migrate.Backing(&snapshot.Global{DataStreams: json.RawMessage(`[]`)}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("no object: %v", err)
	}
}

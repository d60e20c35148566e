package snapshot_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/snapshot"
)

// TestVectorsLeftOut: on files of a real server that leaves vectors out of the stored sources, an index says so, and
// names the fields, exactly where the server has left something out.
func TestVectorsLeftOut(t *testing.T) {
	r := repository{name: "vectors", dir: "../testdata/repositories/elasticsearch-9.2.0-vectors"}
	repo, err := snapshot.Open(t.Context(), r.bucket(t))
	if err != nil {
		t.Fatal(err)
	}
	snap, err := repo.Find(t.Context(), "only")
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]string{"dense": `"dense":[`, "sparse": `"sparse":{"a"`, "object.sparse": `"sparse":{"c"`, "nested.sparse": `"sparse":{"d"`}
	for _, name := range snap.Indices {
		index, err := snap.Index(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		why, filtered := index.SourceFiltered()
		stored := *r.answers(t, "only", name)["0//1"].Source
		lacks := false
		for field, member := range members {
			left := !strings.Contains(stored, member)
			lacks = lacks || left
			if named := strings.Contains(why, " "+field+" ("); named != left {
				t.Errorf("%s: field %s left out: %v; %q", name, field, left, why)
			}
		}
		if filtered != lacks {
			t.Errorf("%s: filtered %v, the server's source is %s", name, filtered, stored)
		}
	}
}

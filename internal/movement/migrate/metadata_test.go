package migrate_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestAliasesThatAreTaken: an alias goes along where its name is free or leads to what the
// movement made, and is left out, and told, where the target has something else of that name.
func TestAliasesThatAreTaken(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, coord.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := httptest.NewServer(gateway.New(s, gateway.Options{}))
	defer server.Close()
	target, err := cluster.New(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.Open(ctx, "../../../testdata/repositories/elasticsearch-1.7.6-history/repo", map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		t.Fatal(err)
	}
	repository, err := snapshot.Open(ctx, bucket)
	if err != nil {
		t.Fatal(err)
	}
	from, err := repository.Find(ctx, "two")
	if err != nil {
		t.Fatal(err)
	}
	ours := func(name string) (bool, error) { return name == "mine", nil }
	for _, c := range []struct {
		name, index, body string
		kept              bool
	}{
		{"free", "", "", true},
		{"of an index that the movement made", "mine", `{"aliases":{"books":{}}}`, true},
		{"of another index", "theirs", `{"aliases":{"books":{}}}`, true},
		{"an index's own name", "books", `{}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.index != "" {
				if _, err := target.Do(ctx, http.MethodPut, []string{c.index}, nil, []byte(c.body)); err != nil {
					t.Fatal(err)
				}
				defer target.Do(ctx, http.MethodDelete, []string{c.index}, nil, nil)
			}
			bodies, err := migrate.Translate(ctx, from, target, migrate.Metadata{}, migrate.Index{Source: "ledger", Target: "ledger"}, ours)
			if err != nil || len(bodies) != 1 {
				t.Fatalf("%d bodies, %v", len(bodies), err)
			}
			var body struct{ Aliases map[string]json.RawMessage }
			if err := json.Unmarshal(bodies[0].JSON, &body); err != nil {
				t.Fatal(err)
			}
			told := false
			for _, change := range bodies[0].Changes {
				told = told || change.Rule == migrate.RuleAliasTaken && change.Where == "aliases.books"
			}
			if _, kept := body.Aliases["books"]; kept != c.kept || told == kept {
				t.Errorf("kept %v, told %v: %s", kept, told, bodies[0].JSON)
			}
		})
	}
}

package translate_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

var update = flag.Bool("update", false, "write the golden files anew")

// targets are those that every repository is translated for.
var targets = map[string]translate.Server{
	"opensearch-2.19.0": {Product: "opensearch", Major: 2, Minor: 19}, "opensearch-3.6.0": {Product: "opensearch", Major: 3, Minor: 6},
	"elasticsearch-7.17.29": {Product: "elasticsearch", Major: 7, Minor: 17}, "elasticsearch-8.19.0": {Product: "elasticsearch", Major: 8, Minor: 19},
	"reshelve": {Product: "reshelve", Major: 2, Minor: 19},
}

// real is the metadata of one index of a real repository.
type real struct {
	place string // "REPOSITORY/INDEX"
	from  translate.Server
	index translate.Index
}

// metadata are the indices of the real repositories, the last snapshot's of each that holds
// them, in order. Repositories that are not whole on purpose are read as far as they go.
func metadata(t testing.TB, patterns ...string) (all []real, globals map[string]*snapshot.Global, versions map[string]translate.Server) {
	t.Helper()
	globals, versions = map[string]*snapshot.Global{}, map[string]translate.Server{}
	ctx := context.Background()
	for _, pattern := range patterns {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			root := dir
			if _, err := os.Stat(dir + "/repo"); err == nil {
				root += "/repo"
			}
			bucket, err := blob.Open(ctx, root, map[string]blob.Opener{"file": folder.Open})
			if err != nil {
				t.Fatal(err)
			}
			repository, err := snapshot.Open(ctx, bucket)
			if err != nil {
				continue // no repository
			}
			snapshots, _ := repository.All(ctx)
			indices := map[string]real{}
			for _, s := range snapshots {
				for _, name := range s.Indices {
					idx, err := s.Index(ctx, name)
					if err != nil {
						continue
					}
					from := translate.SnapshotBy(s.Version, idx.Setting)
					indices[name] = real{filepath.Base(dir) + "/" + name, from,
						translate.Index{Name: name, Settings: idx.Setting, Mappings: idx.Mappings, Types: idx.Types, Aliases: idx.Aliases}}
					versions[filepath.Base(dir)] = from
				}
				if global, err := s.Global(ctx); err == nil {
					globals[filepath.Base(dir)] = global
				}
			}
			for _, name := range slices.Sorted(maps.Keys(indices)) {
				all = append(all, indices[name])
			}
		}
	}
	return all, globals, versions
}

const committed = "../../../../testdata/repositories/*"

// TestRepositories: what each rule does to the metadata of real repositories, for each target.
func TestRepositories(t *testing.T) {
	indices, _, _ := metadata(t, committed)
	if len(indices) < 100 {
		t.Fatalf("only %d indices were found", len(indices))
	}
	for name, to := range targets {
		t.Run(name, func(t *testing.T) {
			lines := map[string]int{}
			for _, r := range indices {
				repository, _, _ := strings.Cut(r.place, "/")
				bodies, err := translate.Route{From: r.from, To: to, Types: translate.SplitTypes}.Index(r.index)
				if err != nil {
					t.Errorf("%s: %v", r.place, err)
				}
				for _, body := range bodies {
					if !json.Valid(body.JSON) {
						t.Errorf("%s: no JSON: %s", r.place, body.JSON)
					}
					for _, c := range body.Changes {
						mark := ""
						if c.Loses {
							mark = " !"
						}
						lines[fmt.Sprintf("%s: %s%s %s", repository, c.Rule, mark, c.Where)]++
					}
				}
			}
			var b strings.Builder
			for _, line := range slices.Sorted(maps.Keys(lines)) {
				fmt.Fprintf(&b, "%s × %d\n", line, lines[line])
			}
			golden(t, "testdata/repositories-"+name+".txt", b.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; -update writes it anew:\n%s", file, got)
	}
}

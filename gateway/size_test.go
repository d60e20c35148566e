package gateway

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/control"
	coord "github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/shard/embedded"
	"github.com/reshelve/reshelve/store"
)

// TestSizesAreThoseOfTheDisk compares what _stats, _cat/indices and _cat/shards say with the
// files of a data folder: one index has documents that compress to nothing, one such that do
// not, and neither is told as large as its documents are.
func TestSizesAreThoseOfTheDisk(t *testing.T) {
	dir, names := t.TempDir(), coord.New()
	var server *Server
	open := func() (closed func()) {
		e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), names, e, store.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		server = New(control.NewStore(s), Options{})
		return func() { _, _ = s.Close(), e.Close() }
	}
	closed := open()
	const docs, long = 3000, 1000
	random := rand.New(rand.NewPCG(1, 2))
	for name, text := range map[string]func() string{
		"same":   func() string { return strings.Repeat("same ", long/5) },
		"random": func() string { return hexes(random, long) },
	} {
		askOurs(server, sent{"PUT", "/" + name, applicationJSON, `{"settings":{"number_of_shards":3,"number_of_replicas":0},"mappings":{"dynamic":false}}`})
		var bulk strings.Builder
		for range docs {
			fmt.Fprintf(&bulk, "{\"index\":{}}\n{\"t\":\"%s\"}\n", text())
		}
		askOurs(server, sent{"POST", "/" + name + "/_bulk?refresh=true", applicationJSON, bulk.String()})
		closed() // writes out what is in the log and in memory, so each index has files of its own
		closed = open()
	}
	defer func() { closed() }()

	sizes, sum := statedSizes(t, server)
	truth, segments := onDisk(t, filepath.Join(dir, "truth")), onDisk(t, filepath.Join(dir, "segments"))
	if whole := truth + segments; sum < whole*9/10-32<<10 || sum > whole*11/10+32<<10 {
		t.Errorf("the indices are told with %d bytes, and have %d of rows and %d of segments on disk: %v", sum, truth, segments, sizes)
	}
	if same := sizes["same"]; same <= 0 || same > docs*long/4 {
		t.Errorf("documents of %d bytes that are all the same take %d", docs*long, same)
	}
	if other := sizes["random"]; other < docs*long/2 {
		t.Errorf("documents of %d random digits take %d", docs*long, other)
	}
	askOurs(server, sent{"DELETE", "/random", "", ""})
	if left, _ := statedSizes(t, server); len(left) != 1 || left["same"] <= 0 || left["same"] > 2*sizes["same"] {
		t.Errorf("after a deletion: %v", left)
	}
}

// hexes are n random digits.
func hexes(random *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", random.Uint64())
	}
	return b.String()
}

// statedSizes are the sizes by index, and their sum, after all places where they are told
// have been compared.
func statedSizes(t *testing.T, server *Server) (by map[string]int64, sum int64) {
	t.Helper()
	read := func(path string, into any) {
		t.Helper()
		if err := json.NewDecoder(askOurs(server, sent{"GET", path, "", ""}).Body).Decode(into); err != nil {
			t.Fatal(path, err)
		}
	}
	var stats struct {
		Indices map[string]struct {
			Total struct {
				Store struct {
					Size int64 `json:"size_in_bytes"`
				}
			}
		}
	}
	var rows, shards []struct {
		Index string
		Size  int64 `json:"store.size,string"`
		Store int64 `json:"store,string"`
	}
	read("/_stats", &stats)
	read("/_cat/indices?format=json&bytes=b", &rows)
	read("/_cat/shards?format=json&bytes=b", &shards)
	by = map[string]int64{}
	for name, s := range stats.Indices {
		by[name] = s.Total.Store.Size
		sum += by[name]
	}
	of := map[string]int64{}
	for _, s := range shards {
		of[s.Index] += s.Store
	}
	for _, row := range rows {
		if row.Size != by[row.Index] || of[row.Index] != by[row.Index] {
			t.Errorf("%s: _stats says %d, _cat/indices %d, the shards %d", row.Index, by[row.Index], row.Size, of[row.Index])
		}
	}
	return by, sum
}

// onDisk is how many bytes the tables, the values and the segments below a folder have.
func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".sst", ".blob", ".seg":
			info, err := entry.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

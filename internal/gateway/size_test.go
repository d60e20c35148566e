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
	"time"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestSizesAreThoseOfTheDisk compares what _stats, _cat/indices and _cat/shards say with the
// files of a data folder: one index has documents that compress to nothing, one such that do
// not, and neither is told as large as its documents are.
func TestSizesAreThoseOfTheDisk(t *testing.T) {
	dir, names := t.TempDir(), coord.New()
	server, closed := openFolder(t, dir, names)
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
		server, closed = openFolder(t, dir, names)
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
	// Where both have come into one table, that is rewritten within some seconds.
	left, begun := map[string]int64{}, time.Now()
	for ok := false; !ok && time.Since(begun) < 10*time.Second; time.Sleep(100 * time.Millisecond) {
		left, _ = catSizes(t, server)
		ok = len(left) == 1 && left["same"] > 0 && left["same"] <= 2*sizes["same"]
	}
	if len(left) != 1 || left["same"] <= 0 || left["same"] > 2*sizes["same"] {
		t.Errorf("after a deletion: %v", left)
	}
}

// openFolder serves a data folder, and closes it again.
func openFolder(t *testing.T, dir string, names *coord.Store) (server *Server, closed func()) {
	t.Helper()
	e, err := embedded.Open(t.Context(), dir, embedded.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), names, e, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return New(s, Options{}), func() { _, _ = s.Close(), e.Close() }
}

// TestSizesBesideDeletedIndices: small indices, which share files, are shown as large as before when
// those beside them are deleted, also where the store is closed right after that.
func TestSizesBesideDeletedIndices(t *testing.T) {
	t.Run("goes on", func(t *testing.T) { sizesBesideDeleted(t, false) })
	t.Run("closed and opened", func(t *testing.T) { sizesBesideDeleted(t, true) })
}

func sizesBesideDeleted(t *testing.T, again bool) {
	dir, names := t.TempDir(), coord.New()
	server, closed := openFolder(t, dir, names)
	const indices, docs = 40, 60
	random := rand.New(rand.NewPCG(3, 4))
	for i := range indices {
		name := fmt.Sprintf("i%02d", i)
		askOurs(server, sent{"PUT", "/" + name, applicationJSON, `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"dynamic":false}}`})
		var bulk strings.Builder
		for range docs {
			fmt.Fprintf(&bulk, "{\"index\":{}}\n{\"t\":\"%s\"}\n", hexes(random, 1000))
		}
		askOurs(server, sent{"POST", "/" + name + "/_bulk", applicationJSON, bulk.String()})
	}
	closed()
	server, closed = openFolder(t, dir, names)
	defer func() { closed() }()
	before, all := catSizes(t, server)
	for i := 0; i < indices; i += 2 {
		askOurs(server, sent{"DELETE", fmt.Sprintf("/i%02d", i), "", ""})
	}
	if again {
		closed()
		server, closed = openFolder(t, dir, names)
	}
	// What they shared with others is rewritten within some seconds.
	wrong := "nothing"
	for begun := time.Now(); wrong != "" && time.Since(begun) < 15*time.Second; time.Sleep(100 * time.Millisecond) {
		left, sum := catSizes(t, server)
		wrong = ""
		if len(left) != indices/2 || sum > all*3/4 {
			wrong = fmt.Sprintf("%d indices are told with %d bytes, where %d were with %d", len(left), sum, indices, all)
		}
		for name, size := range left {
			if size > 2*before[name] || size < docs*1000/4 {
				wrong = fmt.Sprintf("%s is told with %d bytes, and with %d before", name, size, before[name])
			}
		}
	}
	if wrong != "" {
		t.Error(wrong)
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
	readAs(t, server, "/_stats", &stats)
	readAs(t, server, "/_cat/indices?format=json&bytes=b", &rows)
	readAs(t, server, "/_cat/shards?format=json&bytes=b", &shards)
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

// catSizes are those of _cat/indices: while files are merged, what is read in two places may differ.
func catSizes(t *testing.T, server *Server) (by map[string]int64, sum int64) {
	t.Helper()
	var rows []struct {
		Index string
		Size  int64 `json:"store.size,string"`
	}
	readAs(t, server, "/_cat/indices?format=json&bytes=b", &rows)
	by = map[string]int64{}
	for _, row := range rows {
		by[row.Index] = row.Size
		sum += row.Size
	}
	return by, sum
}

func readAs(t *testing.T, server *Server, path string, into any) {
	t.Helper()
	if err := json.NewDecoder(askOurs(server, sent{"GET", path, "", ""}).Body).Decode(into); err != nil {
		t.Fatal(path, err)
	}
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

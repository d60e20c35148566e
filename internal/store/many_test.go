package store_test

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// openMany is a store on a disk, with so many indices.
func openMany(t testing.TB, n int) *store.Store {
	t.Helper()
	return openOn(t, embedded.Options{Memory: 64 << 20}, n)
}

func openOn(t testing.TB, o embedded.Options, n int) *store.Store {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	o.Logger = logger
	e, err := embedded.Open(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := local.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), c, e, store.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		_, _ = e.Close(), c.Close()
	})
	if _, err := s.PutClusterSettings(t.Context(), []byte(`{"transient":{"cluster.max_shards_per_node":"100000"}}`)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		makeOne(t, s, fmt.Sprintf("many-%d", i))
	}
	return s
}

func makeOne(t testing.TB, s *store.Store, name string) {
	t.Helper()
	if _, err := s.CreateIndex(t.Context(), name, []byte(`{"settings":{"number_of_replicas":0},"mappings":{"properties":{"a":{"type":"keyword"}}}}`)); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, s *store.Store, names ...string) {
	t.Helper()
	if err := s.DeleteIndices(t.Context(), catalog.Expression{Names: names, Options: catalog.Options{ExpandOpen: true}}); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkManyIndices is what one more index costs, beside so many.
//
//	go test ./internal/store -run XXX -bench ManyIndices -benchtime 200x
func BenchmarkManyIndices(b *testing.B) {
	for _, n := range []int{100, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := openMany(b, n)
			b.ResetTimer()
			var making, removing, all time.Duration
			for i := range b.N {
				name, begun := fmt.Sprintf("more-%d", i), time.Now()
				makeOne(b, s, name)
				made := time.Now()
				remove(b, s, name)
				making, removing = making+made.Sub(begun), removing+time.Since(made)
			}
			begun := time.Now()
			remove(b, s, "many-*")
			all = time.Since(begun)
			b.ReportMetric(float64(making.Microseconds())/float64(b.N)/1e3, "create-ms")
			b.ReportMetric(float64(removing.Microseconds())/float64(b.N)/1e3, "delete-ms")
			b.ReportMetric(float64(all.Microseconds())/float64(n)/1e3, "delete-all-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestCostOfAnIndexAmongMany: making and removing an index costs what the change costs, however many
// there are: the work that grows with them is copying, and takes no allocation for each.
func TestCostOfAnIndexAmongMany(t *testing.T) {
	const few, many, more = 50, 450, 10
	s := openMany(t, few)
	once := func() (made, removed uint64) {
		names := make([]string, more)
		for i := range names {
			names[i] = fmt.Sprintf("more-%d", i)
		}
		before := mallocs()
		for _, name := range names {
			makeOne(t, s, name)
		}
		then := mallocs()
		for _, name := range names {
			remove(t, s, name)
		}
		return (then - before) / more, (mallocs() - then) / more
	}
	cost := func() (made, removed uint64) { // the least of some, since work behind the scenes is counted too
		made, removed = once()
		for range 4 {
			m, r := once()
			made, removed = min(made, m), min(removed, r)
		}
		return made, removed
	}
	madeFew, removedFew := cost()
	for i := range many - few {
		makeOne(t, s, fmt.Sprintf("many-%d", few+i))
	}
	made, removed := cost()
	t.Logf("allocations of an index beside %d: %d to make it, %d to remove it; beside %d: %d, %d", few, madeFew, removedFew, many, made, removed)
	if made > madeFew+many || removed > removedFew+many {
		t.Errorf("an index beside %d costs %d and %d allocations, beside %d only %d and %d", many, made, removed, few, madeFew, removedFew)
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestManyIndicesGoTogether: a request that deletes many indices is one change of names, and what
// they leave is removed with few syncs, be there documents in them or not.
func TestManyIndicesGoTogether(t *testing.T) {
	const n = 200
	fs := &syncs{FS: vfs.Default}
	s := openOn(t, embedded.Options{FS: fs}, 0)
	makeOne(t, s, "stays")
	least := int64(math.MaxInt64)
	for range 5 { // on a busy machine, what was written before is synced meanwhile, and counted too
		for i := range n {
			makeOne(t, s, fmt.Sprintf("many-%d", i))
			if i%2 == 0 {
				write := document.Write{Operation: document.Index, Target: fmt.Sprintf("many-%d", i), ID: "1", Source: []byte(`{"a":"b"}`), Condition: document.Always}
				if w := s.Write(t.Context(), []document.Write{write}, document.AtOnce); w[0].Err != nil {
					t.Fatal(w[0].Err)
				}
			}
		}
		before := fs.count.Load()
		remove(t, s, "many-*")
		least = min(least, fs.count.Load()-before)
		if indices, docs := s.Holds(); indices != 1 || docs != 0 {
			t.Errorf("%d indices and %d documents are left", indices, docs)
		}
		if least <= n/2 {
			return
		}
	}
	t.Errorf("%d syncs for %d indices", least, n)
}

// syncs counts them.
type syncs struct {
	vfs.FS
	count atomic.Int64
}

func (s *syncs) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, category)
	return &syncing{f, s}, err
}

func (s *syncs) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(from, to, category)
	return &syncing{f, s}, err
}

func (s *syncs) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	return &syncing{f, s}, err
}

type syncing struct {
	vfs.File
	of *syncs
}

func (f *syncing) Sync() error     { f.of.count.Add(1); return f.File.Sync() }
func (f *syncing) SyncData() error { f.of.count.Add(1); return f.File.SyncData() }

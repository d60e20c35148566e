package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/coord/local"
)

// end holds a play to the laws when its movement has ended: what was acknowledged is there, each
// order key has one owner, and nothing is left of the movement, not even after one more life.
func (st *stage) end() {
	st.t.Helper()
	st.stop()
	st.lax.Store(false)
	st.whole()
	stop(st.t, st.p)
	files := segments(st.t, st.dir)
	st.live()
	st.whole()
	if again := segments(st.t, st.dir); !slices.Equal(files, again) {
		st.t.Errorf("segment files that are in no use were left: %v, and a start leaves %v", files, again)
	}
	stop(st.t, st.p)
	st.nothingLeft()
}

// whole holds the index to what its owners know, and its shards to what the end of the movement
// says.
func (st *stage) whole() {
	st.t.Helper()
	exact(st.t, st.talk, *st.url.Load(), st.owners)
	shards := st.shards
	if st.ended == "finished" {
		shards = st.after
	}
	var placed struct {
		Shards []struct {
			Shard           uint32
			From, To, State string
		}
		Coming   []json.RawMessage
		Movement string
	}
	if err := json.Unmarshal(ask(st.t, st.talk, 200, "GET", *st.url.Load()+"/_reshelve/placement/shelf", ""), &placed); err != nil {
		st.t.Fatal(err)
	}
	if len(placed.Shards) != shards || placed.Movement != "" || len(placed.Coming) > 0 {
		st.t.Errorf("after a movement that is %q there should be %d shards: %+v", st.ended, shards, placed)
	}
	next := uint64(0)
	for i, s := range placed.Shards {
		var from, to uint64
		_, err := fmt.Sscanf(s.From+" "+s.To, "%x %x", &from, &to)
		if last := i == len(placed.Shards)-1; err != nil || from != next || to < from || last != (to == 1<<64-1) || s.State != "OPEN" {
			st.t.Errorf("order keys have no owner, or two: %+v", placed.Shards)
		}
		next = to + 1
	}
	if st.id == "" {
		return
	}
	var told struct{ Ledger []json.RawMessage }
	if err := json.Unmarshal(ask(st.t, st.talk, 200, "GET", *st.url.Load()+"/_reshelve/movements/"+st.id, ""), &told); err != nil || len(told.Ledger) > 0 {
		st.t.Errorf("its ledger: %s %v", told.Ledger, err)
	}
}

// segments are the segment files of a data folder.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "segments", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i], _ = filepath.Rel(dir, names[i])
	}
	return names
}

// nothingLeft looks at what is stored, while nobody has it open: no record of the movement's work,
// nothing that is staged, and nothing of shards that are not there.
func (st *stage) nothingLeft() {
	t := st.t
	t.Helper()
	records, err := local.Open(t.Context(), st.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	all, err := records.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if strings.HasPrefix(r.Key, "movement/") || strings.HasPrefix(r.Key, "closing/") {
			t.Errorf("a record is left: %s %s", r.Key, r.Value)
		}
	}
	st.nothingStaged()
}

// nothingStaged reads keys as shard/embedded/FORMAT.md tells.
func (st *stage) nothingStaged() {
	t := st.t
	t.Helper()
	order := *pebble.DefaultComparer
	order.Name = "reshelve.embedded.1"
	order.Split = func(key []byte) int {
		if n := len(key); n > 0 && int(key[n-1]) <= n {
			return n - int(key[n-1])
		}
		return len(key)
	}
	order.Compare = func(a, b []byte) int {
		n, m := order.Split(a), order.Split(b)
		if c := bytes.Compare(a[:n], b[:m]); c != 0 {
			return c
		}
		return bytes.Compare(a[n:], b[m:])
	}
	order.ComparePointSuffixes, order.CompareRangeSuffixes = bytes.Compare, bytes.Compare
	db, err := pebble.Open(filepath.Join(st.dir, "truth"), &pebble.Options{ReadOnly: true, Comparer: &order, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	shards, keys := map[string]bool{}, 0
	for ok := it.First(); ok; ok = it.Next() {
		keys++
		switch key := it.Key(); key[0] {
		case 'p', 'h':
			t.Errorf("this key is left: %q", key)
		case 's', 'm', 'c':
			shards[string(key[1:9])] = true
		}
	}
	want := st.shards
	if st.ended == "finished" {
		want = st.after
	}
	if it.Error() != nil || keys < keptDocs || len(shards) != want {
		t.Errorf("%d keys are of %d shards, there are %d: %v", keys, len(shards), want, it.Error())
	}
}

// silent is a logger of Pebble.
type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

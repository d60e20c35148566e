package shardtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var scans = []test{
	{"rows come by order key, then by id", scanOrder},
	{"a range holds its edges, and nothing else", scanRange},
	{"a page goes on behind any row", scanPages},
	{"tombstones and sources, as asked", scanTombstones},
	{"a reader does not change", readerStays},
	{"a reader answers gets", readerGets},
	{"many gets in any order are gets", readerRows},
	{"a reader outlives the epoch of its acquisition", readerAndEpoch},
	{"a cancelled scan says so", cancelledScan},
	{"a scan may end at any row", endedScan},
}

// scatter writes documents under a few keys, the ids of a key in no order, and
// gives their refs in the order of scans.
func (k *talk) scatter() (refs []shard.Ref) {
	k.Helper()
	keys := []routing.Key{0, 1, 255, 256, 1 << 32, 1<<63 - 1, 1 << 63, routing.MaxKey - 1, routing.MaxKey}
	ids := []string{"b", "a\x00", "\xff", "a", "\x00", "ab", "🦊"}
	for i := range len(keys) * len(ids) {
		r := shard.Ref{Key: keys[i*5%len(keys)], ID: ids[i*3%len(ids)]}
		k.write(at(r.Key, r.ID))
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b shard.Ref) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	k.refresh()
	return refs
}

func refsOf(rows []shard.Row) (refs []shard.Ref) {
	for _, row := range rows {
		refs = append(refs, row.Ref)
	}
	return refs
}

func scanOrder(t *testing.T, c Case) {
	k := begin(t, c)
	refs := k.scatter()
	r := k.acquire()
	defer r.Close()
	if shown := refsOf(k.scan(r, everything)); !slices.Equal(shown, refs) {
		t.Fatalf("shown %v, expected %v", shown, refs)
	}
}

func scanRange(t *testing.T, c Case) {
	k := begin(t, c)
	refs := k.scatter()
	r := k.acquire()
	defer r.Close()
	for _, within := range []routing.Range{
		{From: 0, To: 0}, {From: 1, To: 1}, {From: 2, To: 254}, {From: 1, To: 256}, {From: 255, To: 1 << 40},
		{From: 1 << 63, To: routing.MaxKey}, {From: routing.MaxKey, To: routing.MaxKey}, {From: 0, To: 1<<63 - 1}, routing.Whole,
		{From: 5, To: 4},
	} {
		expected := slices.DeleteFunc(slices.Clone(refs), func(ref shard.Ref) bool { return !within.Contains(ref.Key) })
		if shown := refsOf(k.scan(r, shard.Select{Range: within})); !slices.Equal(shown, expected) {
			t.Errorf("in %v: %v, expected %v", within, shown, expected)
		}
	}
}

func scanPages(t *testing.T, c Case) {
	k := begin(t, c)
	refs := k.scatter()
	r := k.acquire()
	defer r.Close()
	for i, after := range refs {
		if shown := refsOf(k.scan(r, shard.Select{Range: routing.Whole, After: &after})); !slices.Equal(shown, refs[i+1:]) {
			t.Fatalf("behind %v: %v, expected %v", after, shown, refs[i+1:])
		}
	}
	// Behind a place where nothing is, and behind places outside of the range.
	of := func(key routing.Key) (n int) {
		for _, ref := range refs {
			if ref.Key == key {
				n++
			}
		}
		return n
	}
	for _, page := range []struct {
		after shard.Ref
		n     int
	}{{shard.Ref{Key: 255, ID: "zz"}, 2}, {shard.Ref{Key: 200}, of(255)}, {shard.Ref{Key: 0, ID: "a"}, of(255)},
		{shard.Ref{Key: 255}, of(255)}, {shard.Ref{Key: 256}, 0}, {shard.Ref{Key: 256, ID: "a"}, 0}} {
		shown := k.scan(r, shard.Select{Range: routing.Range{From: 255, To: 255}, After: &page.after})
		if len(shown) != page.n {
			t.Errorf("behind %v: %v, expected %d", page.after, refsOf(shown), page.n)
		}
	}
}

func scanTombstones(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{"a":1}`), indexed("b", `{"b":1}`), deleted("a"), deleted("never"))
	k.refresh()
	r := k.acquire()
	defer r.Close()
	if r.Docs() != 1 {
		t.Fatalf("counted %d", r.Docs())
	}
	if rows := k.scan(r, shard.Select{Range: routing.Whole}); len(rows) != 1 || !same(rows[0], k.expect("b", `{"b":1}`)) {
		t.Fatalf("documents: %v", rows)
	}
	for _, noSource := range []bool{false, true} {
		rows := k.scan(r, shard.Select{Range: routing.Whole, Tombstones: true, NoSource: noSource})
		if len(rows) != 3 {
			t.Fatalf("all: %v", rows)
		}
		for _, row := range rows {
			stored, _ := k.get(row.ID)
			if noSource || stored.Deleted {
				stored.Source = nil
			}
			if !same(row, stored) {
				t.Fatalf("shown %v, stored %v", row, stored)
			}
		}
	}
}

func readerStays(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("changed", `1`), indexed("deleted", `1`), deleted("gone"), indexed("same", `1`))
	k.refresh()
	r := k.acquire()
	defer r.Close()
	was := k.scan(r, everything)
	k.write(indexed("changed", `2`), deleted("deleted"), indexed("gone", `2`), indexed("new", `2`), deleted("other"))
	k.refresh()
	k.must(k.shard.Prune(k.ctx, later(2*time.Hour)))
	next := k.acquire()
	defer next.Close()
	if is := k.scan(r, everything); !slices.EqualFunc(was, is, same) || r.Docs() != 3 || r.SeqNo() != 3 {
		t.Fatalf("the reader showed %v, and now %v", was, is)
	}
	if next.Docs() != 4 || next.SeqNo() != 8 {
		t.Fatalf("the next reader counts %d at %d", next.Docs(), next.SeqNo())
	}
}

func readerGets(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{"a":1}`), deleted("b"))
	k.refresh()
	a, b := k.expect("a", `{"a":1}`), k.gone("b")
	k.write(indexed("a", `{"a":2}`), indexed("b", `{}`), indexed("c", `{}`))
	r := k.acquire()
	defer r.Close()
	bare := a
	bare.Source = nil
	for _, get := range []struct {
		id       string
		noSource bool
		row      shard.Row
		found    bool
	}{{"a", false, a, true}, {"a", true, bare, true}, {"b", false, b, true}, {"b", true, b, true}, {"c", false, shard.Row{}, false}} {
		row, found, err := r.Get(k.ctx, ref(get.id), get.noSource)
		if err != nil || found != get.found || found && !same(row, get.row) {
			t.Errorf("%q: %v %t %v, expected %v %t", get.id, row, found, err, get.row, get.found)
		}
	}
}

func readerRows(t *testing.T, c Case) {
	k := begin(t, c)
	refs := k.scatter()
	k.write(deleted("gone"))
	k.refresh()
	refs = append(refs, ref("gone"), ref("never"))
	r := k.acquire()
	defer r.Close()
	rows := r.Rows()
	defer rows.Close()
	for i := range 3 * len(refs) {
		at := refs[i%len(refs)]
		if i >= len(refs) { // first in their order, then in none
			at = refs[i*31%len(refs)]
		}
		want, known, err := r.Get(k.ctx, at, i%5 == 0)
		k.must(err)
		if row, found, err := rows.Get(k.ctx, at, i%5 == 0); err != nil || found != known || found && !same(row, want) {
			t.Fatalf("%v: %v %t %v, expected %v %t", at, row, found, err, want, known)
		}
	}
}

func readerAndEpoch(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`))
	k.refresh()
	r := k.acquire()
	defer r.Close()
	k.move(func(*placement.Shard) {})
	k.must(k.shard.Reload(k.ctx))
	if rows := k.scan(r, everything); len(rows) != 1 {
		t.Fatalf("it shows %v", rows)
	}
}

func cancelledScan(t *testing.T, c Case) {
	k := begin(t, c)
	k.scatter()
	r := k.acquire()
	defer r.Close()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	seen := 0
	var failed error
	for _, err := range r.Scan(ctx, everything) {
		if err != nil {
			failed = err
			break
		}
		seen++
		cancel()
	}
	// An engine may look at the context once in a while; a scan of few rows may end.
	if failed == nil && seen < 63 {
		t.Fatalf("it ended without an error after %d rows", seen)
	}
	for _, err := range r.Scan(ctx, everything) {
		if err == nil {
			t.Fatal("a scan began although it was cancelled")
		}
		failed = err
		break
	}
	if failed == nil {
		t.Fatal("a scan that was cancelled before it began shows nothing, and no error")
	}
}

func endedScan(t *testing.T, c Case) {
	k := begin(t, c)
	refs := k.scatter()
	r := k.acquire()
	defer r.Close()
	for n := range refs {
		seen := 0
		for _, err := range r.Scan(k.ctx, everything) {
			k.must(err)
			if seen++; seen > n {
				break
			}
		}
	}
	// And more than a page of anything.
	for i := range 30 {
		var ops []shard.Op
		for j := range 100 {
			ops = append(ops, indexed(fmt.Sprint(i*100+j), `{}`))
		}
		k.write(ops...)
	}
	k.expectReader(len(refs) + 3000)
}

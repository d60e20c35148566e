package shardtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var writes = []test{
	{"what was written is read at once", readAtOnce},
	{"a new shard is empty", newShardIsEmpty},
	{"results are those of their operations, in order", resultsInOrder},
	{"an operation sees those before it in the same write", sameWrite},
	{"a write of nothing", nothingToWrite},
	{"two routings of one id are two documents", twoRoutings},
	{"routing is kept, also by tombstones", routingIsKept},
	{"ids of any bytes", oddIDs},
	{"sources of any bytes and sizes", oddSources},
	{"a large write of large documents", largeWrite},
	{"no slice of a caller is kept, none of the shard is handed out", slicesAreOwn},
	{"an operation that promises a new id", automaticID},
	{"a cancelled write is not applied", cancelledWrite},
	{"statistics count what a scan shows", statistics},
}

func readAtOnce(t *testing.T, c Case) {
	k := begin(t, c)
	k.absent("a")
	if r := k.write(indexed("a", `{"n":1}`)); r.Outcome != document.Created || r.Present || r.Versions != (document.Versions{Version: 1, SeqNo: 0, PrimaryTerm: 1}) {
		t.Fatalf("the first write: %+v", r)
	}
	if row := k.expect("a", `{"n":1}`); row.Versions != (document.Versions{Version: 1, SeqNo: 0, PrimaryTerm: 1}) {
		t.Fatalf("numbers %+v", row.Versions)
	}
	if r := k.write(indexed("a", `{"n":2}`)); r.Outcome != document.Updated || !r.Present || r.Version != 2 || r.SeqNo != 1 {
		t.Fatalf("the second write: %+v", r)
	}
	k.expect("a", `{"n":2}`)
	if r := k.write(deleted("a")); r.Outcome != document.Deleted || !r.Present || r.Version != 3 || r.SeqNo != 2 {
		t.Fatalf("the delete: %+v", r)
	}
	if row := k.gone("a"); row.Versions != (document.Versions{Version: 3, SeqNo: 2, PrimaryTerm: 1}) || row.Ref != ref("a") {
		t.Fatalf("the tombstone: %+v", row)
	}
}

func newShardIsEmpty(t *testing.T, c Case) {
	k := begin(t, c)
	if s := k.shard.Stats(); s != (shard.Stats{SeqNo: -1, Synced: -1, Refreshed: -1, Pruned: -1}) {
		t.Fatalf("statistics %+v", s)
	}
	if k.shard.ID() != k.id || k.shard.Placed() != k.placed.Shards[0] {
		t.Fatalf("it is %v, placed %v", k.shard.ID(), k.shard.Placed())
	}
	r := k.acquire()
	defer r.Close()
	if rows := k.scan(r, everything); len(rows) > 0 || r.Docs() != 0 || r.SeqNo() != -1 {
		t.Fatalf("its reader shows %v, %d documents at %d", rows, r.Docs(), r.SeqNo())
	}
	if found := k.changes(-1, 10); len(found) > 0 || len(k.shard.Holds()) > 0 {
		t.Fatalf("changes %v, holds %v", found, k.shard.Holds())
	}
	if h := k.engine.Health(); h.ReadOnly != nil {
		t.Fatal(h.ReadOnly)
	}
}

func resultsInOrder(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`))
	results := k.try(indexed("a", `{}`), created("there", `{"x":1}`), indexed("b", `{}`), deleted("never"), deleted("there"), created("a", `{}`))
	expected := []string{"created 1", "conflict", "created 2", "not_found 3", "deleted 4", "conflict"}
	for i, r := range results {
		got := fmt.Sprintf("%v %d", r.Outcome, r.SeqNo)
		if errors.As(r.Err, new(*shard.Conflict)) {
			got = "conflict"
		}
		if got != expected[i] {
			t.Errorf("operation %d: %s (%v), expected %s", i, got, r.Err, expected[i])
		}
	}
	k.gone("there")
	k.gone("never")
}

func sameWrite(t *testing.T, c Case) {
	k := begin(t, c)
	only := indexed("a", `4`)
	only.Condition.SeqNo, only.Condition.PrimaryTerm = 1, 1
	results := k.try(created("a", `1`), indexed("a", `2`), created("a", `3`), only, only, deleted("a"), created("a", `5`))
	var got []string
	for _, r := range results {
		if r.Err != nil {
			got = append(got, "conflict")
			continue
		}
		got = append(got, fmt.Sprintf("%v/%d/%d", r.Outcome, r.Version, r.SeqNo))
	}
	if s := strings.Join(got, " "); s != "created/1/0 updated/2/1 conflict updated/3/2 conflict deleted/4/3 created/5/4" {
		t.Fatal(s)
	}
	k.expect("a", `5`)
}

func nothingToWrite(t *testing.T, c Case) {
	k := begin(t, c)
	k.try()
	if s := k.shard.Stats(); s.SeqNo != -1 {
		t.Fatalf("it took the sequence number %d", s.SeqNo)
	}
}

func twoRoutings(t *testing.T, c Case) {
	k := begin(t, c)
	one, two := indexed("a", `{"n":1}`), indexed("a", `{"n":2}`)
	one.Routing, one.Key = "one", routing.KeyOf("a", "one", 0)
	two.Routing, two.Key = "two", routing.KeyOf("a", "two", 0)
	k.write(one, two)
	k.absent("a")
	for _, op := range []shard.Op{one, two} {
		row, ok, err := k.shard.Get(k.ctx, 1, shard.Ref{Key: op.Key, ID: "a"})
		if err != nil || !ok || row.Routing != op.Routing || !bytes.Equal(row.Source, op.Source) || row.Version != 1 {
			t.Fatalf("under %q: %v %t %v", op.Routing, row, ok, err)
		}
	}
}

func routingIsKept(t *testing.T, c Case) {
	k := begin(t, c)
	odd := "r\x00\n\xff🦊"
	op := indexed("a", `{}`)
	op.Routing = odd
	k.write(op)
	if row := k.expect("a", `{}`); row.Routing != odd {
		t.Fatalf("routing %q", row.Routing)
	}
	op = deleted("a")
	op.Routing = odd
	k.write(op)
	if row := k.gone("a"); row.Routing != odd {
		t.Fatalf("routing of the tombstone %q", row.Routing)
	}
	k.write(indexed("a", `{}`))
	if row := k.expect("a", `{}`); row.Routing != "" {
		t.Fatalf("routing %q after a write without", row.Routing)
	}
}

// strange are ids that an encoding of keys may mangle, among them prefixes of each other.
var strange = []string{
	"\x00", "\x00\x00", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x00b", "a\x00\x01", "a\x00\xff", "ab", "a b", "a\nb", "a\tb", "a/b", "a|b", "a:b",
	"\xff", "\xff\xff", "\xfe", "\xfd\x00", "🦊", "é", "e\u0301", "_id", "-1", "0", "00", "\\", "\"", "%00", "日本語", "\xc3\x28",
	strings.Repeat("x", 511), strings.Repeat("x", 512), strings.Repeat("\x00", 512), strings.Repeat("\xff", 512), strings.Repeat("🦊", 128),
}

func oddIDs(t *testing.T, c Case) {
	k := begin(t, c)
	for i, id := range strange {
		k.write(indexed(id, fmt.Sprint(i)))
	}
	for i, id := range strange {
		k.expect(id, fmt.Sprint(i))
	}
	k.expectReader(len(strange))
	k.write(deleted("a\x00"), deleted("\xff"))
	k.gone("a\x00")
	k.expect("a", fmt.Sprint(4))
	k.expectReader(len(strange) - 2)
	k.reopen()
	k.expectReader(len(strange) - 2)

	// The same under one order key: only the id tells them apart.
	for i, id := range strange {
		k.write(shard.Op{Key: 42, ID: id, Source: fmt.Append(nil, i), Condition: document.Always})
	}
	for i, id := range strange {
		row, ok, err := k.shard.Get(k.ctx, 1, shard.Ref{Key: 42, ID: id})
		if err != nil || !ok || row.ID != id || string(row.Source) != fmt.Sprint(i) {
			t.Fatalf("%q under one key: %v %t %v", id, row, ok, err)
		}
	}
	k.expectReader(2*len(strange) - 2)
}

// expectReader refreshes and expects n documents, in order, each the one that a get finds.
func (k *talk) expectReader(n int) {
	k.Helper()
	k.refresh()
	r := k.acquire()
	defer r.Close()
	rows := k.scan(r, shard.Select{Range: routing.Whole})
	if len(rows) != n || r.Docs() != int64(n) {
		k.Fatalf("the reader shows %d documents and counts %d, expected %d", len(rows), r.Docs(), n)
	}
	for i, row := range rows {
		if i > 0 && !before(rows[i-1].Ref, row.Ref) {
			k.Fatalf("%v is shown before %v", rows[i-1].Ref, row.Ref)
		}
		got, ok, err := k.shard.Get(k.ctx, k.epoch(), row.Ref)
		if err != nil || !ok || !same(got, row) {
			k.Fatalf("scan shows %.200v, get %.200v %t %v", row, got, ok, err)
		}
	}
}

// before is the order of scans.
func before(a, b shard.Ref) bool { return a.Key < b.Key || a.Key == b.Key && a.ID < b.ID }

// same compares rows; a source of no bytes may be nil.
func same(a, b shard.Row) bool {
	return a.Ref == b.Ref && a.Versions == b.Versions && a.Routing == b.Routing && a.Deleted == b.Deleted && bytes.Equal(a.Source, b.Source)
}

func oddSources(t *testing.T, c Case) {
	k := begin(t, c)
	sources := []string{"", "{}", "\x00", "\xff\xfe", " {\n} ", `{"a":"é"}`, strings.Repeat("\x00", 70_000), strings.Repeat(`{"long":"`, 600_000)}
	for i, source := range sources {
		k.write(indexed(fmt.Sprint(i), source))
	}
	for i, source := range sources {
		k.expect(fmt.Sprint(i), source)
	}
	k.expectReader(len(sources))
	k.reopen()
	for i, source := range sources {
		k.expect(fmt.Sprint(i), source)
	}
}

func largeWrite(t *testing.T, c Case) {
	k := begin(t, c)
	var ops []shard.Op
	for i := range 40 {
		ops = append(ops, indexed(fmt.Sprint(i), strings.Repeat(fmt.Sprint(i%10), 100_000)))
	}
	for i, r := range k.try(ops...) {
		if r.Err != nil || r.SeqNo != int64(i) {
			t.Fatalf("operation %d: %+v", i, r)
		}
	}
	k.expect("39", strings.Repeat("9", 100_000))
	k.expectReader(40)
}

func slicesAreOwn(t *testing.T, c Case) {
	k := begin(t, c)
	op := indexed("a", `{"kept":1}`)
	k.write(op)
	copy(op.Source, `**********`)
	row := k.expect("a", `{"kept":1}`)
	copy(row.Source, `++++++++++`)
	k.expect("a", `{"kept":1}`)
	k.refresh()
	r := k.acquire()
	defer r.Close()
	for range 2 {
		got, ok, err := r.Get(k.ctx, ref("a"), false)
		if err != nil || !ok || string(got.Source) != `{"kept":1}` {
			t.Fatalf("the reader has %v %t %v", got, ok, err)
		}
		copy(got.Source, `----------`)
	}
}

func automaticID(t *testing.T, c Case) {
	k := begin(t, c)
	op := created("fresh", `{}`)
	op.AutoID = true
	if r := k.write(op); r.Outcome != document.Created || r.Version != 1 || r.SeqNo != 0 || r.Present {
		t.Fatalf("%+v", r)
	}
	k.expect("fresh", `{}`)
	if r := k.try(created("fresh", `{}`))[0]; !errors.As(r.Err, new(*shard.Conflict)) {
		t.Fatalf("creating it again: %+v", r)
	}
}

func cancelledWrite(t *testing.T, c Case) {
	k := begin(t, c)
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	results := k.shard.Write(ctx, 1, []shard.Op{indexed("a", `{}`), indexed("b", `{}`)})
	if len(results) != 2 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		k.unavailable(r.Err)
	}
	k.absent("a")
	k.absent("b")
	if r := k.write(indexed("a", `{}`)); r.SeqNo != 0 {
		t.Fatalf("the next write has the sequence number %d: there is a hole", r.SeqNo)
	}
	if _, _, err := k.shard.Get(ctx, 1, ref("a")); err == nil {
		t.Log("a cancelled get is answered all the same, which the contract allows")
	}
}

func statistics(t *testing.T, c Case) {
	k := begin(t, c)
	op := indexed("routed", `{"a":1}`)
	op.Routing = "where"
	k.write(indexed("a", `{}`), indexed("b", `{"long":"er"}`), op, indexed("a", `{"again":true}`), deleted("b"), deleted("never"))
	k.try(created("a", `{}`))
	k.get("a")
	check := func(when string) {
		t.Helper()
		k.refresh()
		s, expected := k.shard.Stats(), k.count()
		if s.Docs != expected.Docs || s.Tombstones != expected.Tombstones || s.Bytes != expected.Bytes {
			t.Fatalf("%s: statistics %+v, a scan counts %+v", when, s, expected)
		}
		if s.SeqNo != 5 || s.Synced != 5 || s.Refreshed != 5 || s.Pruned != -1 {
			t.Fatalf("%s: %+v", when, s)
		}
	}
	check("after writes")
	if ops := k.shard.Stats().Ops; ops.Index < 4 || ops.Delete != 2 || ops.Get != 1 || ops.Refresh < 1 {
		t.Fatalf("%+v", ops)
	}
	k.reopen()
	if ops := k.shard.Stats().Ops; ops.Index != 0 || ops.Delete != 0 || ops.Get != 0 {
		t.Fatalf("after reopening: %+v", ops)
	}
	check("after reopening")
}

// count counts what a scan of the last refresh shows.
func (k *talk) count() (s shard.Stats) {
	r := k.acquire()
	defer r.Close()
	for _, row := range k.scan(r, everything) {
		if row.Deleted {
			s.Tombstones++
			continue
		}
		s.Docs++
		s.Bytes += int64(len(row.ID) + len(row.Routing) + len(row.Source))
	}
	if s.Docs != r.Docs() {
		k.Fatalf("the reader counts %d documents and shows %d", r.Docs(), s.Docs)
	}
	return s
}

package shardtest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// talk is a shard of an engine, with the placement that the test moves. Its verbs
// end the test when the answer is not the one that they expect.
type talk struct {
	testing.TB
	c        Case
	ctx      context.Context // of every request; it ends before the test's patience
	engine   shard.Engine
	places   *Places
	placed   placement.Placement
	settings shard.Settings
	id       shard.ID
	shard    shard.Shard
}

// patience is how long a request of a test may take before it has hung.
const patience = time.Minute

// begin opens shard 0 of index 7, which owns all keys.
func begin(t testing.TB, c Case) *talk { return beginWith(t, c, 1, shard.Settings{}) }

// beginWith opens shard 0 of an index of n.
func beginWith(t testing.TB, c Case, n int, settings shard.Settings) *talk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	k := &talk{TB: t, c: c, ctx: ctx, engine: c.Open(t), places: &Places{}, settings: settings,
		id: shard.ID{Index: 7}, placed: placement.New(7, n, placement.Local, placement.Change{By: "shardtest", Why: "a test"})}
	k.places.Put(k.placed)
	t.Cleanup(cancel)
	k.shard = k.open()
	return k
}

// open opens the shard until the end of the test, before the engine's own cleanup.
func (k *talk) open() shard.Shard {
	k.Helper()
	s, err := k.engine.Open(k.ctx, k.id, k.places, k.settings)
	k.must(err)
	k.Cleanup(func() {
		if k.shard == s {
			s.Close()
		}
	})
	return s
}

// close ends the shard.
func (k *talk) close() {
	k.Helper()
	k.must(k.shard.Close())
	k.shard = nil
}

// reopen closes the shard and opens it again, in a new engine where there can be one.
func (k *talk) reopen() {
	k.Helper()
	k.close()
	if k.c.Reopen != nil {
		k.must(k.engine.Close())
		k.engine = k.c.Reopen(k, k.engine)
	}
	k.shard = k.open()
}

// move changes the row of the shard in a new version of the placement.
func (k *talk) move(change func(*placement.Shard)) {
	k.placed.Version++
	k.placed.Shards = append([]placement.Shard{}, k.placed.Shards...)
	k.placed.Shards[0].Epoch = k.placed.Version
	change(&k.placed.Shards[0])
	k.places.Put(k.placed)
}

func (k *talk) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// epoch is the shard's own.
func (k *talk) epoch() int64 { return k.shard.Placed().Epoch }

// ref is the place of an id without routing.
func ref(id string) shard.Ref { return shard.Ref{Key: routing.KeyOf(id, "", 0), ID: id} }

func indexed(id, source string) shard.Op {
	return shard.Op{Key: ref(id).Key, ID: id, Source: []byte(source), Condition: document.Always}
}

func created(id, source string) shard.Op {
	op := indexed(id, source)
	op.MustCreate = true
	return op
}

func deleted(id string) shard.Op {
	return shard.Op{Key: ref(id).Key, ID: id, Delete: true, Condition: document.Always}
}

// try writes operations under the shard's epoch.
func (k *talk) try(ops ...shard.Op) []shard.Result {
	k.Helper()
	results := k.shard.Write(k.ctx, k.epoch(), ops)
	if len(results) != len(ops) {
		k.Fatalf("%d operations got %d results", len(ops), len(results))
	}
	return results
}

// write expects all operations to be applied, and gives the last result.
func (k *talk) write(ops ...shard.Op) (last shard.Result) {
	k.Helper()
	for _, r := range k.try(ops...) {
		k.must(r.Err)
		last = r
	}
	return last
}

// get expects an answer, of which ok says whether a row is there.
func (k *talk) get(id string) (row shard.Row, ok bool) {
	k.Helper()
	row, ok, err := k.shard.Get(k.ctx, k.epoch(), ref(id))
	k.must(err)
	return row, ok
}

// expect says what a get of id answers: a document with this source.
func (k *talk) expect(id, source string) shard.Row {
	k.Helper()
	row, ok := k.get(id)
	if !ok || row.Deleted || row.Ref != ref(id) || string(row.Source) != source {
		k.Fatalf("get %q: found %t %.200v, expected a document with the source %.60q", id, ok, row, source)
	}
	return row
}

// absent says that nothing at all is under id.
func (k *talk) absent(id string) {
	k.Helper()
	if row, ok := k.get(id); ok {
		k.Fatalf("get %q: found %v, expected nothing", id, row)
	}
}

// gone says that a tombstone is under id.
func (k *talk) gone(id string) shard.Row {
	k.Helper()
	row, ok := k.get(id)
	if !ok || !row.Deleted || len(row.Source) != 0 {
		k.Fatalf("get %q: found %t %v, expected a tombstone", id, ok, row)
	}
	return row
}

func (k *talk) refresh() int64 {
	k.Helper()
	seqNo, err := k.shard.Refresh(k.ctx)
	k.must(err)
	return seqNo
}

// acquire gives a reader that is closed at the end of the test at the latest.
func (k *talk) acquire() shard.Reader {
	k.Helper()
	r, err := k.shard.Acquire(k.ctx, k.epoch())
	k.must(err)
	once := &onceReader{Reader: r}
	k.Cleanup(func() { once.Close() })
	return once
}

// onceReader is closed once, however often a test closes it.
type onceReader struct {
	shard.Reader
	close sync.Once
	err   error
}

func (r *onceReader) Close() error {
	r.close.Do(func() { r.err = r.Reader.Close() })
	return r.err
}

// scan lists what a reader shows; the sources are the caller's.
func (k *talk) scan(r shard.Reader, what shard.Select) (rows []shard.Row) {
	k.Helper()
	for row, err := range r.Scan(k.ctx, what) {
		k.must(err)
		row.Source = bytes.Clone(row.Source)
		rows = append(rows, row)
	}
	return rows
}

// everything is the select of all documents and tombstones.
var everything = shard.Select{Range: routing.Whole, Tombstones: true}

// at is a position of the shard's incarnation.
func (k *talk) at(seqNo int64) shard.Position {
	return shard.Position{Incarnation: k.shard.Placed().Term, SeqNo: seqNo}
}

// changes expects those after seqNo, at most limit.
func (k *talk) changes(after int64, limit int) (found []shard.Change) {
	k.Helper()
	for change, err := range k.shard.Changes(k.ctx, k.at(after), limit) {
		k.must(err)
		found = append(found, change)
	}
	return found
}

// refusal is the error of Changes after a position, which yields nothing else.
func (k *talk) refusal(after shard.Position) error {
	k.Helper()
	for change, err := range k.shard.Changes(k.ctx, after, 10) {
		if err == nil {
			k.Fatalf("the changes after %v begin with %v, expected a refusal", after, change)
		}
		return err
	}
	return nil
}

// stale expects a refusal that tells both epochs.
func (k *talk) stale(err error, asked, has int64) {
	k.Helper()
	var s *shard.Stale
	if !errors.As(err, &s) || s.ID != k.id || s.Asked != asked || s.Epoch != has || !fault.Is(err, fault.Stale) {
		k.Fatalf("%v, expected: stale, asked %d, the shard has %d", err, asked, has)
	}
}

// unavailable expects an error of that kind.
func (k *talk) unavailable(err error) {
	k.Helper()
	if !fault.Is(err, fault.Unavailable) {
		k.Fatalf("%v, expected an error of the kind unavailable", err)
	}
}

// soon is a context whose deadline is reached while the test watches.
func (k *talk) soon() context.Context {
	ctx, cancel := context.WithTimeout(k.ctx, 20*time.Millisecond)
	k.Cleanup(cancel)
	return ctx
}

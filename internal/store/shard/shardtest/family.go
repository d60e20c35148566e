package shardtest

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// family is all shards of an index, and what was written to them. Its verbs end the test
// when the answer is not the one that they expect.
type family struct {
	*talk
	open map[uint32]shard.Shard
	rows map[shard.Ref]shard.Row // of the last write to each, tombstones too
}

// beginFamily opens the shards of an index of n.
func beginFamily(t testing.TB, c Case, n int) *family {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	k := &talk{TB: t, c: c, ctx: ctx, engine: c.Open(t), places: &Places{}, settings: shard.Settings{Indexer: Words{}},
		placed: placement.New(7, n, placement.Local, placement.Change{By: "shardtest", Why: "a test"})}
	k.places.Put(k.placed)
	f := &family{talk: k, open: map[uint32]shard.Shard{}, rows: map[shard.Ref]shard.Row{}}
	t.Cleanup(f.end)
	f.openAll()
	return f
}

// openAll opens what the placement names and is not open.
func (f *family) openAll() {
	f.Helper()
	for _, row := range f.placed.Shards {
		if f.open[row.Number] == nil {
			s, err := f.engine.Open(f.ctx, shard.ID{Index: f.placed.Index, Number: row.Number}, f.places, f.settings)
			f.must(err)
			f.open[row.Number] = s
		}
	}
}

// end closes all shards.
func (f *family) end() {
	for number, s := range f.open {
		s.Close()
		delete(f.open, number)
	}
}

// reopen stops everything and opens what the placement names.
func (f *family) reopen() {
	f.Helper()
	for _, number := range slices.Sorted(maps.Keys(f.open)) {
		f.must(f.open[number].Close())
		delete(f.open, number)
	}
	if f.c.Reopen != nil {
		f.must(f.engine.Close())
		f.engine = f.c.Reopen(f, f.engine)
		f.Cleanup(f.end) // before the engine's own
	}
	f.openAll()
}

// put writes operations, each to its owner, and remembers what is then there.
func (f *family) put(ops ...shard.Op) (last shard.Result) {
	f.Helper()
	for _, op := range ops {
		owner := f.placed.Owner(op.Key)
		last = f.open[owner.Number].Write(f.ctx, owner.Epoch, []shard.Op{op})[0]
		f.must(last.Err)
		if last.PrimaryTerm != owner.Term {
			f.Fatalf("%q was written under term %d, the owner has %d", op.ID, last.PrimaryTerm, owner.Term)
		}
		f.note(op, last)
	}
	return last
}

func (f *family) note(op shard.Op, r shard.Result) {
	row := shard.Row{Ref: shard.Ref{Key: op.Key, ID: op.ID}, Versions: r.Versions, Routing: op.Routing, Deleted: op.Delete}
	if !op.Delete {
		row.Source = op.Source
	}
	f.rows[row.Ref] = row
}

// cut are the incarnations of one shard that is cut before each of the keys: the first
// goes on under its number.
func (f *family) cut(number uint32, before ...routing.Key) (from []uint32, to []shard.Incarnation) {
	row, _ := f.placed.Shard(number)
	next, start := f.placed.Next, row.Range.From
	for i, end := range append(before, row.Range.To+1) {
		to = append(to, shard.Incarnation{Number: number, Range: routing.Range{From: start, To: end - 1}, Term: row.Term + 1})
		if start = end; i > 0 {
			to[i].Number, next = next, next+1
		}
	}
	return []uint32{number}, to
}

// join is the one incarnation of neighbours: the lowest number goes on.
func (f *family) join(numbers ...uint32) (from []uint32, to []shard.Incarnation) {
	one := shard.Incarnation{Number: slices.Min(numbers), Range: routing.Range{From: routing.MaxKey}}
	for _, number := range numbers {
		row, _ := f.placed.Shard(number)
		one.Range = routing.Range{From: min(one.Range.From, row.Range.From), To: max(one.Range.To, row.Range.To)}
		one.Term = max(one.Term, row.Term+1)
	}
	return numbers, []shard.Incarnation{one}
}

// name makes the placement name what was staged.
func (f *family) name(from []uint32, to []shard.Incarnation) {
	p := HandedOver(f.placed, from, to)
	f.must(p.Check())
	f.placed = p
	f.places.Put(p)
}

// stage expects it to be staged, and closes what tells of it.
func (f *family) stage(from []uint32, to []shard.Incarnation) {
	f.Helper()
	staged, err := f.engine.Stage(f.ctx, f.placed.Index, from, to)
	f.must(err)
	f.must(staged.Close())
}

// become hands the range of from over, and closes what then owns nothing.
func (f *family) become(from []uint32, to []shard.Incarnation) {
	f.Helper()
	f.handOver(from, to)
	f.leave()
}

// handOver is: fence, stage, placement, open and reload, release.
func (f *family) handOver(from []uint32, to []shard.Incarnation) {
	f.Helper()
	var lifts []func(context.Context) error
	for _, number := range from {
		_, lift, err := f.open[number].Fence(f.ctx)
		f.must(err)
		lifts = append(lifts, lift)
	}
	f.stage(from, to)
	f.name(from, to)
	f.follow(from)
	for _, lift := range lifts {
		f.must(lift(f.ctx))
	}
}

// follow opens what is new, and tells those that change of the placement.
func (f *family) follow(from []uint32) {
	f.Helper()
	f.openAll()
	for _, number := range from {
		f.must(f.open[number].Reload(f.ctx))
	}
}

// leave closes what the placement no longer names.
func (f *family) leave() {
	f.Helper()
	for _, number := range slices.Sorted(maps.Keys(f.open)) {
		if _, named := f.placed.Shard(number); !named {
			f.must(f.open[number].Close())
			delete(f.open, number)
		}
	}
}

// holds says that each owner has exactly what was written to its range: for a get, for the
// reader of a refresh, and in its views.
func (f *family) holds() {
	f.Helper()
	for _, row := range f.placed.Shards {
		s := f.open[row.Number]
		if s.Placed() != row {
			f.Fatalf("shard %d is placed as %v, expected %v", row.Number, s.Placed(), row)
		}
		_, err := s.Refresh(f.ctx)
		f.must(err)
		got, err := s.Acquire(f.ctx, row.Epoch)
		f.must(err)
		r := &onceReader{Reader: got}
		defer r.Close() // also when the test ends here: its cleanup waits for readers
		expected := f.within(row.Range)
		docs, _, _ := snapshot{rows: expected}.count()
		if found := f.scan(r, everything); !slices.EqualFunc(found, (snapshot{rows: expected}).scan(everything), same) {
			f.Fatalf("shard %d shows %v, expected %v", row.Number, found, expected)
		}
		if c := s.Stats(); c.Docs != docs || r.Docs() != docs {
			f.Fatalf("shard %d has %+v and a reader of %d, expected %d documents", row.Number, c, r.Docs(), docs)
		}
		f.counts(s, expected)
		f.must(Agree(f.ctx, r))
		f.must(r.Close())
	}
	for at, expected := range f.rows {
		owner := f.placed.Owner(at.Key)
		found, is, err := f.open[owner.Number].Get(f.ctx, owner.Epoch, at)
		if err != nil || !is || !same(found, expected) {
			f.Fatalf("get %v from shard %d: %v %t %v, expected %v", at, owner.Number, found, is, err, expected)
		}
	}
}

// counts waits until a shard counts tombstones and bytes as they are: an engine may estimate
// them at first.
func (f *family) counts(s shard.Shard, rows map[shard.Ref]shard.Row) {
	f.Helper()
	_, tombstones, size := snapshot{rows: rows}.count()
	for c := s.Stats(); c.Tombstones != tombstones || c.Bytes != size; c = s.Stats() {
		if f.ctx.Err() != nil {
			f.Fatalf("shard %d has %+v, expected %d bytes and %d tombstones", s.ID().Number, c, size, tombstones)
		}
		time.Sleep(time.Millisecond)
	}
}

// within are the rows of a range.
func (f *family) within(r routing.Range) map[shard.Ref]shard.Row {
	found := map[shard.Ref]shard.Row{}
	for at, row := range f.rows {
		if r.Contains(at.Key) {
			found[at] = row
		}
	}
	return found
}

// one is a shard of the family, for verbs of one shard.
func (f *family) one(number uint32) *talk {
	k := *f.talk
	k.id, k.shard = shard.ID{Index: f.placed.Index, Number: number}, f.open[number]
	return &k
}

// spread is an operation on a key in the part i of 16 of all keys.
func spread(i int, id, source string) shard.Op {
	op := shard.Op{Key: routing.Equal(16)[i].From + 5, ID: id, Source: []byte(source), Condition: document.Always}
	if source == "" {
		op.Delete, op.Source = true, nil
	}
	return op
}

// fill writes to 16 parts of all keys: documents, some again, some deleted, some with
// children, before and behind a refresh.
func (f *family) fill() {
	f.Helper()
	for i := range 16 {
		f.put(spread(i, "a", "first +x"), spread(i, "b", "x y +z"), spread(i, "gone", "z"))
		if i%5 == 0 {
			_, err := f.open[f.placed.Owner(routing.Equal(16)[i].From).Number].Refresh(f.ctx)
			f.must(err)
		}
		if i%3 == 0 {
			f.put(spread(i, "a", "again +x +y"))
		}
		f.put(spread(i, "gone", ""))
	}
}

// sixteenth is where the part i of 16 begins.
func sixteenth(i int) routing.Key { return routing.Equal(16)[i].From }

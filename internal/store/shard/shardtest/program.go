package shardtest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var programs = []test{{"a shard answers random requests as a plain map does", randomPrograms}}

// randomPrograms runs each program on an index of its own of one engine.
func randomPrograms(t *testing.T, c Case) {
	m := &machine{c: c, outer: t, engine: c.Open(t), places: &Places{}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.ctx = ctx
	rapid.Check(t, func(rt *rapid.T) {
		m.begin(rt)
		defer m.end()
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.agrees,
			"write":   m.write,
			"get":     m.get,
			"refresh": m.refresh,
			"acquire": m.acquire,
			"close":   m.closeReader,
			"scan":    m.scan,
			"changes": m.changes,
			"hold":    m.hold,
			"release": m.release,
			"prune":   m.prune,
			"reopen":  m.reopen,
			"move":    m.move,
		})
	})
}

// machine runs one program on a shard and on the model.
type machine struct {
	c      Case
	outer  *testing.T
	ctx    context.Context
	engine shard.Engine
	places *Places
	index  uint32

	placed  placement.Placement
	shard   shard.Shard
	model   *model
	readers []pair
}

// pair is a reader and what it must show.
type pair struct {
	shard.Reader
	expected snapshot
}

func (m *machine) begin(t *rapid.T) {
	m.index++
	m.placed = placement.New(m.index, 1, placement.Local, placement.Change{By: "shardtest", Why: "a program"})
	m.places.Put(m.placed)
	m.model, m.readers = newModel(), nil
	m.open(t)
}

func (m *machine) open(t *rapid.T) {
	s, err := m.engine.Open(m.ctx, shard.ID{Index: m.index}, m.places, shard.Settings{})
	must(t, err)
	m.shard = s
}

// end closes everything, also after a failure.
func (m *machine) end() {
	for _, r := range m.readers {
		r.Close()
	}
	m.readers = nil
	m.shard.Close()
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) epoch() int64 { return m.placed.Shards[0].Epoch }

// Few ids and keys, so that programs meet what they wrote.
var (
	someRef = rapid.Custom(func(t *rapid.T) shard.Ref {
		return shard.Ref{
			Key: rapid.SampledFrom([]routing.Key{0, 7, 1 << 40, routing.MaxKey}).Draw(t, "key"),
			ID:  rapid.SampledFrom([]string{"a", "a\x00", "b", "\xff", "\x00"}).Draw(t, "id"),
		}
	})
	someText   = rapid.SampledFrom([]string{"", "x", "\x00", "{}", `{"n":1}`, "\xff\xff"})
	someNumber = rapid.SampledFrom([]int64{0, 1, 2, 3, 5, 9, math.MaxInt64})
)

// someOp asks, if for anything, mostly for what is stored.
func (m *machine) someOp(t *rapid.T) shard.Op {
	r := someRef.Draw(t, "ref")
	op := shard.Op{Key: r.Key, ID: r.ID, Condition: document.Always,
		Routing: someText.Draw(t, "routing"), Delete: rapid.IntRange(0, 2).Draw(t, "delete") == 0}
	if !op.Delete {
		op.Source = []byte(someText.Draw(t, "source"))
		op.MustCreate = rapid.IntRange(0, 3).Draw(t, "create") == 0
	}
	stored, guess := m.model.rows[r].Versions, rapid.Bool().Draw(t, "guess")
	switch rapid.IntRange(0, 4).Draw(t, "condition") {
	case 0:
		op.Condition.SeqNo, op.Condition.PrimaryTerm = stored.SeqNo, stored.PrimaryTerm
		if guess {
			op.Condition.SeqNo = someNumber.Draw(t, "number")
		}
	case 1:
		op.Condition.Version = stored.Version
		op.Condition.VersionType = rapid.SampledFrom([]document.VersionType{
			document.Internal, document.External, document.ExternalGTE}).Draw(t, "type")
		if guess {
			op.Condition.Version = someNumber.Draw(t, "version")
		}
	}
	return op
}

func (m *machine) write(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		for _, r := range m.shard.Write(m.ctx, m.epoch()-1, []shard.Op{m.someOp(t)}) {
			if !errors.As(r.Err, new(*shard.Stale)) {
				t.Fatalf("%+v, expected stale", r)
			}
		}
		return
	}
	ops := rapid.SliceOfN(rapid.Custom(m.someOp), 1, 4).Draw(t, "ops")
	for i, r := range m.shard.Write(m.ctx, m.epoch(), ops) {
		at := shard.Ref{Key: ops[i].Key, ID: ops[i].ID}
		met, known := m.model.rows[at]
		applied, outcome := m.model.write(ops[i])
		if r.Present != (known && !met.Deleted) {
			t.Fatalf("operation %d: %+v, met was %v", i, r, met)
		}
		if applied {
			if r.Err != nil || r.Outcome != outcome || r.Versions != m.model.rows[at].Versions {
				t.Fatalf("operation %d: %+v, expected %v of %v", i, r, outcome, m.model.rows[at])
			}
			continue
		}
		var c *shard.Conflict
		if !errors.As(r.Err, &c) || c.Known != known || c.Present != r.Present || known && c.Stored != met.Versions {
			t.Fatalf("operation %d: %+v, expected a conflict with %v", i, r, met)
		}
	}
	m.model.ends = append(m.model.ends, m.model.last())
}

func (m *machine) get(t *rapid.T) {
	at := someRef.Draw(t, "ref")
	row, found, err := m.shard.Get(m.ctx, m.epoch(), at)
	must(t, err)
	if expected, known := m.model.rows[at]; found != known || found && !same(row, expected) {
		t.Fatalf("get %v: %v %t, expected %v %t", at, row, found, expected, known)
	}
}

func (m *machine) refresh(t *rapid.T) {
	m.model.refresh()
	seqNo, err := m.shard.Refresh(m.ctx)
	must(t, err)
	if seqNo != m.model.shown.seqNo {
		t.Fatalf("refreshed at %d, expected %d", seqNo, m.model.shown.seqNo)
	}
	must(t, m.shard.AwaitRefresh(m.ctx, seqNo))
}

func (m *machine) acquire(t *rapid.T) {
	if len(m.readers) == 3 {
		m.closeReader(t)
	}
	r, err := m.shard.Acquire(m.ctx, m.epoch())
	must(t, err)
	m.readers = append(m.readers, pair{r, m.model.shown})
	docs, _, _ := m.model.shown.count()
	if r.SeqNo() != m.model.shown.seqNo || r.Docs() != docs {
		t.Fatalf("a reader of %d documents at %d, expected %d at %d", r.Docs(), r.SeqNo(), docs, m.model.shown.seqNo)
	}
}

func (m *machine) some(t *rapid.T) int {
	if len(m.readers) == 0 {
		t.Skip("no reader is open")
	}
	return rapid.IntRange(0, len(m.readers)-1).Draw(t, "reader")
}

func (m *machine) closeReader(t *rapid.T) {
	i := m.some(t)
	must(t, m.readers[i].Close())
	m.readers = slices.Delete(m.readers, i, i+1)
}

func (m *machine) scan(t *rapid.T) {
	r := m.readers[m.some(t)]
	what := shard.Select{Range: routing.Whole, Tombstones: rapid.Bool().Draw(t, "tombstones"), NoSource: rapid.Bool().Draw(t, "no source")}
	if rapid.Bool().Draw(t, "in a range") {
		what.Range = routing.Range{From: someRef.Draw(t, "from").Key, To: someRef.Draw(t, "to").Key}
	}
	if rapid.Bool().Draw(t, "behind a row") {
		at := someRef.Draw(t, "after")
		what.After = &at
	}
	var shown []shard.Row
	for row, err := range r.Scan(m.ctx, what) {
		must(t, err)
		row.Source = bytes.Clone(row.Source)
		shown = append(shown, row)
	}
	shown, expected := slices.DeleteFunc(shown, m.buried), slices.DeleteFunc(r.expected.scan(what), m.buried)
	if !slices.EqualFunc(shown, expected, same) {
		t.Fatalf("%+v shows %v, expected %v", what, shown, expected)
	}
	at := someRef.Draw(t, "ref")
	row, found, err := r.Get(m.ctx, at, false)
	must(t, err)
	if expected, known := r.expected.rows[at]; m.buried(expected) && known {
		return
	} else if found != known || found && !same(row, expected) {
		t.Fatalf("the reader gets %v: %v %t, expected %v %t", at, row, found, expected, known)
	}
}

// buried reports whether a row is a tombstone that was pruned: a reader that was
// acquired later may show it or not.
func (m *machine) buried(row shard.Row) bool { return row.Deleted && row.SeqNo <= m.model.pruned }

// somePosition is one in the history, or its beginning.
func (m *machine) somePosition(t *rapid.T) shard.Position {
	return shard.Position{Incarnation: m.model.term, SeqNo: rapid.Int64Range(-1, m.model.last()).Draw(t, "position")}
}

func (m *machine) changes(t *rapid.T) {
	after, limit := m.somePosition(t), rapid.IntRange(1, 20).Draw(t, "limit")
	var found []shard.Change
	for change, err := range m.shard.Changes(m.ctx, after, limit) {
		if after.SeqNo < m.model.pruned {
			m.expired(t, err)
			return
		}
		must(t, err)
		found = append(found, change)
	}
	rest := m.model.log[after.SeqNo+1:]
	if expected := rest[:min(limit, len(rest))]; !slices.Equal(found, expected) {
		t.Fatalf("the changes after %v: %v, expected %v", after, found, expected)
	}
}

func (m *machine) expired(t *rapid.T, err error) {
	var e *shard.Expired
	if !errors.As(err, &e) || e.Oldest != m.model.pruned+1 {
		t.Fatalf("%v, expected: expired, the oldest is %d", err, m.model.pruned+1)
	}
}

var someName = rapid.SampledFrom([]string{"one", "two"})

func (m *machine) hold(t *rapid.T) {
	name, p := someName.Draw(t, "name"), m.somePosition(t)
	old, held := m.model.holds[name]
	err := m.shard.Hold(m.ctx, name, p)
	switch {
	case !m.model.hold(name, p):
		m.expired(t, err)
	case held && p.SeqNo < old.SeqNo: // refusing to go back is allowed
	default:
		must(t, err)
	}
}

func (m *machine) release(t *rapid.T) {
	name := someName.Draw(t, "name")
	delete(m.model.holds, name)
	must(t, m.shard.Release(m.ctx, name))
}

// prune allows an engine to keep the changes of one write together.
func (m *machine) prune(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "young") == 0 {
		must(t, m.shard.Prune(m.ctx, time.Now()))
		return
	}
	must(t, m.shard.Prune(m.ctx, later(2*time.Hour)))
	var readers []int64
	for _, r := range m.readers {
		readers = append(readers, r.expected.seqNo)
	}
	whole, bound := m.model.prunable(readers)
	pruned := m.shard.Stats().Pruned
	if pruned < whole || pruned > bound {
		t.Fatalf("pruned up to %d, expected %d, or %d where changes of one write go together", pruned, bound, whole)
	}
	m.model.prune(pruned)
}

func (m *machine) reopen(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("it is slow for some engines")
	}
	for len(m.readers) > 0 {
		must(t, m.readers[0].Close())
		m.readers = m.readers[1:]
	}
	must(t, m.shard.Close())
	if m.c.Reopen != nil {
		must(t, m.engine.Close())
		m.engine = m.c.Reopen(m.outer, m.engine)
	}
	m.open(t)
	m.model.show()
}

// move raises the epoch, by a reload or behind a fence, and sometimes the term.
func (m *machine) move(t *rapid.T) {
	lift := m.shard.Reload
	if rapid.Bool().Draw(t, "fence") {
		seqNo, release, err := m.shard.Fence(m.ctx)
		must(t, err)
		if seqNo != m.model.last() {
			t.Fatalf("fenced at %d, expected %d", seqNo, m.model.last())
		}
		lift = release
	}
	m.placed.Version++
	row := m.placed.Shards[0]
	row.Epoch = m.placed.Version
	if rapid.Bool().Draw(t, "term") {
		row.Term += 2
	}
	m.placed.Shards = []placement.Shard{row}
	m.places.Put(m.placed)
	m.model.term = row.Term
	must(t, lift(m.ctx))
}

// agrees compares what can be seen at every step.
func (m *machine) agrees(t *rapid.T) {
	s := m.shard.Stats()
	docs, tombstones, size := snapshot{rows: m.model.rows}.count()
	searchable, _, _ := m.model.shown.count()
	expected := shard.Stats{Docs: docs, Searchable: searchable, Tombstones: tombstones, Bytes: size, SeqNo: m.model.last(), Synced: m.model.last(),
		Refreshed: m.model.shown.seqNo, Pruned: m.model.pruned, Ops: s.Ops}
	if s != expected {
		t.Fatalf("statistics %+v, expected %+v", s, expected)
	}
	if found := m.shard.Holds(); !maps.Equal(found, m.model.holds) {
		t.Fatalf("holds %v, expected %v", found, m.model.holds)
	}
	if m.shard.Placed() != m.placed.Shards[0] || fault.Is(m.engine.Health().ReadOnly, fault.Unavailable) {
		t.Fatalf("placed %v, health %v", m.shard.Placed(), m.engine.Health())
	}
}

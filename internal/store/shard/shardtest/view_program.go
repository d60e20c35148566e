package shardtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// viewPrograms does random things to a shard, whose range moves meanwhile, and compares
// the views of all readers with their scans.
func viewPrograms(t *testing.T, c Case) {
	m := &viewMachine{machine{c: c, outer: t, engine: c.Open(t), places: &Places{}, ctx: t.Context()}}
	rapid.Check(t, func(rt *rapid.T) {
		m.index++
		m.placed = placement.New(m.index, 1, placement.Local, placement.Change{By: "shardtest", Why: "a program"})
		m.places.Put(m.placed)
		m.readers = nil
		m.open(rt)
		defer m.end()
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.agree,
			"write":   m.write,
			"refresh": m.refresh,
			"acquire": m.acquire,
			"close":   m.closeReader,
			"prune":   m.prune,
			"reopen":  m.reopen,
			"move":    m.move,
		})
	})
}

type viewMachine struct{ machine }

func (m *viewMachine) open(t *rapid.T) {
	s, err := m.engine.Open(m.ctx, shard.ID{Index: m.index}, m.places, shard.Settings{Indexer: Words{}})
	must(t, err)
	m.shard = s
}

// Keys at the bounds of ranges, and words that meet.
var (
	someBound = rapid.SampledFrom([]routing.Key{0, 7, 8, 1 << 40, 1<<40 + 1, routing.MaxKey - 1, routing.MaxKey})
	someWords = rapid.SampledFrom([]string{"", "x", "x y +x", "+a +b", "bad!", "z z"})
)

func (m *viewMachine) someOp(t *rapid.T) shard.Op {
	op := shard.Op{Key: someBound.Draw(t, "key"), ID: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "id")), Condition: document.Always}
	if op.Delete = rapid.IntRange(0, 2).Draw(t, "delete") == 0; !op.Delete {
		op.Source = []byte(someWords.Draw(t, "source"))
	}
	return op
}

func (m *viewMachine) write(t *rapid.T) {
	within := m.placed.Shards[0].Range
	ops := rapid.SliceOfN(rapid.Custom(m.someOp), 1, 6).Draw(t, "ops")
	for i, r := range m.shard.Write(m.ctx, m.epoch(), ops) {
		switch owned := within.Contains(ops[i].Key); {
		case owned:
			must(t, r.Err)
		case !errors.As(r.Err, new(*shard.Stale)):
			t.Fatalf("%v was not the shard's: %v", ops[i].Key, r.Err)
		}
	}
}

func (m *viewMachine) refresh(t *rapid.T) {
	seqNo, err := m.shard.Refresh(m.ctx)
	must(t, err)
	if last := m.shard.Stats().SeqNo; seqNo != last {
		t.Fatalf("refreshed at %d, written up to %d", seqNo, last)
	}
}

func (m *viewMachine) acquire(t *rapid.T) {
	if len(m.readers) == 3 {
		m.closeReader(t)
	}
	r, err := m.shard.Acquire(m.ctx, m.epoch())
	must(t, err)
	m.readers = append(m.readers, pair{Reader: r})
}

func (m *viewMachine) prune(t *rapid.T) { must(t, m.shard.Prune(m.ctx, later(2*time.Hour))) }

func (m *viewMachine) reopen(t *rapid.T) {
	for len(m.readers) > 0 {
		must(t, m.readers[0].Close())
		m.readers = m.readers[1:]
	}
	must(t, m.shard.Close())
	if m.c.Reopen != nil && rapid.IntRange(0, 3).Draw(t, "the engine too") == 0 {
		must(t, m.engine.Close())
		m.engine = m.c.Reopen(m.outer, m.engine)
	}
	m.open(t)
}

func (m *viewMachine) move(t *rapid.T) {
	a, b := someBound.Draw(t, "from"), someBound.Draw(t, "to")
	m.placed.Version++
	row := m.placed.Shards[0]
	row.Epoch, row.Range = m.placed.Version, routing.Range{From: min(a, b), To: max(a, b)}
	m.placed.Shards = []placement.Shard{row}
	m.places.Put(m.placed)
	must(t, m.shard.Reload(m.ctx))
}

// agree compares what is published, and a reader that may be older.
func (m *viewMachine) agree(t *rapid.T) {
	r, err := m.shard.Acquire(m.ctx, m.epoch())
	must(t, err)
	defer r.Close()
	for _, r := range slices.Concat([]pair{{Reader: r}}, m.readers) {
		must(t, Agree(m.ctx, r))
	}
	docs := 0
	for row, err := range r.Scan(m.ctx, shard.Select{Range: routing.Whole}) {
		must(t, err)
		if !m.placed.Shards[0].Range.Contains(row.Key) {
			t.Fatalf("%v is shown, and is not the shard's", row.Ref)
		}
		docs++
	}
	if docs != int(r.Docs()) {
		t.Fatalf("the reader counts %d documents, and shows %d", r.Docs(), docs)
	}
}

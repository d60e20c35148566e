package shardtest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// familyPrograms writes, deletes, refreshes, cuts and joins at random. Each program has an
// index of its own of one engine.
func familyPrograms(t *testing.T, c Case) {
	f := beginFamily(t, c, 1)
	defer func() { f.TB = t }()
	index := f.placed.Index
	rapid.Check(t, func(rt *rapid.T) {
		index++
		f.end()
		f.TB = shrinking{t, rt}
		f.placed = placement.New(index, 1, placement.Local, placement.Change{By: "shardtest", Why: "a program"})
		f.places.Put(f.placed)
		f.rows = map[shard.Ref]shard.Row{}
		f.openAll()
		m := &reshaping{f}
		rt.Repeat(map[string]func(*rapid.T){
			"write":   m.write,
			"refresh": m.refresh,
			"cut":     m.cut,
			"join":    m.join,
			"stage":   m.stage,
			"unstage": func(*rapid.T) { f.must(f.engine.Unstage(f.ctx, f.placed.Index, f.places)) },
			"reopen":  m.reopen,
			"look":    func(*rapid.T) { f.holds() },
		})
		f.holds()
	})
}

// shrinking lets the verbs of a family end a program, not the test.
type shrinking struct {
	testing.TB
	program *rapid.T
}

func (s shrinking) Helper()                   { s.program.Helper() }
func (s shrinking) Fatal(args ...any)         { s.program.Helper(); s.program.Fatal(args...) }
func (s shrinking) Fatalf(f string, a ...any) { s.program.Helper(); s.program.Fatalf(f, a...) }

// reshaping is one program on a family.
type reshaping struct{ *family }

func (m *reshaping) write(t *rapid.T) {
	for range rapid.IntRange(1, 5).Draw(t, "ops") {
		at := shard.Ref{Key: routing.Key(rapid.IntRange(0, 15).Draw(t, "part")) << 60, ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")}
		op := shard.Op{Key: at.Key, ID: at.ID, Condition: document.Always, Delete: rapid.IntRange(0, 2).Draw(t, "delete") == 0}
		if !op.Delete {
			op.Source = []byte(fmt.Sprint("w", rapid.IntRange(0, 5).Draw(t, "word"), " +", rapid.IntRange(0, 3).Draw(t, "child")))
		}
		was, known := m.rows[at]
		if known && rapid.Bool().Draw(t, "conditional") && !was.Deleted {
			op.Condition.SeqNo, op.Condition.PrimaryTerm = was.SeqNo, was.PrimaryTerm
		}
		if r := m.put(op); known && r.Version != was.Version+1 || !known && r.Version != 1 || r.Present != (known && !was.Deleted) {
			t.Fatalf("%+v was answered %+v, there was %v", op, r, was)
		}
	}
}

// some is the place of a shard among the others.
func (m *reshaping) some(t *rapid.T) int {
	return rapid.IntRange(0, len(m.placed.Shards)-1).Draw(t, "shard")
}

func (m *reshaping) refresh(t *rapid.T) {
	_, err := m.open[m.placed.Shards[m.some(t)].Number].Refresh(m.ctx)
	m.must(err)
}

// cuts draws how a shard is cut, at keys of documents too.
func (m *reshaping) cuts(t *rapid.T) ([]uint32, []shard.Incarnation) {
	row := m.placed.Shards[m.some(t)]
	var before []routing.Key
	for range rapid.IntRange(1, 3).Draw(t, "cuts") {
		key := routing.Key(rapid.IntRange(0, 15).Draw(t, "part"))<<60 + routing.Key(rapid.IntRange(0, 1).Draw(t, "behind"))
		if row.Range.Contains(key) && key > row.Range.From {
			before = append(before, key)
		}
	}
	slices.Sort(before)
	if before = slices.Compact(before); len(before) == 0 || len(m.placed.Shards) > 8 {
		t.Skip("it cannot be cut")
	}
	return m.family.cut(row.Number, before...)
}

// neighbours draws who is joined.
func (m *reshaping) neighbours(t *rapid.T) ([]uint32, []shard.Incarnation) {
	if len(m.placed.Shards) == 1 {
		t.Skip("there is one shard")
	}
	first := rapid.IntRange(0, len(m.placed.Shards)-2).Draw(t, "first")
	last := rapid.IntRange(first+1, min(first+3, len(m.placed.Shards)-1)).Draw(t, "last")
	var numbers []uint32
	for _, row := range m.placed.Shards[first : last+1] {
		numbers = append(numbers, row.Number)
	}
	return m.family.join(numbers...)
}

func (m *reshaping) cut(t *rapid.T)  { m.become(m.cuts(t)) }
func (m *reshaping) join(t *rapid.T) { m.become(m.neighbours(t)) }

func (m *reshaping) stage(t *rapid.T) {
	if rapid.Bool().Draw(t, "cut") {
		m.family.stage(m.cuts(t))
	} else {
		m.family.stage(m.neighbours(t))
	}
}

func (m *reshaping) reopen(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("it is slow for some engines")
	}
	m.family.reopen()
}

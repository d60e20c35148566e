package worker_test

import (
	"log/slog"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// TestOneSeesForAllThatNothingIsLeft: of thousands of buckets whoever looks first sees what they
// hold; nobody else has to.
func TestOneSeesForAllThatNothingIsLeft(t *testing.T) {
	f := newFleet(t)
	m := f.state()
	m, _, err := f.Apply(t.Context(), m.ID, movement.Event{Happened: movement.PhaseBegun, Phase: m.Current().Key()})
	if err != nil {
		t.Fatal(err)
	}
	const digits = 3
	make := func(shard int, state work.State) string {
		t.Helper()
		i := work.Item{Index: "books", Shard: shard, End: 10, Cursor: 10}
		i.State = state
		key := work.ItemKey(m.ID, i.Name(), digits)
		if err := f.Make(t.Context(), key, i); err != nil {
			t.Fatal(err)
		}
		return key
	}
	make(0, work.Done)
	make(1, work.Failed)
	left := make(2, work.Waiting)
	find := func(s *worker.Search, name string) worker.Found {
		t.Helper()
		slot := worker.Slot{Driver: f.Driver, Worker: name, Logger: slog.New(slog.DiscardHandler)}
		found, err := s.Find(t.Context(), slot, &m, policy, digits)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	var one, other worker.Search
	if found := find(&one, "w1-0"); found.Key != left || found.Ended {
		t.Errorf("one item is free: %+v", found)
	}
	if err := f.Remove(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	want := worker.Found{Ended: true, All: 2, Failed: 1}
	if found := find(&one, "w1-0"); found != want {
		t.Errorf("all have ended: %+v", found)
	}
	make(3, work.Waiting) // where the other does not look any more
	if found := find(&other, "w2-0"); found != want {
		t.Errorf("what the first has seen holds for the second: %+v", found)
	}
}

package embedded

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// alone places one shard of an index.
type alone placement.Placement

func (a alone) Placement(context.Context, uint32) (placement.Placement, error) {
	return placement.Placement(a), nil
}

// TestACountIsOfTheStateThatItBeganWith: a shard may lose its range and get it back while its rows are
// counted; what it then estimates is not mended by a count that began before.
func TestACountIsOfTheStateThatItBeganWith(t *testing.T) {
	placed := placement.New(1, 1, placement.Local, placement.Change{By: "a test", Why: "counts"})
	e, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := e.Open(t.Context(), shard.ID{Index: 1, Number: 0}, alone(placed), shard.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(opened.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}()
	s := opened.(*local)
	counts := func(meanwhile func()) state {
		s.mu.Lock()
		s.state.estimated, s.state.within, s.state.docs, s.state.bytes = true, routing.Whole, 5, 500 // of which none is there
		s.mu.Unlock()
		e.counting <- struct{}{} // another shard is counted
		done := make(chan error)
		go func() { done <- s.countAgain(t.Context()) }()
		for waiting := false; !waiting; time.Sleep(time.Millisecond) {
			s.mu.Lock()
			waiting = len(s.views) > 1 // the count has taken its own
			s.mu.Unlock()
		}
		meanwhile()
		<-e.counting
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.state
	}
	if got := counts(func() {}); got.estimated || got.docs != 0 || got.bytes != 0 {
		t.Errorf("it is counted, and has %d documents of %d bytes", got.docs, got.bytes)
	}
	got := counts(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.readStored(e.db); err != nil {
			t.Error(err)
		}
		s.state.estimated, s.state.docs, s.state.bytes = true, 7, 700
	})
	if !got.estimated || got.docs != 7 || got.bytes != 700 {
		t.Errorf("a count of what it was makes it %d documents of %d bytes, estimated: %v", got.docs, got.bytes, got.estimated)
	}
}

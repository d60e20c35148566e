package coord_test

import (
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestScope: what lies beside it is neither seen nor touched.
func TestScope(t *testing.T) {
	ctx, whole := t.Context(), memory.New()
	revision, err := whole.Create(ctx, "index/7", []byte("7"))
	if err != nil {
		t.Fatal(err)
	}
	s := coord.Scope(whole, "movement/", "movements/")
	if _, err := s.Create(ctx, "movement/a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	if records, err := s.List(ctx, "movement/"); err != nil || len(records) != 1 {
		t.Error(records, err)
	}
	_, get := s.Get(ctx, "index/7")
	_, list := s.List(ctx, "")
	_, short := s.List(ctx, "move")
	_, create := s.Create(ctx, "index/8", nil)
	_, swap := s.Swap(ctx, "index/7", revision, nil)
	remove := s.Delete(ctx, "index/7", revision)
	var watch error
	for _, watch = range s.Watch(ctx, "", 0) {
	}
	for n, err := range []error{get, list, short, create, swap, remove, watch} {
		if !fault.Is(err, fault.Refused) {
			t.Errorf("call %d: %v", n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := whole.Get(ctx, "index/7"); err != nil || string(r.Value) != "7" {
		t.Error(r, err)
	}
}

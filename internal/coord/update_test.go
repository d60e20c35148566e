package coord_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
)

func give(value []byte) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return value, nil }
}

func TestUpdateMakesChangesAndLeavesAlone(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	same := func(value []byte) ([]byte, error) { return value, nil }
	for _, step := range []struct {
		what     string
		change   func([]byte) ([]byte, error)
		value    string
		revision int64
	}{
		{"nothing out of nothing", same, "", 0},
		{"a record", give([]byte("one")), "one", 1},
		{"the same", same, "one", 1},
		{"an equal one", give([]byte("one")), "one", 1},
		{"another", give([]byte("two")), "two", 2},
		{"an empty one", give([]byte{}), "", 3},
		{"the same empty one", same, "", 3},
		{"nil for an empty one", give(nil), "", 3},
	} {
		record, err := coord.Update(ctx, s, "a", step.change)
		if err != nil || record.Key != "a" || string(record.Value) != step.value || record.Revision != step.revision {
			t.Errorf("%s: %q at %d (%v), want %q at %d", step.what, record.Value, record.Revision, err, step.value, step.revision)
		}
		if at, _ := s.Revision(ctx); at != step.revision {
			t.Errorf("%s: the store is at %d, want %d", step.what, at, step.revision)
		}
	}
	if record, err := coord.Update(ctx, s, "b", give([]byte{})); err != nil || record.Revision != 4 {
		t.Errorf("an empty value out of nothing: %v, %v", record, err)
	}
}

func TestUpdateTellsNoneFromEmpty(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	for _, want := range []bool{true, false} {
		_, err := coord.Update(ctx, s, "a", func(value []byte) ([]byte, error) {
			if (value == nil) != want {
				t.Errorf("got %#v", value)
			}
			return []byte{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUpdatePassesErrorsOn(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	refusal := fault.New(fault.Conflict, "the name is taken") // of change, so it is no lost round
	rounds := 0
	_, err := coord.Update(ctx, s, "a", func([]byte) ([]byte, error) { rounds++; return []byte("v"), refusal })
	if !errors.Is(err, refusal) || rounds != 1 {
		t.Errorf("change's error: %v, after %d rounds", err, rounds)
	}
	if _, err := coord.Update(ctx, s, "", give(nil)); !fault.Is(err, fault.Refused) {
		t.Errorf("a wrong key: %v", err)
	}
	if _, err := coord.Update(ctx, s, "a", give(make([]byte, coord.MaxValue+1))); !fault.Is(err, fault.Limit) {
		t.Errorf("a value too long: %v", err)
	}
	if at, _ := s.Revision(ctx); at != 0 {
		t.Errorf("something was written: revision %d", at)
	}
}

// TestUpdateGoesOnWhenOthersWin: the record changes, goes and comes back under it.
func TestUpdateGoesOnWhenOthersWin(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	revision := int64(0)
	meanwhile := []func() error{
		func() (err error) { revision, err = s.Create(ctx, "a", []byte("theirs")); return err },
		func() (err error) { revision, err = s.Swap(ctx, "a", revision, []byte("changed")); return err },
		func() error { return s.Delete(ctx, "a", revision) },
		func() error { return nil },
	}
	var saw []string
	record, err := coord.Update(ctx, s, "a", func(value []byte) ([]byte, error) {
		err := meanwhile[len(saw)]()
		saw = append(saw, string(value))
		return append(value, "+mine"...), err
	})
	if want := []string{"", "theirs", "changed", ""}; err != nil || fmt.Sprint(saw) != fmt.Sprint(want) {
		t.Errorf("change saw %q (%v), want %q", saw, err, want)
	}
	if string(record.Value) != "+mine" {
		t.Errorf("the record is %q", record.Value)
	}

	ended, cancel := context.WithCancel(ctx)
	_, err = coord.Update(ended, s, "a", func(value []byte) ([]byte, error) {
		current, _ := s.Get(ctx, "a")
		_, err := s.Swap(ctx, "a", current.Revision, append(value, '!'))
		cancel()
		return append(value, '?'), err
	})
	if !fault.Is(err, fault.Interrupted) {
		t.Errorf("its context ended while others won: %v", err)
	}
}

func TestUpdatesTogetherLoseNothing(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	const writers, each = 16, 50
	var running sync.WaitGroup
	var rounds atomic.Int64
	for range writers {
		running.Go(func() {
			for range each {
				_, err := coord.Update(ctx, s, "counter", func(value []byte) ([]byte, error) {
					rounds.Add(1)
					n := 0
					_, _ = fmt.Sscan(string(value), &n)
					return fmt.Append(nil, n+1), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	record, err := s.Get(ctx, "counter")
	if err != nil || string(record.Value) != fmt.Sprint(writers*each) {
		t.Errorf("the counter is at %s (%v), want %d", record.Value, err, writers*each)
	}
	t.Logf("%d rounds for %d updates", rounds.Load(), writers*each)
}

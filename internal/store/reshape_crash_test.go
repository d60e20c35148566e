package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestAHandOffHappensWhollyOrNotAtAll interrupts hand-offs at every call of the coordination
// store, in each way: the process goes on, or it ends there and another begins.
func TestAHandOffHappensWhollyOrNotAtAll(t *testing.T) {
	for _, way := range []string{"split", "merge"} {
		for _, how := range []failure{
			{after: true}, {after: false}, {after: true, more: 1}, {after: false, more: 1}, {after: true, more: 5},
			{after: true, dead: true}, {after: false, dead: true},
		} {
			t.Run(fmt.Sprintf("%s %+v", way, how), func(t *testing.T) {
				for how.at = 1; interruptedHandOff(t, way, how); how.at++ {
					if how.at > 200 {
						t.Fatal("it never ends")
					}
				}
			})
		}
	}
}

func interruptedHandOff(t *testing.T, way string, how failure) (reached bool) {
	t.Helper()
	c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
	f := &frail{Store: c}
	s := open(t, f, e)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.CreateIndex(ctx, "i", []byte(`{"settings":{"refresh_interval":-1,"number_of_shards":2},"mappings":{"properties":{"n":{"type":"long"},"t":{"type":"text"},"k":{"type":"keyword"}}}}`)); err != nil {
		t.Fatal(err)
	}
	p, err := s.PlacementOf(ctx, "i")
	if err != nil {
		t.Fatal(err)
	}
	r := &reshaper{t, ctx, s, p.Index}
	r.put(60, counted)
	from, to := cut(p, 0, 2)
	if way == "merge" {
		from, to = join(p, 0, 1)
	}
	f.mu.Lock()
	f.calls, f.failure = 0, how
	f.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		h, err := s.HandOff(ctx, r.index, from, to, plenty, named(from, to))
		if err == nil {
			err = h.Staged.Close()
		}
		done <- err
	}()
	calls := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.calls
	}
	if how.dead {
		settle(t, "the process ends", func() bool { return calls() >= how.at || len(done) > 0 })
	} else {
		err = <-done
	}
	reached = calls() >= how.at
	place := fmt.Sprintf("%s %+v: %v", way, how, err)
	if !how.dead {
		f.mu.Lock()
		f.at = 0
		f.mu.Unlock()
		r.judge(place, p, to, err)
		if made := r.placed().Version > p.Version; made != (err == nil) {
			t.Errorf("%s: the caller was not told how it has ended", place)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if how.dead {
		err = <-done
		place = fmt.Sprintf("%s %+v: %v", way, how, err)
	}
	s = open(t, c, e)
	defer s.Close()
	r.store = s
	r.judge(place, p, to, err)
	return reached
}

// judge holds what is there against what there was, and what was to become of it.
func (r *reshaper) judge(place string, before placement.Placement, to []shard.Incarnation, told error) {
	r.Helper()
	now := r.placed()
	made := now.Version == before.Version+1
	for _, i := range to {
		row, is := now.Shard(i.Number)
		if made != (is && row.Range == i.Range && row.Term == i.Term) {
			r.Errorf("%s: there is\n%v", place, now)
		}
	}
	if told == nil && !made || !made && now.String() != before.String() {
		r.Errorf("%s: made %t, there is\n%v", place, made, now)
	}
	if n := len(r.ids(store.Where{})); n != 60 {
		r.Errorf("%s: %d documents are shown", place, n)
	}
	for _, w := range r.put(60, counted) {
		if w.Version < 2 {
			r.Errorf("%s: %+v", place, w)
		}
	}
	if n := len(r.ids(store.Where{})); n != 60 {
		r.Errorf("%s: then %d documents are shown", place, n)
	}
}

// TestAnIndexIsDeletedInEachStateOfAHandOff: the hand-off ends, and nothing is left.
func TestAnIndexIsDeletedInEachStateOfAHandOff(t *testing.T) {
	for _, state := range []string{"staged", "fenced", "handed over"} {
		t.Run(state, func(t *testing.T) {
			c, e := coordmemory.New(), &hooked{Engine: shardmemory.New(shardmemory.Options{})}
			r := reshaped(t, c, e, `"refresh_interval":-1`)
			r.put(20, counted)
			remove := func() {
				if err := r.store.DeleteIndices(r.ctx, expression([]string{"i"}, deleted)); err != nil {
					t.Error(err)
				}
			}
			from, to := cut(r.placed(), 0, 2)
			staged, err := r.store.Stage(r.ctx, r.index, from, to)
			if err != nil {
				t.Fatal(err)
			}
			switch state {
			case "staged":
				remove()
			case "fenced":
				e.stage = func(context.Context) error { remove(); return nil }
			}
			h, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, named(from, to))
			switch state {
			case "handed over":
				if err != nil {
					t.Fatal(err)
				}
				remove()
				if err := h.Staged.Close(); err != nil {
					t.Error(err)
				}
			default:
				if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Stale) {
					t.Errorf("%v", err)
				}
			}
			if err := staged.Close(); err != nil {
				t.Error(err)
			}
			settle(t, "nothing is left", func() bool {
				records, err := c.List(t.Context(), "placement/")
				held, holding := e.Indices(t.Context())
				return err == nil && holding == nil && len(records) == 0 && len(held) == 0
			})
			if _, err := r.store.Stage(r.ctx, r.index, from, to); !fault.Is(err, fault.NotFound) {
				t.Errorf("staged of an index that is gone: %v", err)
			}
		})
	}
}

// TestAHandOffGoesOnWhenItsCallerIsGone cancels the caller in the compare-and-set.
func TestAHandOffGoesOnWhenItsCallerIsGone(t *testing.T) {
	r := inMemory(t)
	r.put(20, counted)
	ctx, cancel := context.WithCancel(r.ctx)
	from, to := cut(r.placed(), 0, 2)
	h, err := r.store.HandOff(ctx, r.index, from, to, plenty, func(p placement.Placement, at map[uint32]int64) (placement.Placement, error) {
		cancel()
		return named(from, to)(p, at)
	})
	if err != nil || len(h.Placement.Shards) != 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	if err := h.Staged.Close(); err != nil {
		t.Error(err)
	}
	if n := len(r.ids(store.Where{})); n != 20 {
		t.Errorf("%d documents are shown", n)
	}
}

// TestAnotherChangeOfThePlacementIsNotLost changes it between a hand-off's reading and its
// writing: the hand-off is made of what is there then.
func TestAnotherChangeOfThePlacementIsNotLost(t *testing.T) {
	c := coordmemory.New()
	r := reshaped(t, c, shardmemory.New(shardmemory.Options{}), `"refresh_interval":-1`)
	r.put(20, counted)
	from, to := cut(r.placed(), 0, 2)
	asked := 0
	h, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, func(p placement.Placement, at map[uint32]int64) (placement.Placement, error) {
		if asked++; asked == 1 {
			record, err := c.Get(r.ctx, fmt.Sprint("placement/", r.index))
			if err != nil {
				return p, err
			}
			other := p
			other.Version, other.Transfer = p.Version+1, []byte(`{"movement":"m"}`)
			if _, err := c.Swap(r.ctx, record.Key, record.Revision, other.Encode()); err != nil {
				return p, err
			}
		}
		return named(from, to)(p, at)
	})
	if err != nil || asked != 2 || h.Placement.Version != 3 || string(h.Placement.Transfer) != `{"movement":"m"}` {
		t.Fatalf("asked %d times: %+v, %v", asked, h, err)
	}
	if err := errors.Join(h.Staged.Close()); err != nil {
		t.Error(err)
	}
}

// TestAnIndexIsDeletedUnderAChangeByQuery: the change reads the index, and waits for the turn
// that the deletion has.
func TestAnIndexIsDeletedUnderAChangeByQuery(t *testing.T) {
	r := inMemory(t)
	r.put(40, counted)
	_, err := r.store.Change(r.ctx, store.ByQuery{
		Where: store.Where{Expression: expression([]string{"i"}, searched)}, Request: search.NewRequest(), Batch: 20,
	}, func(p store.Progress) {
		if p.Batches > 1 {
			return
		}
		if err := r.store.DeleteIndices(r.ctx, expression([]string{"i"}, deleted)); err != nil {
			t.Error(err)
		}
	})
	if r.ctx.Err() != nil {
		t.Fatalf("it never ended: %v", err)
	}
}

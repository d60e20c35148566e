package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// What has gone wrong where others move shards, tried here; package proof lists who holds what.

func setN(id string, n int) document.Write {
	return document.Write{Target: "i", ID: id, Operation: document.Update, Change: &document.Change{Doc: fmt.Appendf(nil, `{"n":%d}`, n), DetectNoop: true}, Condition: document.Always}
}

// write writes one document, and expects it to be done.
func (r *reshaper) write(w document.Write) document.Written {
	r.Helper()
	answer := r.store.Write(r.ctx, []document.Write{w}, document.Eventually)[0]
	if answer.Err != nil {
		r.Fatalf("%v of %s: %v", w.Operation, w.ID, answer.Err)
	}
	return answer
}

// TestAnUpdateByAnOldPlacementSeesTheNewest reverts what somebody else has changed since: who
// read it from the old shard would find that there is nothing to do.
func TestAnUpdateByAnOldPlacementSeesTheNewest(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
		r.put(20, counted)
		r.split(0, 4)
		r.merge(1, 2)
		for version := int64(1); version <= 3; version++ {
			old := *r
			old.ctx = store.WithPlacement(r.ctx, version)
			for i := range 20 {
				id := fmt.Sprint(i)
				r.write(setN(id, 1000+i))
				if w := old.write(setN(id, i)); w.Outcome != document.Updated {
					t.Errorf("by version %d, %s was not changed back: %v", version, id, w.Outcome)
				}
				if w := old.write(setN(id, i)); w.Outcome != document.Noop {
					t.Errorf("by version %d, what %s is was written again: %v", version, id, w.Outcome)
				}
				if found := r.get(id); string(found.Source) != counted(i) {
					t.Errorf("by version %d, %s became %s", version, id, found.Source)
				}
			}
		}
	})
}

// failing is an engine of which one shard takes no writes any more.
type failing struct {
	*shardmemory.Engine
	number uint32
	broken bool
}

type failingShard struct {
	shard.Shard
	of *failing
}

func (f *failing) Open(ctx context.Context, id shard.ID, p shard.Placements, s shard.Settings) (shard.Shard, error) {
	sh, err := f.Engine.Open(ctx, id, p, s)
	if err != nil || id.Number != f.number {
		return sh, err
	}
	return &failingShard{sh, f}, nil
}

func (f *failingShard) Write(ctx context.Context, epoch int64, ops []shard.Op) []shard.Result {
	if !f.of.broken || epoch != f.Placed().Epoch {
		return f.Shard.Write(ctx, epoch, ops)
	}
	results := make([]shard.Result, len(ops))
	for i := range results {
		results[i].Err = fault.New(fault.Unavailable, "the disk is gone")
	}
	return results
}

// TestHalfOfABulkFails: one that straddles a split by an old placement, and of whose shards one
// cannot write. Each item is answered by itself: nothing is acknowledged that is not there.
func TestHalfOfABulkFails(t *testing.T) {
	for number := range uint32(2) {
		t.Run(fmt.Sprint("shard ", number), func(t *testing.T) {
			e := &failing{Engine: shardmemory.New(shardmemory.Options{}), number: number}
			r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
			r.put(40, counted)
			r.split(0, 2)
			e.broken = true
			var writes []document.Write
			for i := range 80 {
				w := document.Write{Target: "i", ID: fmt.Sprint(i), Source: []byte(counted(1000)), Condition: document.Always}
				if i%4 == 3 {
					w.Operation, w.Source = document.Delete, nil
				}
				writes = append(writes, w)
			}
			told := [2]int{}
			for i, w := range r.store.Write(store.WithPlacement(r.ctx, 1), writes, document.Eventually) {
				found := r.get(writes[i].ID)
				wants, was := counted(1000), ""
				if writes[i].Operation == document.Delete {
					wants = ""
				}
				if i < 40 {
					was = counted(i)
				}
				switch {
				case w.ID != writes[i].ID:
					t.Errorf("item %d is answered for %q", i, w.ID)
				case w.Err == nil && string(found.Source) != wants:
					t.Errorf("%s was acknowledged and is %q", w.ID, found.Source)
				case w.Err != nil && (!contains(w.Err, "the disk is gone") || string(found.Source) != was):
					t.Errorf("%s was refused with %v and is %q", w.ID, w.Err, found.Source)
				case w.Err == nil:
					told[0]++
				default:
					told[1]++
				}
			}
			if told[0] < 20 || told[1] < 20 {
				t.Errorf("%d were acknowledged and %d refused", told[0], told[1])
			}
		})
	}
}

// TestOfTwoHandOffsOfOneShardOneHappens: they are asked for by the same placement, one to split
// the shard and one to join it with its neighbour.
func TestOfTwoHandOffsOfOneShardOneHappens(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(80, counted)
		for round := range 8 {
			p := r.placed()
			splitFrom, splitTo := cut(p, p.Shards[0].Number, 2)
			joinFrom, joinTo := join(p, 0, 1)
			var both sync.WaitGroup
			var errs [2]error
			for i, do := range []func() (store.HandedOff, error){
				func() (store.HandedOff, error) {
					return r.store.HandOff(r.ctx, r.index, splitFrom, splitTo, plenty, named(splitFrom, splitTo))
				},
				func() (store.HandedOff, error) {
					return r.store.HandOff(r.ctx, r.index, joinFrom, joinTo, plenty, named(joinFrom, joinTo))
				},
			} {
				both.Go(func() {
					h, err := do()
					if errs[i] = err; err == nil {
						errs[i] = h.Staged.Close()
					}
				})
			}
			both.Wait()
			now := r.placed()
			if (errs[0] == nil) == (errs[1] == nil) || now.Version != p.Version+1 {
				t.Fatalf("round %d: to split: %v; to join: %v; there is\n%v", round, errs[0], errs[1], now)
			}
			if err := now.Check(); err != nil {
				t.Fatal(err)
			}
			r.put(80, counted)
			if n := len(r.ids(store.Where{})); n != 80 {
				t.Fatalf("round %d: %d documents are shown", round, n)
			}
			if err := r.store.Unstage(r.ctx, r.index); err != nil {
				t.Fatal(err)
			}
			if len(now.Shards) == 1 {
				r.split(now.Shards[0].Number, 2)
			}
		}
	})
}

// TestAHandOffTouchesNoOtherShard asks the neighbour of a shard, and another index, while the
// shard is fenced.
func TestAHandOffTouchesNoOtherShard(t *testing.T) {
	e := &hooked{Engine: shardmemory.New(shardmemory.Options{})}
	r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
	r.put(40, counted)
	p, asked := r.placed(), 0
	e.stage = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for i := range 40 {
			id := fmt.Sprint(i)
			if p.Owner(routing.KeyOf(id, "", 0)).Number != 1 {
				continue
			}
			asked++
			w := r.store.Write(ctx, []document.Write{{Target: "i", ID: id, Source: []byte(counted(i)), Condition: document.Always}}, document.AtOnce)[0]
			found, err := r.store.Get(ctx, document.Read{Target: "i", ID: id, Version: document.Unset})
			if err := errors.Join(w.Err, err); err != nil || found.Version != 2 {
				t.Errorf("%s of a shard that nobody moves: %+v, %v", id, found, err)
			}
		}
		return put(ctx, r.store, "elsewhere", "1", `{}`)
	}
	r.become(cut(p, 0, 2))
	if now := r.placed(); asked == 0 || now.Shards[2] != p.Shards[1] {
		t.Errorf("%d were asked; there is\n%v", asked, now)
	}
}

// TestWhoWaitsIsLetGoEachTime has requests wait behind two fences that end with nothing changed,
// and behind one that changes the owner: all are answered, and what comes then waits for nothing.
func TestWhoWaitsIsLetGoEachTime(t *testing.T) {
	e := &hooked{Engine: shardmemory.New(shardmemory.Options{})}
	r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
	r.put(30, counted)
	from, to := cut(r.placed(), 0, 3)
	for try := range 3 {
		var waiting sync.WaitGroup
		e.stage = func(ctx context.Context) error {
			for i := range 30 {
				id := fmt.Sprint(i)
				waiting.Go(func() {
					if w := r.store.Write(r.ctx, []document.Write{{Target: "i", ID: id, Source: []byte(counted(try)), Condition: document.Always}}, document.AtOnce)[0]; w.Err != nil || w.Version != int64(try)+2 {
						t.Errorf("try %d, %s: %+v", try, id, w)
					}
				})
			}
			if try < 2 {
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		budget := 50 * time.Millisecond
		if try == 2 {
			budget = plenty
		}
		h, err := r.store.HandOff(r.ctx, r.index, from, to, budget, named(from, to))
		if over := (*store.OverBudget)(nil); try < 2 != errors.As(err, &over) || try == 2 && err != nil {
			t.Fatalf("try %d: %v", try, err)
		}
		waiting.Wait()
		if try == 2 {
			if err := h.Staged.Close(); err != nil {
				t.Error(err)
			}
		}
		begun := time.Now()
		for i := range 30 {
			if found := r.get(fmt.Sprint(i)); found.Version != int64(try)+2 {
				t.Errorf("try %d: %d is %+v", try, i, found)
			}
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("try %d: gets took %v", try, took)
		}
	}
}

// TestWhatAFailedMergeStagedDoesNotCountForTheNext: between the two, documents are written and
// deleted in both shards.
func TestWhatAFailedMergeStagedDoesNotCountForTheNext(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(60, counted)
		from, to := join(r.placed(), 0, 1)
		refusal := errors.New("not now")
		if _, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, func(p placement.Placement, _ map[uint32]int64) (placement.Placement, error) { return p, refusal }); !errors.Is(err, refusal) {
			t.Fatal(err)
		}
		for i := range 60 {
			w := document.Write{Target: "i", ID: fmt.Sprint(i), Source: []byte(counted(500 + i)), Condition: document.Always}
			if i%3 == 0 {
				w.Operation, w.Source = document.Delete, nil
			}
			r.write(w)
			r.write(document.Write{Target: "i", ID: fmt.Sprint("new", i), Operation: document.Create, Source: []byte(counted(i)), Condition: document.Always})
		}
		r.become(from, to)
		for i := range 60 {
			want := counted(500 + i)
			if i%3 == 0 {
				want = ""
			}
			if found := r.get(fmt.Sprint(i)); string(found.Source) != want {
				t.Errorf("%d is %q, expected %q", i, found.Source, want)
			}
		}
		if n := len(r.ids(store.Where{})); n != 100 {
			t.Errorf("%d documents are shown", n)
		}
	})
}

// TestOneIDUnderTwoRoutingsStaysTwoDocuments, in one shard and in several: no merge makes one of
// them, and the deletion of one leaves the other.
func TestOneIDUnderTwoRoutingsStaysTwoDocuments(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
		ways := []string{"", "a", "b", "c", "d", "e", "f"}
		there := map[string]bool{}
		check := func(step string) {
			t.Helper()
			exist := 0
			for _, way := range ways {
				found, err := r.store.Get(r.ctx, document.Read{Target: "i", ID: "1", Routing: way, Version: document.Unset})
				if want := fmt.Sprintf(`{"k":%q}`, way); err != nil || found.Exists != there[way] || found.Exists && (string(found.Source) != want || found.Routing != way) {
					t.Errorf("%s: by %q there is %+v, %v", step, way, found, err)
				}
				if there[way] {
					exist++
				}
			}
			if _, err := r.store.Refresh(r.ctx, expression([]string{"i"}, shown)); err != nil {
				t.Fatal(err)
			}
			total, _, err := r.store.Count(r.ctx, store.Where{Expression: expression([]string{"i"}, searched)}, nil)
			if err != nil || total != int64(exist) {
				t.Errorf("%s: %d are counted instead of %d, %v", step, total, exist, err)
			}
		}
		for _, way := range ways {
			r.write(document.Write{Target: "i", ID: "1", Routing: way, Source: fmt.Appendf(nil, `{"k":%q}`, way), Condition: document.Always})
			there[way] = true
		}
		check("written")
		r.split(0, 5)
		check("split")
		r.write(document.Write{Target: "i", ID: "1", Routing: "b", Operation: document.Delete, Condition: document.Always})
		there["b"] = false
		check("deleted")
		r.merge(0, 4)
		check("merged")
		r.write(document.Write{Target: "i", ID: "1", Operation: document.Delete, Condition: document.Always})
		there[""] = false
		check("deleted again")
	})
}

// TestAShardGivesAndTakesInTurn: it hands a range off and gets it back, again and again, with
// nothing done in between that would settle; what the other one wrote and deleted stays so.
func TestAShardGivesAndTakesInTurn(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
		r.put(60, counted)
		want := map[string]string{}
		for i := range 60 {
			want[fmt.Sprint(i)] = counted(i)
		}
		for round := range 10 {
			r.split(r.placed().Shards[0].Number, 2)
			for i := round; i < 60; i += 7 {
				id := fmt.Sprint(i)
				w := document.Write{Target: "i", ID: id, Source: []byte(counted(100*round + i)), Condition: document.Always}
				if want[id] = string(w.Source); (i+round)%2 == 0 {
					w.Operation, w.Source, want[id] = document.Delete, nil, ""
				}
				r.write(w)
			}
			r.merge(0, 1)
		}
		var left []string
		for id, source := range want {
			if found := r.get(id); string(found.Source) != source {
				t.Errorf("%s is %q, expected %q", id, found.Source, source)
			}
			if source != "" {
				left = append(left, id)
			}
		}
		if _, err := r.store.Refresh(r.ctx, expression([]string{"i"}, shown)); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(left); !slices.Equal(r.ids(store.Where{}), left) {
			t.Errorf("%v are shown, expected %v", r.ids(store.Where{}), left)
		}
		if p := r.placed(); len(p.Shards) != 1 || p.Next != 11 || p.Version != 21 {
			t.Errorf("there is\n%v", p)
		}
	})
}

// TestAHandOffThatIsToldTwiceHappensOnce: the second, of shards that are not as it says any more,
// changes nothing.
func TestAHandOffThatIsToldTwiceHappensOnce(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(60, counted)
		for _, way := range []string{"split", "merge"} {
			from, to := cut(r.placed(), 0, 2)
			if way == "merge" {
				from, to = join(r.placed(), 0, 2)
			}
			h := r.become(from, to)
			w := r.put(60, counted)
			late, err := r.store.HandOff(r.ctx, r.index, from, to, plenty, named(from, to))
			if err == nil {
				err = late.Staged.Close()
				t.Errorf("%s: it was told twice, and nobody minds: %v", way, err)
			}
			if now := r.placed(); now.String() != h.Placement.String() {
				t.Errorf("%s: it has changed to\n%v", way, now)
			}
			for i := range 60 {
				if found := r.get(fmt.Sprint(i)); found.Versions != w[i].Versions {
					t.Errorf("%s: %d is %+v, was %+v", way, i, found, w[i])
				}
			}
			if n := len(r.ids(store.Where{})); n != 60 {
				t.Errorf("%s: %d are shown", way, n)
			}
		}
	})
}

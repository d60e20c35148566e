package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// onEach runs a test on each engine.
func onEach(t *testing.T, run func(t *testing.T, e shard.Engine)) {
	t.Run("memory", func(t *testing.T) { run(t, shardmemory.New(shardmemory.Options{})) })
	t.Run("embedded", func(t *testing.T) {
		e, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		run(t, e)
	})
}

// TestClientsSeeNothingOfSplitsAndMerges has clients write, get and search while shards are
// split and merged. Some documents never change: every search shows each of them once.
func TestClientsSeeNothingOfSplitsAndMerges(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":"5ms","number_of_shards":2`)
		r.put(100, counted)
		ctx, stop := context.WithCancel(r.ctx)
		var clients sync.WaitGroup
		defer clients.Wait()
		defer stop()
		mine := make([]map[string]int64, 3) // the version of each document that a client has written
		for c := range mine {
			mine[c] = map[string]int64{}
			clients.Go(func() { r.client(ctx, c, mine[c]) })
		}
		clients.Go(func() { r.searcher(ctx) })
		clients.Go(func() { r.getter(ctx) })
		dice := rand.New(rand.NewPCG(7, 7))
		rounds := 30
		if testing.Short() {
			rounds = 8
		}
		for range rounds {
			if p := r.placed(); len(p.Shards) < 6 && dice.IntN(2) == 0 || len(p.Shards) < 2 {
				r.split(p.Shards[dice.IntN(len(p.Shards))].Number, 2+dice.IntN(2))
			} else {
				first := dice.IntN(len(p.Shards) - 1)
				r.merge(first, min(first+1+dice.IntN(2), len(p.Shards)-1))
			}
			time.Sleep(time.Duration(dice.IntN(5)) * time.Millisecond)
		}
		stop()
		clients.Wait()
		if _, err := r.store.Refresh(r.ctx, expression([]string{"i"}, shown)); err != nil {
			t.Fatal(err)
		}
		shown := map[string]bool{}
		for _, id := range r.ids(store.Where{}) {
			shown[id] = true
		}
		left := 100
		for _, documents := range mine {
			for id, version := range documents {
				found := r.get(id)
				if found.Exists != (version > 0) || found.Exists && found.Version != version || shown[id] != found.Exists {
					t.Errorf("%s: %+v, shown %t, the last that was acknowledged is version %d", id, found.Versions, shown[id], version)
				}
				if version > 0 {
					left++
				}
			}
		}
		if len(shown) != left {
			t.Errorf("%d documents are shown, %d are there", len(shown), left)
		}
	})
}

// client writes documents that nobody else writes: in bulks, each on the condition that what
// it has written last is there. A version of 0 is a document that is deleted, minus 1 one
// that must be made anew.
func (r *reshaper) client(ctx context.Context, name int, mine map[string]int64) {
	dice := rand.New(rand.NewPCG(1, uint64(name)))
	versions := map[string]document.Versions{}
	for ctx.Err() == nil {
		var writes []document.Write
		for i := range 1 + dice.IntN(30) {
			id := fmt.Sprint("c", name, "-", (i*7+dice.IntN(7))%200)
			w := document.Write{Target: "i", ID: id, Source: []byte(counted(dice.IntN(50))), Condition: document.Always}
			if slices.ContainsFunc(writes, func(o document.Write) bool { return o.ID == id }) {
				continue
			}
			switch v, known := versions[id]; {
			case !known:
				w.Operation = document.Create
			case mine[id] > 0 && dice.IntN(4) == 0:
				w.Operation, w.Source = document.Delete, nil
			case mine[id] > 0 && dice.IntN(3) == 0:
				w.Operation, w.Source = document.Update, nil
				w.Change = &document.Change{Doc: []byte(fmt.Sprintf(`{"n":%d}`, 1000+dice.IntN(1000000)))}
			case mine[id] > 0:
				w.Condition.SeqNo, w.Condition.PrimaryTerm = v.SeqNo, v.PrimaryTerm
			}
			writes = append(writes, w)
		}
		for i, w := range r.store.Write(r.ctx, writes, document.Eventually) {
			id := writes[i].ID
			was := versions[id]
			switch {
			case w.Err != nil:
				r.Errorf("%v of %s: %v", writes[i].Operation, id, w.Err)
				return
			case w.ID != id, w.Version != was.Version+1, w.SeqNo <= was.SeqNo && was.PrimaryTerm > 0, w.PrimaryTerm < was.PrimaryTerm:
				r.Errorf("%v of %s: %+v after %+v", writes[i].Operation, id, w, was)
				return
			}
			versions[id], mine[id] = w.Versions, w.Version
			if writes[i].Operation == document.Delete {
				mine[id] = 0
			}
		}
	}
}

// searcher looks for the documents that do not change.
func (r *reshaper) searcher(ctx context.Context) {
	for ctx.Err() == nil {
		request := search.NewRequest()
		request.Size, request.TrackTotal = 5000, -1
		found, err := r.store.Find(r.ctx, store.Where{Expression: expression([]string{"i"}, searched)}, request)
		if err != nil {
			r.Error(err)
			return
		}
		seen := map[string]int{}
		for _, h := range found.Hits {
			seen[h.ID]++
			if _, err := found.Document(r.ctx, &h, false); err != nil {
				r.Error(err)
			}
		}
		for id, n := range seen {
			if n > 1 {
				r.Errorf("%s is shown %d times", id, n)
			}
		}
		for i := range 100 {
			if seen[fmt.Sprint(i)] != 1 {
				r.Errorf("%d is shown %d times", i, seen[fmt.Sprint(i)])
			}
		}
		if found.Total != int64(len(seen)) {
			r.Errorf("%d documents were counted, %d are shown", found.Total, len(seen))
		}
		if err := found.Close(); err != nil {
			r.Error(err)
		}
	}
}

// getter gets the documents that do not change, counts, refreshes and asks how it is.
func (r *reshaper) getter(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprint(i % 100)
		for _, read := range []document.Read{{Target: "i", ID: id, Version: document.Unset}, {Target: "i", ID: id, Version: 1, Searched: true}} {
			if found, err := r.store.Get(r.ctx, read); err != nil || !found.Exists || found.Version != 1 {
				r.Errorf("get %s: %+v, %v", id, found, err)
				return
			}
		}
		if i%10 > 0 {
			continue
		}
		e := expression([]string{"i"}, shown)
		_, refreshed := r.store.Refresh(r.ctx, e)
		_, flushed := r.store.Flush(r.ctx, e)
		status, told := r.store.Status(r.ctx, e)
		shelves, placed := r.store.PlacementView(r.ctx, "i")
		if err := errors.Join(refreshed, flushed, told, placed); err != nil {
			r.Error(err)
			return
		}
		docs := int64(0)
		for _, sh := range status[0].Shards {
			docs += sh.Docs
		}
		if docs < 100 || len(shelves.Shards) == 0 {
			r.Errorf("%d documents in %+v", docs, status[0].Shards)
		}
	}
}

// TestWhatStraddlesAHandOffIsAnsweredAsElsewhere sends requests behind the fence.
func TestWhatStraddlesAHandOffIsAnsweredAsElsewhere(t *testing.T) {
	e := &hooked{Engine: shardmemory.New(shardmemory.Options{})}
	r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
	before := r.put(60, counted)
	var writes []document.Write
	for i := range 120 { // two thirds are there
		id := fmt.Sprint(30 + i%60)
		writes = append(writes, document.Write{Target: "i", ID: id, Operation: document.Create, Source: []byte(counted(i)), Condition: document.Always})
	}
	writes = append(writes, document.Write{Target: "i", ID: "0", Operation: document.Update, Change: &document.Change{Doc: []byte(`{"k":"changed"}`)}, Condition: document.Always},
		document.Write{Target: "i", ID: "1", Operation: document.Delete, Condition: document.Condition{SeqNo: before[1].SeqNo, PrimaryTerm: 1, Version: document.Unset}},
		document.Write{Target: "i", ID: "2", Operation: document.Delete, Condition: document.Condition{SeqNo: before[1].SeqNo, PrimaryTerm: 1, Version: document.Unset}})
	var answers []document.Written
	var found document.Found
	var getting error
	var shownThen []string
	var waiting sync.WaitGroup
	e.stage = func(context.Context) error {
		waiting.Go(func() { answers = r.store.Write(r.ctx, writes, document.AtOnce) })
		waiting.Go(func() {
			found, getting = r.store.Get(r.ctx, document.Read{Target: "i", ID: "59", Version: document.Unset})
		})
		waiting.Go(func() { shownThen = r.ids(store.Where{}) })
		time.Sleep(20 * time.Millisecond) // most are waiting then; who is late is answered all the same
		return nil
	}
	h := r.become(cut(r.placed(), 0, 3))
	waiting.Wait()
	if getting != nil || !found.Exists || len(shownThen) < 60 {
		t.Errorf("%+v, %v, %d", found, getting, len(shownThen))
	}
	for i, a := range answers[:120] {
		n := 30 + i%60
		if wanted := i < 60 && n >= 60; wanted != (a.Err == nil) || !wanted && !exception.Is(a.Err, exception.VersionConflict) || a.ID != fmt.Sprint(n) {
			t.Errorf("create %d: %+v", n, a)
		} else if wanted && (a.Version != 1 || !a.Refreshed) {
			t.Errorf("create %d: %+v", n, a)
		}
	}
	if a := answers[120]; a.Err != nil || a.Version != 2 || a.Outcome != document.Updated {
		t.Errorf("update: %+v", a)
	}
	if a := answers[121]; a.Err != nil || a.Outcome != document.Deleted {
		t.Errorf("delete: %+v", a)
	}
	if a := answers[122]; !exception.Is(a.Err, exception.VersionConflict) {
		t.Errorf("delete of another version: %+v", a)
	}
	if ids := r.ids(store.Where{}); len(ids) != 89 {
		t.Errorf("%d documents are shown", len(ids))
	}
	waited := int64(0)
	for _, n := range h.Waits().Counts {
		waited += n
	}
	if waited < 2 || h.Waits().Longest > h.Pause+10*time.Second { // who waited goes on when the machine lets it
		t.Errorf("%d requests waited, at most %v of %v", waited, h.Waits().Longest, h.Pause)
	}
}

func TestWhoWaitsForARefreshIsToldByTheHandOff(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(20, counted)
		answers := make(chan []document.Written, 1)
		go func() {
			var writes []document.Write
			for i := range 20 {
				writes = append(writes, document.Write{Target: "i", ID: fmt.Sprint("new", i), Source: []byte(counted(i)), Condition: document.Always})
			}
			answers <- r.store.Write(r.ctx, writes, document.Awaited)
		}()
		settle(t, "the documents are written", func() bool { return r.get("new0").Exists && r.get("new19").Exists })
		r.merge(0, 1)
		for _, a := range <-answers {
			if a.Err != nil {
				t.Error(a.Err)
			}
		}
		if ids := r.ids(store.Where{}); len(ids) != 40 {
			t.Errorf("%d documents are shown", len(ids))
		}
	})
}

func TestPointsAndScrollsGoOnOverSplits(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(90, counted)
		where := store.Where{Expression: expression([]string{"i"}, searched)}
		point, err := r.store.OpenPoint(r.ctx, where.Expression, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		request := search.NewRequest()
		request.Size = 10
		page, err := r.store.Scroll(r.ctx, where, request, time.Hour, nil)
		seen := map[string]bool{}
		for n := 0; ; n++ {
			if err != nil {
				t.Fatal(err)
			}
			hits := len(page.Hits)
			for _, h := range page.Hits {
				if seen[h.ID] {
					t.Errorf("%s is on two pages", h.ID)
				}
				if row, err := page.Document(r.ctx, &h, false); err != nil || string(row.Source) == "" {
					t.Errorf("%s: %v, %v", h.ID, row, err)
				}
				seen[h.ID] = true
			}
			id := page.Scroll
			if err := page.Close(); err != nil {
				t.Fatal(err)
			}
			if hits == 0 {
				break
			}
			switch n {
			case 1:
				r.split(0, 3)
			case 3:
				r.merge(0, 3)
				r.put(5, counted)
				if err := put(r.ctx, r.store, "i", "later", counted(1)); err != nil {
					t.Fatal(err)
				}
			case 5:
				r.split(0, 2)
			}
			page, err = r.store.NextPage(r.ctx, id, 0)
		}
		if len(seen) != 90 {
			t.Errorf("the scroll has shown %d documents", len(seen))
		}
		if ids := r.ids(store.Where{Point: point.ID}); len(ids) != 90 || slices.Contains(ids, "later") {
			t.Errorf("the point shows %v", ids)
		}
		// The shards that own nothing any more are read in the point, and in nothing else.
		if err := r.store.ForgetShards(r.ctx, r.index, []uint32{1}); err != nil {
			t.Error(err)
		}
		if err := e.Forget(r.ctx, shard.ID{Index: r.index, Number: 1}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a shard was closed that a point reads: %v", err)
		}
		for _, scrolling := range []bool{false, true} {
			if _, err := r.store.ClosePoints(nil, scrolling); err != nil {
				t.Error(err)
			}
		}
		settle(t, "what owns nothing is forgotten", func() bool { return r.allClosed(e, 1, 2, 3) })
	})
}

// allClosed forgets shards that own nothing; false: one of them is open.
func (r *reshaper) allClosed(e shard.Engine, numbers ...uint32) bool {
	r.Helper()
	if err := r.store.ForgetShards(r.ctx, r.index, numbers); err != nil {
		r.Fatal(err)
	}
	return !slices.ContainsFunc(numbers, func(n uint32) bool { return e.Forget(r.ctx, shard.ID{Index: r.index, Number: n}) != nil })
}

// forgetting is an engine that remembers which shards it has forgotten.
type forgetting struct {
	shard.Engine
	forgotten sync.Map
}

func (f *forgetting) Forget(ctx context.Context, id shard.ID) error {
	err := f.Engine.Forget(ctx, id)
	if err == nil {
		f.forgotten.Store(id.Number, true)
	}
	return err
}

// TestWhoReadsAShardIsNotWaitedFor: one that owns nothing any more is forgotten when the last
// point in which it is read has ended, and nobody has to ask for it again.
func TestWhoReadsAShardIsNotWaitedFor(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		f := &forgetting{Engine: e}
		r := reshaped(t, coordmemory.New(), f, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(20, counted)
		point, err := r.store.OpenPoint(r.ctx, expression([]string{"i"}, searched), "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		r.merge(0, 1)
		if err := r.store.ForgetShards(r.ctx, r.index, []uint32{1}); err != nil {
			t.Fatal(err)
		}
		if ids := r.ids(store.Where{Point: point.ID}); len(ids) != 20 {
			t.Errorf("the point shows %v", ids)
		}
		if _, early := f.forgotten.Load(uint32(1)); early {
			t.Error("a shard was forgotten that a point reads")
		}
		if _, err := r.store.ClosePoints([]string{point.ID}, false); err != nil {
			t.Fatal(err)
		}
		settle(t, "what owns nothing is forgotten", func() bool { _, is := f.forgotten.Load(uint32(1)); return is })
	})
}

// TestAChangeByQueryGoesOnOverSplits changes all documents once, while shards are split.
func TestAChangeByQueryGoesOnOverSplits(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1`)
		r.put(200, counted)
		batches := 0
		p, err := r.store.Change(r.ctx, store.ByQuery{
			Where: store.Where{Expression: expression([]string{"i"}, searched)}, Request: search.NewRequest(), Batch: 20, Refresh: true,
		}, func(store.Progress) {
			switch batches++; batches {
			case 2:
				r.split(0, 3)
			case 4:
				r.merge(0, 1)
			case 6:
				r.merge(0, 1)
			}
		})
		if err != nil || p.Updated != 200 || p.Conflicts != 0 || len(p.Failures) != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		for i := range 200 {
			if found := r.get(fmt.Sprint(i)); found.Version != 2 {
				t.Errorf("%d has version %d", i, found.Version)
			}
		}
		if ids := r.ids(store.Where{}); len(ids) != 200 {
			t.Errorf("%d documents are shown", len(ids))
		}
	})
}

// TestRoutersWithOldPlacementsAreAnsweredRight asks by every placement that there was, while
// shards are split and merged and when they have been.
func TestRoutersWithOldPlacementsAreAnsweredRight(t *testing.T) {
	onEach(t, func(t *testing.T, e shard.Engine) {
		r := reshaped(t, coordmemory.New(), e, `"refresh_interval":-1,"number_of_shards":2`)
		r.put(60, counted)
		for round, reshape := range []func(){
			func() { r.split(0, 3) }, func() { r.merge(1, 2) }, func() { r.split(1, 2) }, func() { r.merge(0, len(r.placed().Shards)-1) }, func() {},
		} {
			var change sync.WaitGroup
			change.Go(reshape)
			newest := int64(round + 1)
			for version := int64(1); version <= newest; version++ {
				old := *r
				old.ctx = store.WithPlacement(r.ctx, version)
				if n := len(old.ids(store.Where{})); n != 60 {
					t.Errorf("by version %d of %d, %d documents are shown", version, newest, n)
				}
				for i := range 60 {
					if found := old.get(fmt.Sprint(i)); !found.Exists || found.Version < 1 {
						t.Errorf("by version %d of %d, %d is %+v", version, newest, i, found)
					}
				}
				for i, w := range old.put(60, counted) {
					if found := r.get(fmt.Sprint(i)); found.Versions != w.Versions || w.Outcome != document.Updated {
						t.Errorf("by version %d of %d, %d was written as %+v and is %+v", version, newest, i, w, found)
					}
				}
				total, _, err := r.store.Count(old.ctx, store.Where{Expression: expression([]string{"i"}, searched)}, nil)
				if err != nil || total != 60 {
					t.Errorf("by version %d of %d, %d are counted: %v", version, newest, total, err)
				}
			}
			change.Wait()
		}
		// When what owns nothing has been forgotten, the oldest are told so still.
		settle(t, "what owns nothing is forgotten", func() bool { return r.allClosed(e, 1, 2, 3, 4) })
		for version := int64(1); version <= 5; version++ {
			old := *r
			old.ctx = store.WithPlacement(r.ctx, version)
			if w := old.put(60, counted); w[0].Outcome != document.Updated || len(old.ids(store.Where{})) != 60 {
				t.Errorf("by version %d, of which shards are forgotten: %+v", version, w[0])
			}
			if found := old.get("7"); found.Version < 2 {
				t.Errorf("by version %d, of which shards are forgotten: %+v", version, found)
			}
		}
		_, err := r.store.Get(store.WithPlacement(r.ctx, 99), document.Read{Target: "i", ID: "1", Version: document.Unset})
		if !exception.Is(err, exception.IllegalArgument) {
			t.Errorf("by a version that never was: %v", err)
		}
	})
}

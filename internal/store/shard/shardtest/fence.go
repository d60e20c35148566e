package shardtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var fences = []test{
	{"nobody is admitted, and nothing applied, within a deadline", fencedDeadline},
	{"who waits is admitted after the release", fencedWaiters},
	{"who waited is told of the move", fencedMove},
	{"who waited is told that the shard is no longer named", fencedUnnamed},
	{"a release that is called again lifts no later fence", releaseOnce},
	{"a release that cannot read the placement leaves the shard fenced", releaseFails},
	{"a reload lifts no fence", reloadLiftsNoFence},
	{"a second fence waits for the first", secondFence},
	{"the last sequence number stays the last", fenceUnderWrites},
	{"refreshes, changes, holds and readers go on", fencedReading},
	{"a large write is cut, not torn", fencedLargeWrite},
	{"a cancelled fence leaves none behind", cancelledFence},
}

// fence puts one up that is down at the end of the test at the latest.
func (k *talk) fence() (seqNo int64, release func()) {
	k.Helper()
	seqNo, lift, err := k.shard.Fence(k.ctx)
	k.must(err)
	s := k.shard
	release = func() {
		k.Helper()
		k.must(lift(k.ctx))
	}
	k.Cleanup(func() {
		if k.shard == s {
			_ = lift(k.ctx)
		}
	})
	return seqNo, release
}

// fenced expects that no request is admitted.
func (k *talk) fenced() {
	k.Helper()
	before := k.shard.Stats().SeqNo
	for _, r := range k.shard.Write(k.soon(), k.epoch(), []shard.Op{indexed("fenced", `{}`), deleted("there")}) {
		k.unavailable(r.Err)
	}
	_, _, err := k.shard.Get(k.soon(), k.epoch(), ref("there"))
	k.unavailable(err)
	r, err := k.shard.Acquire(k.soon(), k.epoch())
	k.unavailable(err)
	if err == nil {
		r.Close()
	}
	if s := k.shard.Stats(); s.SeqNo != before {
		k.Fatalf("a fenced write was applied: %d, before %d", s.SeqNo, before)
	}
}

func fencedDeadline(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`))
	seqNo, release := k.fence()
	if seqNo != 0 {
		t.Fatalf("the last sequence number is %d", seqNo)
	}
	k.fenced()
	release()
	k.absent("fenced")
	k.expect("there", `{}`)
	if r := k.write(indexed("a", `{}`)); r.SeqNo != 1 {
		t.Fatalf("%+v", r)
	}
}

// waiters are requests that were begun behind a fence.
type waiters struct {
	done               chan struct{}
	results            []shard.Result
	found              bool // by the get
	getting, acquiring error
}

// wait begins a write, a get and an acquire under the shard's epoch, which may be
// waiting when it returns.
func (k *talk) wait() *waiters {
	w := &waiters{done: make(chan struct{})}
	s, epoch := k.shard, k.epoch()
	var started, ended sync.WaitGroup
	for _, ask := range []func(){
		func() { w.results = s.Write(k.ctx, epoch, []shard.Op{indexed("waited", `{}`), deleted("there")}) },
		func() { _, w.found, w.getting = s.Get(k.ctx, epoch, ref("other")) },
		func() {
			var r shard.Reader
			if r, w.acquiring = s.Acquire(k.ctx, epoch); w.acquiring == nil {
				r.Close()
			}
		},
	} {
		started.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			started.Done()
			ask()
		}()
	}
	started.Wait()
	go func() { ended.Wait(); close(w.done) }()
	return w
}

func fencedWaiters(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`), indexed("other", `{}`))
	_, release := k.fence()
	w := k.wait()
	release()
	<-w.done
	for _, r := range w.results {
		k.must(r.Err)
	}
	k.must(w.getting)
	k.must(w.acquiring)
	if !w.found {
		t.Fatal("the get that waited found nothing")
	}
	k.expect("waited", `{}`)
	k.gone("there")
}

func fencedMove(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("there", `{}`))
	_, release := k.fence()
	w := k.wait()
	k.move(func(s *placement.Shard) { s.Term = 2 })
	release()
	k.stalled(w, 2)
	k.absent("waited")
	k.expect("there", `{}`)
	if r := k.write(indexed("a", `{}`)); r.PrimaryTerm != 2 || r.SeqNo != 1 {
		t.Fatalf("%+v", r)
	}
}

// stalled expects that all who waited under epoch 1 were told the epoch.
func (k *talk) stalled(w *waiters, has int64) {
	k.Helper()
	<-w.done
	for _, r := range w.results {
		k.stale(r.Err, 1, has)
	}
	k.stale(w.getting, 1, has)
	k.stale(w.acquiring, 1, has)
}

func fencedUnnamed(t *testing.T, c Case) {
	k := beginWith(t, c, 2, shard.Settings{})
	_, release := k.fence()
	w := k.wait()
	k.unnamed()
	release()
	k.stalled(w, 0)
}

func releaseOnce(t *testing.T, c Case) {
	k := begin(t, c)
	_, first := k.fence()
	first()
	first()
	_, second := k.fence()
	first()
	k.fenced()
	second()
	first()
	k.write(indexed("a", `{}`))
}

func releaseFails(t *testing.T, c Case) {
	k := begin(t, c)
	_, lift, err := k.shard.Fence(k.ctx)
	k.must(err)
	k.places.Break(fault.New(fault.Unavailable, "the coordination store is away"))
	for range 2 {
		k.unavailable(lift(k.ctx))
		k.fenced()
	}
	k.move(func(*placement.Shard) {})
	k.places.Break(nil)
	k.must(lift(k.ctx))
	k.refuses(1, 2)
	k.write(indexed("a", `{}`))
}

func reloadLiftsNoFence(t *testing.T, c Case) {
	k := begin(t, c)
	_, release := k.fence()
	k.move(func(*placement.Shard) {})
	k.must(k.shard.Reload(k.ctx))
	k.fenced()
	release()
	k.refuses(1, 2)
}

func secondFence(t *testing.T, c Case) {
	k := begin(t, c)
	_, first := k.fence()
	if _, _, err := k.shard.Fence(k.soon()); err == nil {
		t.Fatal("two fences at once")
	}
	k.fenced()
	first()
	_, second := k.fence()
	k.fenced()
	second()
	k.write(indexed("a", `{}`))
}

func fenceUnderWrites(t *testing.T, c Case) {
	k := begin(t, c)
	ctx, stop := context.WithCancel(k.ctx)
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				for _, r := range k.shard.Write(ctx, 1, []shard.Op{indexed(fmt.Sprint(w), fmt.Sprint(i))}) {
					if r.Err != nil && ctx.Err() == nil {
						t.Error(r.Err)
					}
				}
			}
		})
	}
	for range 20 {
		seqNo, release := k.fence()
		found := int64(len(k.changes(-1, 1<<30)))
		if s := k.shard.Stats(); s.SeqNo != seqNo || s.Synced != seqNo || found != seqNo+1 {
			t.Errorf("fenced at %d: there are %d changes, and %+v", seqNo, found, s)
		}
		if shown := k.refresh(); shown != seqNo {
			t.Errorf("fenced at %d: a refresh shows %d", seqNo, shown)
		}
		if s := k.shard.Stats(); s.SeqNo != seqNo {
			t.Errorf("fenced at %d: later the last is %d", seqNo, s.SeqNo)
		}
		release()
	}
}

func fencedReading(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `{}`))
	k.refresh()
	r := k.acquire()
	defer r.Close()
	k.write(indexed("b", `{}`))
	seqNo, release := k.fence()
	if rows := k.scan(r, everything); len(rows) != 1 {
		t.Fatalf("the reader shows %v", rows)
	}
	k.must(k.shard.Hold(k.ctx, "follower", k.at(-1)))
	if found := k.changes(-1, 10); len(found) != 2 {
		t.Fatalf("changes %v", found)
	}
	if shown := k.refresh(); shown != seqNo {
		t.Fatalf("the refresh shows %d, the fence is at %d", shown, seqNo)
	}
	k.must(k.shard.AwaitRefresh(k.ctx, seqNo))
	k.must(k.shard.Release(k.ctx, "follower"))
	release()
}

// fencedLargeWrite moves the shard while a write of many groups is under way: what
// was admitted before stays, all after it is stale, and each row says which.
func fencedLargeWrite(t *testing.T, c Case) {
	k := begin(t, c)
	var ops []shard.Op
	for i := range 60 {
		ops = append(ops, indexed(fmt.Sprint(i), strings.Repeat("x", 100_000)))
	}
	done := make(chan []shard.Result, 1)
	go func() { done <- k.shard.Write(k.ctx, 1, ops) }()
	_, release := k.fence()
	k.move(func(*placement.Shard) {})
	release()
	results, cut := <-done, false
	for i, r := range results {
		switch {
		case r.Err != nil:
			k.stale(r.Err, 1, 2)
			k.absent(ops[i].ID)
			cut = true
		case cut:
			t.Fatalf("operation %d was applied although one before it was stale", i)
		default:
			k.expect(ops[i].ID, string(ops[i].Source))
		}
	}
	if s := k.shard.Stats(); s.Docs != s.SeqNo+1 {
		t.Fatalf("%+v", s)
	}
}

func cancelledFence(t *testing.T, c Case) {
	k := begin(t, c)
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	_, lift, err := k.shard.Fence(ctx)
	if err == nil {
		k.must(lift(k.ctx))
	} else if errors.As(err, new(*shard.Stale)) {
		t.Fatal(err)
	}
	k.write(indexed("a", `{}`))
}

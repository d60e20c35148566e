package coordtest

import (
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// clock: time does not go back, and says how wrong it may be.
func clock(t *talk) {
	last, err := t.store.Now(t.ctx)
	t.ok(err)
	for range 1000 {
		now, err := t.store.Now(t.ctx)
		t.ok(err)
		if now.At.Before(last.At) || now.Error < 0 {
			t.Fatalf("%v ± %v came after %v", now.At, now.Error, last.At)
		}
		last = now
	}
}

// everyCall makes each call of a store that has record "a" at revision.
func everyCall(ctx context.Context, s coord.Store, revision int64) map[string]error {
	failed := map[string]error{}
	_, failed["get"] = s.Get(ctx, "a")
	_, failed["list"] = s.List(ctx, "")
	_, failed["create"] = s.Create(ctx, "b", nil)
	_, failed["swap"] = s.Swap(ctx, "a", revision, nil)
	failed["delete"] = s.Delete(ctx, "a", revision)
	_, failed["revision"] = s.Revision(ctx)
	_, failed["now"] = s.Now(ctx)
	failed["watch"] = nil
	for _, err := range s.Watch(ctx, "", revision) {
		failed["watch"] = err
	}
	return failed
}

func endedContexts(t *talk) {
	revision := t.creates("a", "v")
	cancelled, cancel := context.WithCancel(t.ctx)
	cancel()
	expired, cancel := context.WithTimeout(t.ctx, 0)
	defer cancel()
	for name, err := range everyCall(cancelled, t.store, revision) {
		if !fault.Is(err, fault.Interrupted) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
	for name, err := range everyCall(expired, t.store, revision) {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s, too late: %v", name, err)
		}
	}
	t.has("a", "v", revision)
	t.lists("", "a")
}

func closing(t *talk) {
	revision := t.creates("a", "v")
	t.ok(t.store.Close())
	t.ok(t.store.Close())
	for name, err := range everyCall(t.ctx, t.store, revision) {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s of a closed store: %v", name, err)
		}
	}
}

// reopened: everything is there again, and revisions and time go on.
func reopened(t *talk, reopen func(*testing.T, coord.Store) coord.Store) {
	kept := t.creates("kept", "v")
	changed := t.swaps("changed", t.creates("changed", "v"), "w")
	empty := t.creates("empty", "")
	gone := t.creates("gone", "v")
	t.deletes("gone", gone)
	at := t.revision()
	time, err := t.store.Now(t.ctx)
	t.ok(err)
	for range 2 {
		t.store = reopen(t.T, t.store)
		t.has("kept", "v", kept)
		t.has("changed", "w", changed)
		t.has("empty", "", empty)
		t.lists("", "changed", "empty", "kept")
		if now := t.revision(); now != at {
			t.Fatalf("revision %d became %d", at, now)
		}
		now, err := t.store.Now(t.ctx)
		t.ok(err)
		if now.At.Add(now.Error).Before(time.At.Add(-time.Error)) {
			t.Fatalf("%v came after %v", now.At, time.At)
		}
	}
	again := t.creates("gone", "again")
	if again <= at {
		t.Fatalf("revision %d was given after %d", again, at)
	}
	t.deletes("gone", again)
	at = t.revision()
	t.store = reopen(t.T, t.store)
	t.lacks("gone")

	t.watching("", at, func(w *watching) { // nothing is missed by a watch that goes on
		revision := t.creates("later", "v")
		w.sees("later", "v", revision)
	})
	for event, err := range t.store.Watch(t.ctx, "kept", 0) { // told, or said to be unknown; never skipped
		if err != nil {
			t.is(err, fault.Stale)
		} else if event.Revision != kept {
			t.Fatalf("the first change of %q has revision %d, want %d", event.Key, event.Revision, kept)
		}
		break
	}
}

package coordtest

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// watching is a watch whose elements are pulled one by one.
type watching struct {
	*talk
	next   func() (coord.Event, error, bool)
	prefix string
	last   int64
}

// watching runs the conversation beside a watch.
func (t *talk) watching(prefix string, after int64, conversation func(*watching)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	next, stop := iter.Pull2(t.store.Watch(ctx, prefix, after))
	defer stop()
	conversation(&watching{talk: t, next: next, prefix: prefix, last: after})
}

// event is the next one; it must be of the prefix and in the order of revisions.
func (w *watching) event() coord.Event {
	w.Helper()
	event, err, ok := w.next()
	if !ok {
		w.Fatal("the watch ended without an error")
	}
	w.ok(err)
	if event.Revision <= w.last || !strings.HasPrefix(event.Key, w.prefix) {
		w.Fatalf("watching %q, %q at %d came after %d", w.prefix, event.Key, event.Revision, w.last)
	}
	if event.Deleted != (event.Value == nil) {
		w.Fatalf("%q at %d: deleted is %v, and the value %q", event.Key, event.Revision, event.Deleted, event.Value)
	}
	w.last = event.Revision
	return event
}

// sees says that the record becomes what is given; older changes of its key may be
// told before.
func (w *watching) sees(key, value string, revision int64) {
	w.Helper()
	for {
		event := w.event()
		if event.Key != key || event.Revision > revision {
			w.Fatalf("%q at %d was told, want %q at %d", event.Key, event.Revision, key, revision)
		}
		if event.Revision == revision {
			if event.Deleted || string(event.Value) != value {
				w.Fatalf("%q at %d is %q (deleted: %v), want %q", key, revision, event.Value, event.Deleted, value)
			}
			return
		}
	}
}

// loses says that the record is deleted, by the store's change so far.
func (w *watching) loses(key string) {
	w.Helper()
	for {
		if event := w.event(); event.Key != key {
			w.Fatalf("%q at %d was told, want the end of %q", event.Key, event.Revision, key)
		} else if event.Deleted {
			return
		}
	}
}

// fails says that the watch ends with an error, and is over then.
func (w *watching) fails(kind fault.Kind) {
	w.Helper()
	_, err, ok := w.next()
	if !ok {
		w.Fatal("the watch ended without an error")
	}
	w.is(err, kind)
	if _, _, ok := w.next(); ok {
		w.Fatal("the watch goes on behind its error")
	}
}

func watches(t *talk) {
	t.watching("a/", 0, func(w *watching) { // from the beginning of all
		one := t.creates("a/1", "one")
		w.sees("a/1", "one", one)
		t.creates("b/1", "of no interest")
		two := t.creates("a/2", "")
		w.sees("a/2", "", two)
		t.deletes("a/1", one)
		w.loses("a/1")
		again := t.creates("a/1", "again")
		w.sees("a/1", "again", again)
	})
	now := t.revision()
	t.watching("", now, func(w *watching) { // from now
		next := t.creates("c", "next")
		w.sees("c", "next", next)
	})
	t.watching("", now, func(w *watching) { // from the past
		record, err := t.store.Get(t.ctx, "c")
		t.ok(err)
		w.sees("c", "next", record.Revision)
	})
	t.watching("a/", 0, func(w *watching) { // every key that changed, at least once
		told := map[string]string{}
		for told["a/1"] != "again" {
			event := w.event()
			told[event.Key] = string(event.Value)
		}
		if want := map[string]string{"a/1": "again", "a/2": ""}; !maps.Equal(told, want) {
			t.Fatalf("told of %q, want %q", told, want)
		}
	})
	twice := t.store.Watch(t.ctx, "c", now) // a watch may be run again
	for range 2 {
		for event, err := range twice {
			t.ok(err)
			if event.Key != "c" {
				t.Fatalf("told of %q", event.Key)
			}
			break
		}
	}
}

// watchAndUse: the consumer writes and reads while it has an event, values large
// enough to make a store grow.
func watchAndUse(t *talk) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	value := strings.Repeat("x", 1<<20)
	t.creates("0", value)
	n := 0
	for event, err := range t.store.Watch(ctx, "", 0) {
		t.ok(err)
		t.has(event.Key, value, event.Revision)
		if n++; n == 12 {
			break
		}
		t.creates(fmt.Sprint(n), value)
	}
}

// watchMany: a watch behind many changes of many keys ends up with what is there.
func watchMany(t *talk) {
	want := map[string][]byte{}
	for i := range 1000 {
		key := fmt.Sprintf("key/%d", i%300)
		_, err := coord.Update(t.ctx, t.store, key, func([]byte) ([]byte, error) { return fmt.Append(nil, i), nil })
		t.ok(err)
		want[key] = fmt.Append(nil, i)
	}
	for _, key := range []string{"key/7", "key/299"} {
		record, err := t.store.Get(t.ctx, key)
		t.ok(err)
		t.deletes(key, record.Revision)
		delete(want, key)
	}
	end := t.creates("key/end", "end")
	want["key/end"] = []byte("end")
	t.watching("key/", 0, func(w *watching) {
		told := map[string][]byte{}
		for w.last < end {
			if event := w.event(); event.Deleted {
				delete(told, event.Key)
			} else {
				told[event.Key] = event.Value
			}
		}
		if !maps.EqualFunc(told, want, bytes.Equal) {
			t.Fatalf("told of %d records, want %d", len(told), len(want))
		}
	})
}

func watchUnknown(t *talk) {
	t.watching("", 1, func(w *watching) { w.fails(fault.Stale) })
	revision := t.creates("a", "v")
	t.watching("", revision+100, func(w *watching) { w.fails(fault.Stale) })
}

func watchEnds(t *talk) {
	revision := t.creates("a", "v")
	ctx, cancel := context.WithCancel(t.ctx)
	for event, err := range t.store.Watch(ctx, "", revision-1) {
		if err == nil && event.Revision == revision {
			cancel()
			continue
		}
		t.is(err, fault.Interrupted)
	}
	cancel()

	waits := make(chan error, 1)
	told := make(chan struct{})
	go func() {
		var last error
		for _, err := range t.store.Watch(t.ctx, "", revision-1) {
			if last = err; err == nil {
				close(told)
			}
		}
		waits <- last
	}()
	<-told
	t.ok(t.store.Close())
	t.is(<-waits, fault.Unavailable)
}

// listAndWatch is how a reader keeps a copy; it must start again when it is told so,
// and then get on: also where the newest change is a deletion or of another prefix.
func listAndWatch(t *talk) {
	t.deletes("a/1", t.creates("a/1", "v"))
	t.creates("b/1", "v")
	at := t.revision()
	t.lists("a/")
	t.watching("a/", at, func(w *watching) {
		revision := t.creates("a/2", "v")
		w.sees("a/2", "v", revision)
	})
}

package coordtest

import (
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Case is one adapter.
type Case struct {
	// Open gives an empty store; the suite closes it.
	Open func(t *testing.T) coord.Store
	// Reopen closes old and opens what it kept; nil for a store that keeps nothing.
	Reopen func(t *testing.T, old coord.Store) coord.Store
}

// patience is how long a watch may take to tell of a change before the suite calls
// it silent.
const patience = 30 * time.Second

// Run holds the adapter to the contract.
func Run(t *testing.T, c Case) {
	for name, conversation := range map[string]func(*talk){
		"records":               records,
		"conflicts":             conflicts,
		"revisions":             revisions,
		"copies":                copies,
		"lists":                 lists,
		"prefixes":              prefixes,
		"keys":                  keys,
		"values":                values,
		"races":                 races,
		"histories":             histories,
		"time":                  clock,
		"ended contexts":        endedContexts,
		"closing":               closing,
		"watch":                 watches,
		"watch and use":         watchAndUse,
		"watch many":            watchMany,
		"watch what is unknown": watchUnknown,
		"watch ends":            watchEnds,
		"list and watch":        listAndWatch,
	} {
		t.Run(name, func(t *testing.T) { conversation(begin(t, c)) })
	}
	if c.Reopen != nil {
		t.Run("reopened", func(t *testing.T) { reopened(begin(t, c), c.Reopen) })
	}
}

// talk is a conversation with a store: each method says something and knows what
// must be answered.
type talk struct {
	*testing.T
	store coord.Store
	ctx   context.Context
}

func begin(t *testing.T, c Case) *talk {
	talk := &talk{T: t, store: c.Open(t), ctx: t.Context()}
	t.Cleanup(func() {
		if err := talk.store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return talk
}

func (t *talk) creates(key, value string) int64 {
	t.Helper()
	revision, err := t.store.Create(t.ctx, key, []byte(value))
	t.ok(err)
	return revision
}

func (t *talk) swaps(key string, revision int64, value string) int64 {
	t.Helper()
	next, err := t.store.Swap(t.ctx, key, revision, []byte(value))
	t.ok(err)
	if next <= revision {
		t.Fatalf("swapping %q gave revision %d after %d", key, next, revision)
	}
	return next
}

func (t *talk) deletes(key string, revision int64) {
	t.Helper()
	t.ok(t.store.Delete(t.ctx, key, revision))
}

func (t *talk) revision() int64 {
	t.Helper()
	revision, err := t.store.Revision(t.ctx)
	t.ok(err)
	return revision
}

// has says what Get must answer.
func (t *talk) has(key, value string, revision int64) {
	t.Helper()
	record, err := t.store.Get(t.ctx, key)
	t.ok(err)
	if record.Key != key || string(record.Value) != value || record.Revision != revision {
		t.Fatalf("got %q=%q at %d, want %q=%q at %d", record.Key, record.Value, record.Revision, key, value, revision)
	}
	if record.Value == nil {
		t.Fatalf("the value of %q is nil", key)
	}
}

func (t *talk) lacks(key string) {
	t.Helper()
	record, err := t.store.Get(t.ctx, key)
	t.is(err, fault.NotFound)
	if record.Value != nil {
		t.Fatalf("a record %q that does not exist has a value", key)
	}
}

// lists says which keys a listing must give, in order.
func (t *talk) lists(prefix string, keys ...string) {
	t.Helper()
	listed, err := t.store.List(t.ctx, prefix)
	t.ok(err)
	if len(listed) != len(keys) {
		t.Fatalf("listing %q gave %d records, want %q", prefix, len(listed), keys)
	}
	for i, record := range listed {
		if record.Key != keys[i] {
			t.Fatalf("listing %q: at %d is %q, want %q", prefix, i, record.Key, keys[i])
		}
		t.has(record.Key, string(record.Value), record.Revision)
	}
}

func (t *talk) ok(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *talk) is(err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got error %v (%v), want %v", err, fault.KindOf(err), kind)
	}
}

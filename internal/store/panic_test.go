package store_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// panicking is an engine whose shards panic when they are told to.
type panicking struct {
	*shardmemory.Engine
	mu     sync.Mutex
	broken string                   // what panics
	met    map[string]chan struct{} // what has panicked, closed
}

func (e *panicking) Open(ctx context.Context, id shard.ID, p shard.Placements, settings shard.Settings) (shard.Shard, error) {
	sh, err := e.Engine.Open(ctx, id, p, settings)
	return &breaking{sh, e}, err
}

// breaks lets the next one of what panic, once.
func (e *panicking) breaks(what string) (met chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken, e.met[what] = what, make(chan struct{})
	return e.met[what]
}

func (e *panicking) meet(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != what {
		return
	}
	e.broken = ""
	close(e.met[what])
	panic("the " + what + " is broken")
}

type breaking struct {
	shard.Shard
	engine *panicking
}

func (b *breaking) Refresh(ctx context.Context) (int64, error) {
	b.engine.meet("refresh")
	return b.Shard.Refresh(ctx)
}

func (b *breaking) Prune(ctx context.Context, now time.Time) error {
	b.engine.meet("prune")
	return b.Shard.Prune(ctx, now)
}

func (b *breaking) Acquire(ctx context.Context, epoch int64) (shard.Reader, error) {
	b.engine.meet("search")
	return b.Shard.Acquire(ctx, epoch)
}

// record is a log that may be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) times(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.text.String(), text)
}

// TestABugInTheBackgroundEndsNothingElse: a panic is the error of the task that met it, and
// no refresh and no pruning ends the process. Each is logged once.
func TestABugInTheBackgroundEndsNothingElse(t *testing.T) {
	ctx := t.Context()
	e := &panicking{Engine: shardmemory.New(shardmemory.Options{}), met: map[string]chan struct{}{}}
	log := &record{}
	s, err := store.Open(ctx, coordmemory.New(), e, store.Options{PruneEvery: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, s, "i", "1", `{"a":1}`); err != nil {
		t.Fatal(err)
	}

	e.breaks("search")
	task := s.Begin("indices:data/write/delete/byquery", "delete-by-query [i]", "", store.ByQuery{Where: store.Where{Expression: catalog.Expression{Names: []string{"i"}}}, Request: search.NewRequest(), Delete: true})
	if err := task.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if state := task.State(); !state.Done || !fault.Is(state.Err, fault.Bug) || !strings.Contains(state.Err.Error(), "the search is broken") {
		t.Errorf("the task: %+v", state)
	}
	if n := log.times("the search is broken"); n != 1 {
		t.Errorf("the task's panic was logged %d times", n)
	}

	for _, method := range []string{"prune", "refresh"} {
		met := e.breaks(method)
		if err := put(ctx, s, "i", "2", `{"a":2}`); err != nil {
			t.Fatal(err)
		}
		<-met
	}
	if err := put(ctx, s, "i", "3", `{"a":3}`); err != nil {
		t.Errorf("a write after the bugs: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, method := range []string{"prune", "refresh"} {
		if n := log.times("the " + method + " is broken"); n != 1 {
			t.Errorf("the panic of a %s was logged %d times", method, n)
		}
	}
}

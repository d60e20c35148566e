package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// sluice stops whoever creates a segment file while it is down.
type sluice struct {
	mu      sync.Mutex
	down    chan struct{} // closed when it is lifted; nil: it is up
	reached chan struct{} // closed when somebody waits
	fails   error         // of the next creation, once it is let through
}

func (s *sluice) String() string { return "sluice" }

func (s *sluice) lower() (reached chan struct{}, lift func(failing error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	down, reached := make(chan struct{}), make(chan struct{})
	s.down, s.reached = down, reached
	return reached, func(failing error) {
		s.mu.Lock()
		s.down, s.fails = nil, failing
		s.mu.Unlock()
		close(down)
	}
}

// pass lets others through than those who wait.
func (s *sluice) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = nil
}

func (s *sluice) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpCreate || !strings.HasSuffix(op.Path, ".seg") {
		return nil
	}
	s.mu.Lock()
	down, reached := s.down, s.reached
	s.reached = nil
	s.mu.Unlock()
	if down == nil {
		return nil
	}
	if reached != nil {
		close(reached)
	}
	<-down
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.fails
	s.fails = nil
	return err
}

// putWords writes some new documents, and refreshes.
func putWords(t *testing.T, s shard.Shard, from, n int) {
	t.Helper()
	var ops []shard.Op
	for i := from; i < from+n; i++ {
		id := fmt.Sprint(i)
		ops = append(ops, shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Source: []byte("w" + id)})
	}
	for _, result := range s.Write(t.Context(), 1, ops) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	if _, err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// segmentsOf is in how many segments a shard is searched.
func segmentsOf(t *testing.T, s shard.Shard) int {
	t.Helper()
	r, err := s.Acquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return len(r.Views())
}

// until waits for something that is done behind the scenes.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen: " + what)
		}
	}
}

// afterCrash opens what a crash leaves, and compares what is found with the rows.
func afterCrash(mem *vfs.MemFS) error {
	e, s, err := openedWith(small(mem.CrashClone(vfs.CrashCloneCfg{})), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		return err
	}
	return errors.Join(checkViews(s), s.Close(), e.Close())
}

// TestMergedInMemoryWhileItIsCommitted: what a commit is about to write is merged in memory
// meanwhile. Its manifest does not claim what is then in memory alone.
func TestMergedInMemoryWhileItIsCommitted(t *testing.T) {
	defer embedded.SetTiers(3, 1<<20, 1<<20)()
	mem, stop := vfs.NewCrashableMem(), &sluice{}
	e, s, err := openedWith(small(errorfs.Wrap(mem, stop)), shard.Settings{Indexer: shardtest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.Close(), e.Close() }()
	putWords(t, s, 0, 10)
	putWords(t, s, 10, 10)
	reached, lift := stop.lower()
	done := make(chan error)
	go func() { done <- embedded.Commit(s) }()
	<-reached
	putWords(t, s, 20, 10)
	until(t, "three segments become one in memory", func() bool { return segmentsOf(t, s) == 1 })
	lift(nil)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := checkViews(s); err != nil {
		t.Errorf("before the crash: %v", err)
	}
	if err := afterCrash(mem); err != nil {
		t.Errorf("after the crash: %v", err)
	}
}

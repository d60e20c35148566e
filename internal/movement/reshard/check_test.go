package reshard_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// richer is a reader of one row more than its views show.
type richer struct{ shard.Reader }

func (r richer) Docs() int64 { return r.Reader.Docs() + 1 }

// TestCloneComparesTheCounts lets a source have a row more than it shows when it is staged for the
// first time: it is mended, staged once more, and the split goes on.
func TestCloneComparesTheCounts(t *testing.T) {
	h, e := lyingHouse(t)
	var staged atomic.Int64
	e.lie = func(s *shard.Staged, _ []shard.Incarnation) {
		if staged.Add(1) == 1 {
			s.From[0] = richer{s.From[0]}
		}
	}
	id := h.begin(false, by(2))
	h.workBefore(id, reshard.PhaseSwitch)
	if p := h.found(id); p.Cloned.Differences() != 0 || p.Cloned.Documents != 39 {
		t.Errorf("%+v", p.Cloned)
	}
	if n := staged.Load(); n < 2 {
		t.Errorf("it was staged %d times", n)
	}
	e.lie = func(s *shard.Staged, _ []shard.Incarnation) { s.From[0] = richer{s.From[0]} }
	h.tell(id, movement.Pause)
	h.tell(id, movement.Reverse)
	h.work(id, movement.Reversed)
	defer reshard.SetPatience(1)()
	id = h.begin(false, by(2))
	h.work(id, movement.Held) // when mending does not help, nothing is handed off
	h.tell(id, movement.Abort)
	h.work(id, movement.Aborted)
	if n := h.shards(); n != 1 {
		t.Errorf("%d shards", n)
	}
}

// TestCheck compares what is there with what is found.
func TestCheck(t *testing.T) {
	h := newHouse(t, 2)
	for n := range 40 {
		h.write(document.Index, fmt.Sprintf("d%d", n))
	}
	h.write(document.Delete, "d0")
	var documents, found int64
	shards := 0
	h.must(reshard.Check(h.ctx, h.store, "books", func(c reshard.Checked) {
		if c.Differences() != 0 {
			t.Errorf("%+v", c)
		}
		documents, found, shards = documents+c.Documents, found+c.Found, shards+1
	}))
	if documents != 39 || found != 39 || shards != 2 {
		t.Errorf("%d documents and %d in %d shards", documents, found, shards)
	}
	if err := reshard.Check(h.ctx, h.store, "none", func(reshard.Checked) {}); err == nil {
		t.Error("an index that is not there was checked")
	}
}

// TestACheckOfShardsThatBecomeOthers does not say that it has met all of them.
func TestACheckOfShardsThatBecomeOthers(t *testing.T) {
	h := newHouse(t, 2)
	for n := range 40 {
		h.write(document.Index, fmt.Sprintf("d%d", n))
	}
	met := int64(0)
	err := reshard.Check(h.ctx, h.store, "books", func(c reshard.Checked) {
		if met += c.Documents; c.Shard == 0 {
			h.work(h.begin(false, by(2)), movement.Finished)
		}
	})
	if met == 40 || !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" {
		t.Errorf("of 40 documents %d were met: %v", met, err)
	}
}

package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// history is what was asked of one shard, in the order of sequence numbers, and how
// much of it was acknowledged. The script that makes it is the only writer.
type history struct {
	mu     sync.Mutex
	ops    []shard.Op
	acked  int64 // the last sequence number that was acknowledged
	pruned int64 // the most that a prune can have removed

	damages bool // the script damages segments itself; set before the first crash
}

func (h *history) snapshot() (ops []shard.Op, acked, pruned int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ops, h.acked, h.pruned
}

// small are options under which little data is rotated, written out and merged.
func small(fs vfs.FS) embedded.Options {
	return embedded.Options{FS: fs, Memory: 1 << 20, Ballast: -1, Quiet: -1, Logger: quiet}
}

// whole is the placement of an index of one shard.
func whole() *shardtest.Places {
	places := &shardtest.Places{}
	places.Put(placement.New(7, 1, placement.Local, placement.Change{By: "test", Why: "test"}))
	return places
}

var first = shard.ID{Index: 7}

// opened opens a folder and its shard.
func opened(o embedded.Options) (*embedded.Engine, shard.Shard, error) {
	return openedWith(o, shard.Settings{})
}

// openedWith opens it with an indexer. Whatever happened before, no segment file is left
// that no manifest names.
func openedWith(o embedded.Options, settings shard.Settings) (*embedded.Engine, shard.Shard, error) {
	settings.MinimumAge = time.Nanosecond
	e, err := embedded.Open(context.Background(), "data", o)
	if err != nil {
		return nil, nil, err
	}
	strays, err := e.Strays(first.Index)
	if err == nil && len(strays) > 0 && e.Health().ReadOnly == nil {
		err = fmt.Errorf("files are left: %v", strays)
	}
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	s, err := e.Open(context.Background(), first, whole(), settings)
	if err != nil {
		e.Close()
		return nil, nil, err
	}
	return e, s, nil
}

// random makes some operations on few ids, with sources that do not compress.
func random(rng *rand.Rand, n int) []shard.Op {
	ops := make([]shard.Op, n)
	for i := range ops {
		id := fmt.Sprint(rng.IntN(200))
		op := shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always}
		switch op.Delete = rng.IntN(4) == 0; {
		case !op.Delete:
			op.Source = make([]byte, rng.IntN(4000))
			for j := range op.Source {
				op.Source[j] = byte(rng.Uint32())
			}
		case rng.IntN(2) == 0:
			op.Routing = "r"
		}
		ops[i] = op
	}
	return ops
}

// write writes ops and notes what was acknowledged. It reports whether all was.
func (h *history) write(s shard.Shard, ops []shard.Op) bool {
	h.mu.Lock()
	h.ops = append(h.ops[:h.acked+1:h.acked+1], ops...)
	h.mu.Unlock()
	results := s.Write(context.Background(), 1, ops)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range results {
		if r.Err != nil {
			return false
		}
		h.acked = r.SeqNo
	}
	return true
}

// check compares a shard that was opened after a crash with what was asked of it:
// everything up to some sequence number between what was acknowledged and what was
// asked is there, and nothing else.
func check(s shard.Shard, ops []shard.Op, acked, mayPrune int64) error {
	stats := s.Stats()
	last := stats.SeqNo
	if last < acked || last >= int64(len(ops)) {
		return fmt.Errorf("it goes to %d, %d was acknowledged and %d asked", last, acked, len(ops)-1)
	}
	if stats.Pruned > mayPrune {
		return fmt.Errorf("%d is pruned, at most %d may be", stats.Pruned, mayPrune)
	}
	want := map[string]shard.Row{}
	for seqNo, op := range ops[:last+1] {
		row := shard.Row{Ref: shard.Ref{Key: op.Key, ID: op.ID}, Routing: op.Routing, Deleted: op.Delete, Source: op.Source}
		row.SeqNo, row.PrimaryTerm = int64(seqNo), 1
		want[op.ID] = row
	}
	if err := s.Prune(context.Background(), time.Unix(0, 0)); err != nil { // nothing is that old
		return err
	}
	if err := checkRows(s, want, stats); err != nil {
		return err
	}
	if err := checkViews(s); err != nil {
		return err
	}
	next := stats.Pruned + 1
	for c, err := range s.Changes(context.Background(), shard.Position{Incarnation: 1, SeqNo: stats.Pruned}, len(ops)) {
		if err != nil {
			return err
		}
		if op := ops[next]; c.SeqNo != next || c.ID != op.ID || c.Key != op.Key || (c.Op == shard.Delete) != op.Delete {
			return fmt.Errorf("change %d is %+v", next, c)
		}
		next++
	}
	if next != last+1 {
		return fmt.Errorf("the changes end before %d, not %d", next, last+1)
	}
	return nil
}

// checkViews compares what can be found with what is there, if the shard is indexed.
func checkViews(s shard.Shard) error {
	r, err := s.Acquire(context.Background(), 1)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Views() == nil {
		return nil
	}
	return shardtest.Agree(context.Background(), r)
}

func checkRows(s shard.Shard, want map[string]shard.Row, stats shard.Stats) error {
	r, err := s.Acquire(context.Background(), 1)
	if err != nil {
		return err
	}
	defer r.Close()
	var counted shard.Stats
	for row, err := range r.Scan(context.Background(), shard.Select{Range: routing.Whole, Tombstones: true}) {
		if err != nil {
			return err
		}
		w, ok := want[row.ID]
		if !ok || row.Deleted != w.Deleted || row.SeqNo != w.SeqNo || row.Routing != w.Routing || !bytes.Equal(row.Source, w.Source) {
			return fmt.Errorf("document %q is %+v, expected number %d, deleted %t", row.ID, row.Versions, w.SeqNo, w.Deleted)
		}
		if row.Deleted {
			counted.Tombstones++
		} else {
			counted.Docs++
			counted.Bytes += int64(len(row.ID) + len(row.Routing) + len(row.Source))
		}
		delete(want, row.ID)
	}
	for id, row := range want {
		if !row.Deleted || row.SeqNo > stats.Pruned {
			return fmt.Errorf("document %q of number %d is missing, deleted %t", id, row.SeqNo, row.Deleted)
		}
	}
	if counted.Docs != stats.Docs || counted.Tombstones != stats.Tombstones || counted.Bytes != stats.Bytes || r.Docs() != stats.Docs {
		return fmt.Errorf("counted %+v, told %+v", counted, stats)
	}
	return nil
}

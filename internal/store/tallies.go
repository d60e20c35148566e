package store

import (
	"sync"
	"time"
)

// tallies count, shard by shard, what the store itself does to an index, since it was opened: what
// an engine sees, it counts (shard.OpCounts). Views of the same index share them. Safe for
// concurrent use.
type tallies struct {
	mu sync.Mutex
	of map[uint32]*tally // by number of the shard
}

// tally is that of one shard.
type tally struct {
	searches  int64
	searching time.Duration // an even part of what the searches took, whose other parts other shards have
	flushes   int64
	noops     int64 // updates that changed nothing
}

// count changes the tally of a shard.
func (t *tallies) count(number uint32, change func(*tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[uint32]*tally{}
	}
	if t.of[number] == nil {
		t.of[number] = &tally{}
	}
	change(t.of[number])
}

// read is the tally of a shard.
func (t *tallies) read(number uint32) (now tally) {
	t.count(number, func(of *tally) { now = *of })
	return now
}

// tallied counts a search in all shards that it has looked into.
func (f *Found) tallied(took time.Duration) {
	for _, of := range f.parts {
		for _, p := range of {
			p.index.tallies.count(p.row.Number, func(t *tally) {
				t.searches++
				t.searching += took / time.Duration(f.Shards)
			})
		}
	}
}

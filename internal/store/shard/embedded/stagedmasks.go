package embedded

import (
	"sync"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// stagedMasks are those of what is staged, as they were read back, for as long as somebody looks at
// that: who opens a shard behind a fence does not read them a second time, and shares them.
// Safe for concurrent use.
type stagedMasks struct {
	mu sync.Mutex
	of map[maskOf]*segment.Bits
}

// maskOf names an entry of what is staged of a shard for a term.
type maskOf struct {
	shard shard.ID
	term  int64
	entry uint64
}

// keep notes a mask, which nobody changes any more.
func (m *stagedMasks) keep(of maskOf, mask *segment.Bits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[maskOf]*segment.Bits{}
	}
	m.of[of] = mask
}

// get is a mask; nil when it has to be read.
func (m *stagedMasks) get(of maskOf) *segment.Bits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[of]
}

// drop forgets a mask, unless another took its place.
func (m *stagedMasks) drop(of maskOf, mask *segment.Bits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[of] == mask {
		delete(m.of, of)
	}
}

// forget forgets those of an index: what is stored is about to become another.
func (m *stagedMasks) forget(index uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of := range m.of {
		if of.shard.Index == index {
			delete(m.of, of)
		}
	}
}

// reset forgets all.
func (m *stagedMasks) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of = nil
}

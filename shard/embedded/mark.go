package embedded

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/fault"
)

// mark is the sequence number up to which everything is synced. It only grows. Once
// it is broken, nobody waits for more.
type mark struct {
	seqNo atomic.Int64

	mu     sync.Mutex
	broken error
	moved  chan struct{} // closed when the mark moves or breaks; nil: nobody waits
}

// reach moves the mark up to seqNo.
func (m *mark) reach(seqNo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seqNo > m.seqNo.Load() {
		m.seqNo.Store(seqNo)
		m.wake()
	}
}

// fail breaks the mark; the first cause stays.
func (m *mark) fail(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken == nil {
		m.broken = cause
		m.wake()
	}
}

// reset begins again at what was found on disk.
func (m *mark) reset(seqNo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = nil
	m.seqNo.Store(seqNo)
	m.wake()
}

func (m *mark) wake() {
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}

// await waits until the mark has reached seqNo; fault.Unavailable when it breaks
// or ctx ends before.
func (m *mark) await(ctx context.Context, seqNo int64) error {
	if m.seqNo.Load() >= seqNo {
		return nil
	}
	for {
		m.mu.Lock()
		if m.seqNo.Load() >= seqNo {
			m.mu.Unlock()
			return nil
		}
		if m.broken != nil {
			defer m.mu.Unlock()
			return fault.New(fault.Unavailable, "what was written last is not synced: %w", m.broken)
		}
		if m.moved == nil {
			m.moved = make(chan struct{})
		}
		moved := m.moved
		m.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return fault.Wrap(fault.Unavailable, context.Cause(ctx))
		}
	}
}

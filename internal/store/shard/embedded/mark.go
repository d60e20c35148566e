package embedded

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/fault"
)

// mark is the sequence number up to which everything is synced. It only grows. Once
// it is broken, nobody waits for more.
type mark struct {
	seqNo atomic.Int64
	life  atomic.Int64 // counts the resets: a number may be given out again after one

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
	m.life.Add(1) // first: who sees the new number sees the new life
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
	return m.awaitIn(ctx, m.life.Load(), seqNo)
}

// awaitIn is await for a number that was read in a life of the mark. After a reset the
// number may be another write's, and what was read is gone: that is fault.Unavailable.
func (m *mark) awaitIn(ctx context.Context, life, seqNo int64) error {
	over := func() error {
		if m.life.Load() == life {
			return nil
		}
		return fault.New(fault.Unavailable, "the store was opened again after a failure, and what was written last may be gone")
	}
	if m.seqNo.Load() >= seqNo {
		return over()
	}
	for {
		m.mu.Lock()
		if m.seqNo.Load() >= seqNo || m.life.Load() != life {
			m.mu.Unlock()
			return over()
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

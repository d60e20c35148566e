package reshard

import (
	"context"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store"
)

// pin names what a hand-off of this process has left for the comparison.
type pin struct {
	movement string
	group    int
	term     int64 // of the sources
}

func (t *turn) pinOf(g *transfer.Group, group int) pin {
	return pin{t.movement.ID, group, g.Sources[0].Before.Term}
}

// pin keeps what a hand-off has left.
func (l *Lane) pin(at pin, handed store.HandedOff) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pinned == nil {
		l.pinned = map[pin]store.HandedOff{}
	}
	l.pinned[at] = handed
}

// take gives what is pinned to who closes it.
func (l *Lane) take(at pin) (handed store.HandedOff, pinned bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	handed, pinned = l.pinned[at]
	delete(l.pinned, at)
	return handed, pinned
}

// Close lets go of what is pinned for comparisons that this process will not make. Nobody
// works any more.
func (l *Lane) Close() { l.letGo(func(pin) bool { return true }) }

// Mind looks after a movement that owes nothing and has not ended: it is paused, held, has failed,
// or keeps its way back. What is pinned for its comparison would hold disk for as long as that
// lasts, and is let go of: who goes on compares what both sides show then. One whose index was
// deleted is ended.
func (l *Lane) Mind(ctx context.Context, d *drive.Driver, m *movement.Record) error {
	l.unpin(m.ID)
	plan, err := ReadPlan(m)
	if err != nil {
		return err
	}
	if gone, err := l.gone(ctx, &plan); !gone {
		return err
	}
	return bury(ctx, d, m, plan.Index)
}

// unpin lets go of what is pinned for a movement.
func (l *Lane) unpin(movement string) {
	l.letGo(func(at pin) bool { return at.movement == movement })
}

// letGo closes what is pinned, as far as it is meant.
func (l *Lane) letGo(which func(pin) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, handed := range l.pinned {
		if which(at) {
			_ = handed.Staged.Close()
			delete(l.pinned, at)
		}
	}
}

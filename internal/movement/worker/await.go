package worker

import (
	"context"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// A wait is put on record once it has lasted for waitShown, and again each waitAgain, so that it does not count any more soon
// after its process died. leastPause is between two looks whether there is one.
const (
	waitShown  = time.Second
	waitAgain  = 5 * time.Second
	waitCounts = 3 * waitAgain
	leastPause = 50 * time.Millisecond
)

// waiting is the record of what a process waits for.
type waiting struct {
	HeardAt time.Time    `json:"heardAt"`
	Waits   []waits.Wait `json:"waits"`
}

// waitsPrefix is that of the records of a movement. They are no pieces of it: they count while it is undone, too.
func waitsPrefix(id string) string { return ClosingKey(id) + "/waits/" }

// Waits are why the workers of a movement wait, as of now, one for each cause. Records that are damaged are left out.
func Waits(ctx context.Context, d *drive.Driver, m *movement.Record, now time.Time) (all []waits.Wait, err error) {
	if len(m.Owed()) == 0 {
		return nil, nil
	}
	there, err := drive.Readable[waiting](ctx, d, waitsPrefix(m.ID))
	for _, w := range there {
		if now.Sub(w.HeardAt) <= waitCounts {
			all = append(all, w.Waits...)
		}
	}
	return waits.Merge(all), err
}

// await is what the slots of a process wait for, by movement. Safe for concurrent use.
type await struct {
	driver  *drive.Driver
	process string

	mu     sync.Mutex
	boards map[string]*awaited
}

// awaited is what they wait for in one movement, and what is on record of that.
type awaited struct {
	waits.Board
	turns  int // that go on
	record string
	wrote  time.Time
}

// enter is a context of the movement's board, for a turn.
func (a *await) enter(ctx context.Context, id string) (within context.Context, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.boards == nil {
		a.boards = map[string]*awaited{}
	}
	board := a.boards[id]
	if board == nil {
		board = &awaited{}
		a.boards[id] = board
	}
	board.turns++
	return board.Watch(ctx), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		board.turns--
	}
}

// report puts down what is waited for until ctx ends. What cannot be put down now is after the next pause.
func (a *await) report(ctx context.Context, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for id, board := range a.active() {
				_ = a.put(drive.WithPatience(ctx, waitAgain), id, board)
			}
		}
	}
}

// active are the boards; those are dropped that no turn uses, and that have nothing to show or to take back.
func (a *await) active() map[string]*awaited {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]*awaited{}
	for id, board := range a.boards {
		if board.turns == 0 && board.record == "" && len(board.Waits(0)) == 0 {
			delete(a.boards, id)
		} else {
			all[id] = board
		}
	}
	return all
}

// put writes the record of a movement, if it has to change or is old, or removes it.
func (a *await) put(ctx context.Context, id string, board *awaited) error {
	now, key := board.Waits(waitShown), waitsPrefix(id)+work.Safe(a.process)
	record := ""
	for _, w := range now {
		record += w.Cause + "\n"
	}
	if record == board.record && (record == "" || time.Since(board.wrote) < waitAgain) {
		return nil
	}
	if record == "" {
		err := a.driver.Remove(ctx, key)
		if err == nil {
			board.record = ""
		}
		return err
	}
	at, err := a.driver.Now(ctx)
	if err == nil {
		err = a.driver.Put(ctx, key, waiting{HeardAt: at, Waits: now})
	}
	if err != nil {
		return err
	}
	board.record, board.wrote = record, time.Now()
	if m, err := a.driver.Movement(ctx, id); fault.Is(err, fault.NotFound) || err == nil && m.State.Ended() { // it comes too late
		return Tidy(ctx, a.driver)
	}
	return nil
}

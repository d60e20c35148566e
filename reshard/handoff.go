package reshard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/store"
	"github.com/reshelve/reshelve/transfer"
	"github.com/reshelve/reshelve/work"
)

// tries is how often a hand-off that does not fit the budget is tried before the movement
// holds.
const tries = 8

// handOff tries to hand a group off within the budget, with pauses that grow.
func (t *turn) handOff(ctx context.Context, group int) (text string, err error) {
	var over *store.OverBudget
	for try := range tries {
		if try > 0 {
			if err := drive.Wait(ctx, 50*time.Millisecond<<try); err != nil {
				return "", err
			}
			if _, err := t.clone(ctx, group); err != nil { // what was written meanwhile is staged before the fence
				return "", err
			}
		}
		p, r, err := t.read(ctx)
		if err != nil || r == nil {
			return "", err
		}
		handed, err := t.try(ctx, p, r, group)
		if err == nil {
			return t.handedOff(ctx, r, group, handed)
		}
		if !errors.As(err, &over) {
			return "", err
		}
		t.Logger.Warn("a hand-off did not fit the pause budget, it is tried again", "movement", t.movement.ID, "group", group, "error", over)
	}
	why := "what is written while the last changes are staged comes too fast for it"
	if t.longest > t.plan.Budget {
		why = fmt.Sprintf("its rehearsals took up to %s", t.longest.Round(10*time.Microsecond))
	}
	needed := max(over.Spent, t.plan.Budget, t.longest)
	resume := ""
	if rate := t.written.perSecond(); rate > 0 {
		why += fmt.Sprintf(", %.0f writes a second", rate)
		resume = fmt.Sprintf("resume it when there are about %.0f writes a second, or ", rate*t.plan.Budget.Seconds()/placement.Needed(needed).Seconds())
	}
	return "", fault.WithNext(fault.New(fault.Refused, "%d hand-offs did not fit the pause budget of %s: the last one had taken %s at its step %q; %s",
		tries, t.plan.Budget, over.Spent.Round(10*time.Microsecond), over.Step, why),
		"%sreverse it, since nothing was handed off, and begin another one with --pause-budget %s", resume, placement.Needed(needed))
}

// written is how many numbers some shards had given out when they were first and last looked at.
type written struct {
	began, until time.Time
	from, to     int64
}

func (w *written) look(now time.Time, numbers int64) {
	if w.began.IsZero() {
		w.began, w.from = now, numbers
	}
	w.until, w.to = now, numbers
}

// perSecond is how many writes came in a second; 0: none, or it is not known.
func (w *written) perSecond() float64 {
	if long := w.until.Sub(w.began); long > 0 {
		return float64(w.to-w.from) / long.Seconds()
	}
	return 0
}

func (t *turn) try(ctx context.Context, p placement.Placement, r *transfer.Record, group int) (store.HandedOff, error) {
	from, to, err := incarnations(p, r, group)
	if err != nil {
		return store.HandedOff{}, err
	}
	return t.Store.HandOff(ctx, r.Index, from, to, t.plan.Budget, func(now placement.Placement, at map[uint32]int64) (placement.Placement, error) {
		next, _, err := transfer.Advance(now, t.movement.ID, transfer.Event{Happened: transfer.WasHanded, Group: group, At: positions(&r.Groups[group], at)}, t.change(string(transfer.WasHanded)))
		return next, err
	})
}

// handedOff keeps what was pinned at H, and stores what the pause was.
func (t *turn) handedOff(ctx context.Context, r *transfer.Record, group int, handed store.HandedOff) (string, error) {
	t.pin(t.pinOf(&r.Groups[group], group), handed)
	if err := t.sharing(ctx, &r.Groups[group], handed.Staged); err != nil {
		return "", err
	}
	time.Sleep(20 * time.Millisecond) // who waited goes on, and is counted
	pause := pauseOf(&handed)
	err := t.Driver.Put(ctx, t.key("pause", group), pause)
	return fmt.Sprintf("%s handed off in %s: %d requests waited, at most %s", names(&r.Groups[group]), handed.Pause.Round(10*time.Microsecond), pause.Waited, pause.Max.Round(10*time.Microsecond)), err
}

// key is that of what is kept of a group, on the way there or back.
func (t *turn) key(what string, group int) string {
	return fmt.Sprintf("%s%s%s/%d", work.Prefix(t.movement.ID), t.way(), what, group)
}

// way is under which what is kept stands: of the way back, apart.
func (t *turn) way() string {
	if t.movement.State == movement.Reversing {
		return wayBack
	}
	return ""
}

const wayBack = "back/"

// Pause is how long requests have waited behind the fence of a hand-off.
type Pause struct {
	Fence time.Duration `json:"fence"` // from the fence to its release
	Steps store.Steps   `json:"steps"` // what that was made of
	// Targets are the shards that were staged and opened meanwhile; 0: nobody has counted.
	Targets int           `json:"targets"`
	Waited  int64         `json:"waited"`
	P50     time.Duration `json:"p50"`
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
}

func pauseOf(handed *store.HandedOff) Pause {
	waits := handed.Waits()
	p := Pause{Fence: handed.Pause, Steps: handed.Steps, Targets: len(handed.Staged.To), Max: waits.Longest}
	p.Waited, p.P50, p.P99 = waits.Total(), waits.Quantile(0.5), waits.Quantile(0.99)
	return p
}

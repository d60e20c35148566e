package reshard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// tries is how often a hand-off that does not fit the budget is tried before the movement
// holds.
const tries = 8

// handOff tries to hand a group off within the budget, with pauses that grow. What was rehearsed to
// take longer is not tried, as long as an abort would leave everything as it was.
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
		if !r.Groups[group].Cloned.Equal() { // what was cloned again differs: it owes no hand-off any more
			return "", nil
		}
		from, to, err := incarnations(p, r, group)
		if err != nil {
			return "", err
		}
		if try == 0 {
			if err := t.fits(ctx, r, group, from, to); err != nil {
				return "", err
			}
		}
		handed, err := t.try(ctx, r, group, from, to)
		if err == nil {
			return t.handedOff(ctx, r, group, handed)
		}
		if !errors.As(err, &over) {
			return "", err
		}
		t.Logger.Warn("a hand-off did not fit the pause budget, it is tried again", "movement", t.movement.ID, "group", group, "error", over)
		if try == tries-1 {
			return "", t.tooLong(r, group, max(over.Spent, t.plan.Budget), fmt.Sprintf("%d hand-offs did not fit the pause budget of %s: the last one had taken %s at its step %q, with %s kept for opening what comes of it",
				tries, t.plan.Budget, rounded(over.Spent), over.Step, rounded(t.opening(group))))
		}
	}
	return "", nil
}

// fits holds the movement when its rehearsals took longer than the budget, twice: a busy second is no reason. On
// the way back, and when another group was handed off already, no order leads out of it without a hand-off, so that it
// is tried all the same.
func (t *turn) fits(ctx context.Context, r *transfer.Record, group int, from []uint32, to []shard.Incarnation) error {
	if _, known := t.rehearsed[group]; !known {
		if _, err := t.rehearse(ctx, group, from, to); err != nil {
			return err
		}
	}
	over := func() bool { return t.rehearsed[group].pause.Fence > t.plan.Budget }
	if t.way() != "" || anyHandedOff(r) || !over() {
		return nil
	}
	if err := drive.Wait(ctx, time.Second); err != nil {
		return err
	}
	if _, err := t.rehearse(ctx, group, from, to); err != nil || !over() {
		return err
	}
	seen := t.rehearsed[group].pause
	return t.tooLong(r, group, seen.Max, fmt.Sprintf("no hand-off was tried, since half of its rehearsals took %s or more, and the pause budget is %s", rounded(seen.Fence), t.plan.Budget))
}

func anyHandedOff(r *transfer.Record) bool {
	return slices.ContainsFunc(r.Groups, func(g transfer.Group) bool { return g.HandedOff() })
}

// tooLong holds the movement: a hand-off that takes so long does not fit the budget. It says why, and which budget would
// do: no less than what the plan or a rehearsal in this turn has asked for, so that the newest advice is never the smaller one.
func (t *turn) tooLong(r *transfer.Record, group int, takes time.Duration, cause string) error {
	takes = max(takes, t.rehearsed[group].longest)
	needed := placement.Needed(takes)
	if planned := t.plan.Shards.Pause; planned != nil {
		needed = max(needed, planned.Needs)
	}
	why, resume := "", ""
	if rate := t.written.perSecond(); rate > 0 {
		why = fmt.Sprintf("; what is written meanwhile has to be staged behind the fence, %.0f writes a second", rate)
		resume = fmt.Sprintf("reshelve movement resume, when there are about %.0f writes a second; or ", rate*t.plan.Budget.Seconds()/needed.Seconds())
	}
	back, again := "abort, since nothing was handed off", "begin another one with"
	if anyHandedOff(r) {
		back = "reverse, which leads back what was handed off"
	}
	if t.plan.Again != "" {
		again = t.plan.Again
	}
	fewer := ""
	if g := &r.Groups[group]; len(g.Sources)+len(g.Targets) > many {
		parts := len(g.Targets)
		for i := range g.Sources {
			if g.Sources[i].Keeps != nil {
				parts++
			}
		}
		fewer = fmt.Sprintf(", or fewer than %d shards at a time", max(len(g.Sources), parts))
	}
	return fault.WithNext(fault.New(fault.Refused, "%s: %s%s", names(&r.Groups[group]), cause, why),
		"%sreshelve movement %s; then %s --pause-budget %s%s", resume, back, again, needed, fewer)
}

// many shards in one hand-off make it long by their number alone.
const many = 16

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

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

// opening is what is kept of the budget for opening what comes of a group.
func (t *turn) opening(group int) time.Duration {
	return min(t.rehearsed[group].open, t.plan.Budget/2)
}

// try hands a group off. The new owners are opened behind the fence too, after the point at which nothing can be
// given up any more: what that is thought to take is kept of the budget, up to half of it.
func (t *turn) try(ctx context.Context, r *transfer.Record, group int, from []uint32, to []shard.Incarnation) (store.HandedOff, error) {
	return t.Store.HandOff(ctx, r.Index, from, to, t.plan.Budget-t.opening(group), func(now placement.Placement, at map[uint32]int64) (placement.Placement, error) {
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
	if handed.Pause > t.plan.Budget {
		t.Logger.Warn("a hand-off took longer than its pause budget", "movement", t.movement.ID, "group", group, "took", handed.Pause, "budget", t.plan.Budget, "steps", fmt.Sprintf("%+v", handed.Steps))
	}
	err := t.Driver.Put(ctx, t.key("pause", group), pause)
	return fmt.Sprintf("%s handed off in %s: %d requests waited, at most %s", names(&r.Groups[group]), handed.Pause.Round(10*time.Microsecond), pause.Waited, pause.Max.Round(10*time.Microsecond)), err
}

// key is that of what is kept of a group, on the way there or back.
func (t *turn) key(what string, group int) string {
	return fmt.Sprintf("%s%s%s/%d", work.Prefix(t.movement.ID), t.way(), what, group)
}

// way is under which what is kept stands: of the way back, apart.
func (t *turn) way() string {
	if s := t.movement.State; s == movement.Reversing || s == movement.Aborting {
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

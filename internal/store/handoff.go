package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// HandedOff tells of a hand-off. Close Staged: its readers keep what they show.
type HandedOff struct {
	Placement placement.Placement // that it made
	At        map[uint32]int64    // H: the last sequence number of each source
	Pause     time.Duration       // from the fence to its release
	Steps     Steps               // what it was made of
	Staged    *shard.Staged       // readers of the sources at H, and what the incarnations show
	// Waits counts the requests that have waited for the fence and gone on by now: shortly
	// after, those are all.
	Waits func() shard.Waits
}

// Steps are what the pause of a hand-off is made of.
type Steps struct {
	Drain  time.Duration `json:"drain"`  // until what was being written was synced
	Stage  time.Duration `json:"stage"`  // the last changes, and what the shards become
	Change time.Duration `json:"change"` // the compare-and-set of the placement
	Open   time.Duration `json:"open"`   // of the new owners, until they answer
}

// Sum is the pause.
func (s Steps) Sum() time.Duration { return s.Drain + s.Stage + s.Change + s.Open }

// OverBudget is a hand-off that did not happen because it would have paused requests for
// too long. Its kind is fault.Unavailable.
type OverBudget struct {
	Step          string // at which it was given up: drain, stage, turn or change
	Spent, Budget time.Duration
}

// Error tells the step.
func (o *OverBudget) Error() string {
	return fmt.Sprintf("the hand-off was given up at its step %q after %v, the pause may take %v: nothing has changed",
		o.Step, o.Spent.Round(time.Microsecond), o.Budget)
}

// Unwrap gives the kind.
func (o *OverBudget) Unwrap() error { return fault.New(fault.Unavailable, "over budget") }

// HandOff makes the shards from what to says, all in one step: fence, stage, one
// compare-and-set of the placement, the new owners open, release. The placement is what
// next makes of the newest one and of H; it names every incarnation, leaves the other shards
// as they are, and raises the version by one, which is the epoch of those that it changes.
// Next may be called several times.
//
// Before the compare-and-set every failure leaves all as it was; one for lack of time is
// *OverBudget: the budget is for what comes before it, and what opening will take is not in it. After it the hand-off goes on to its end, whatever becomes of ctx. While it is
// not known how the compare-and-set has ended, the shards stay fenced. One hand-off is under way at
// a time, and [Store.Unstage] waits for it. An index that is gone is fault.NotFound.
func (s *Store) HandOff(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation, budget time.Duration,
	next func(p placement.Placement, at map[uint32]int64) (placement.Placement, error)) (HandedOff, error) {
	s.running.Add(1) // closing the store waits for its end
	defer s.running.Done()
	if err := s.handing.take(ctx); err != nil {
		return HandedOff{}, err
	}
	defer s.handing.leave()
	h := handOff{store: s, index: index, from: slices.Sorted(slices.Values(from)), to: to, budget: budget, next: next}
	if err := h.sources(ctx); err != nil {
		return HandedOff{}, err
	}
	h.begun = time.Now()
	h.mark = h.begun
	err := h.prepare(ctx)
	if err == nil {
		err = h.change(ctx)
	}
	h.release(ctx)
	h.stepped(&h.result.Steps.Open)
	h.result.Pause = time.Since(h.begun)
	if err != nil && h.result.Staged != nil {
		err = joined(err, h.result.Staged.Close())
	}
	if err != nil {
		return HandedOff{}, err
	}
	h.result.Waits = h.waited
	return h.result, nil
}

// handOff is one call of HandOff.
type handOff struct {
	store  *Store
	index  uint32
	from   []uint32 // ascending
	to     []shard.Incarnation
	budget time.Duration
	next   func(placement.Placement, map[uint32]int64) (placement.Placement, error)

	shards []shard.Shard // of from
	before shard.Waits   // of all of them
	begun  time.Time
	mark   time.Time // where the step under way began
	lifts  []func(context.Context) error
	result HandedOff
}

// sources finds the shards, and refreshes them, so that little is left to do behind the fence.
func (h *handOff) sources(ctx context.Context) error {
	idx := h.store.view.Load().numbered(h.index)
	if idx == nil {
		return gone(h.index)
	}
	for _, number := range h.from {
		sh := idx.shards[number]
		if sh == nil {
			return fault.New(fault.Stale, "index %s has no open shard %d", idx.record.Name, number)
		}
		h.shards = append(h.shards, sh)
	}
	for _, sh := range h.shards {
		if _, err := sh.Refresh(ctx); err != nil {
			return err
		}
		h.before = h.before.Plus(sh.Waits())
	}
	return nil
}

func (h *handOff) waited() shard.Waits {
	var after shard.Waits
	for _, sh := range h.shards {
		after = after.Plus(sh.Waits())
	}
	return after.Since(h.before)
}

// prepare fences the sources and stages what they become, within the budget.
func (h *handOff) prepare(ctx context.Context) error {
	limited, cancel := context.WithDeadline(ctx, h.begun.Add(h.budget))
	defer cancel()
	h.result.At = map[uint32]int64{}
	if err := h.fence(limited); err != nil {
		return h.late(ctx, "drain", err)
	}
	h.stepped(&h.result.Steps.Drain)
	staged, err := h.store.engine.Stage(limited, h.index, h.from, h.to)
	if err != nil {
		return h.late(ctx, "stage", err)
	}
	h.stepped(&h.result.Steps.Stage)
	h.result.Staged = staged
	for i, r := range staged.From {
		if number := h.from[i]; r.SeqNo() != h.result.At[number] {
			return fault.New(fault.Bug, "shard %d was fenced at %d and staged at %d", number, h.result.At[number], r.SeqNo())
		}
	}
	return nil
}

// fence puts all fences up at once: each waits for what is being written to its shard. One
// hand-off is under way at a time, so nobody else fences, and nobody waits in a ring.
func (h *handOff) fence(ctx context.Context) error {
	at, lifts := make([]int64, len(h.shards)), make([]func(context.Context) error, len(h.shards))
	group, limited := errgroup.WithContext(ctx)
	for i, sh := range h.shards {
		group.Go(func() (err error) {
			at[i], lifts[i], err = sh.Fence(limited)
			return err
		})
	}
	err := group.Wait()
	for i, number := range h.from {
		if lifts[i] != nil {
			h.lifts = append(h.lifts, lifts[i])
			h.result.At[number] = at[i]
		}
	}
	return err
}

// stepped ends a step.
func (h *handOff) stepped(took *time.Duration) {
	now := time.Now()
	*took, h.mark = now.Sub(h.mark), now
}

// late makes an error of the budget what it is.
func (h *handOff) late(ctx context.Context, step string, err error) error {
	if spent := time.Since(h.begun); spent >= h.budget && ctx.Err() == nil {
		return &OverBudget{Step: step, Spent: spent, Budget: h.budget}
	}
	return err
}

// change makes the placement name what was staged, and follows it. A change of which it is
// not known whether it was made is tried again: it quotes a revision, so that it is made once,
// and not at all when somebody else was faster.
func (h *handOff) change(ctx context.Context) error {
	s := h.store
	limited, cancel := context.WithDeadline(ctx, h.begun.Add(h.budget))
	defer cancel()
	if err := s.admin.take(limited); err != nil {
		return h.late(ctx, "turn", err)
	}
	defer s.admin.leave()
	begun := context.WithoutCancel(ctx)
	doubt := int64(0) // revision at which a try may still change the record; 0: none
	for round := 1; ; round++ {
		record, p, err := s.readPlacement(begun, h.index)
		if err == nil && h.named(p) {
			h.stepped(&h.result.Steps.Change)
			return h.follow(begun, p)
		}
		if err == nil && record.Revision != doubt {
			doubt = 0 // what was tried there can no longer happen
		}
		if err == nil && doubt == 0 {
			err = limited.Err()
		}
		if err == nil {
			err = h.try(begun, record, p, &doubt)
			if err == nil || fault.Is(err, fault.Conflict) {
				continue // what is there now tells
			}
		}
		if doubt == 0 || fault.Is(err, fault.NotFound) {
			return h.late(ctx, "change", err)
		}
		s.options.Logger.Warn("it is not known whether shards were handed over, they take no requests until it is", "index", h.index, "error", err)
		if !h.rest(begun, round) {
			return fault.At(err, "handing shards over, while the store is being closed")
		}
	}
}

// try is one compare-and-set. Doubt is set when it may have been made.
func (h *handOff) try(ctx context.Context, record coord.Record, p placement.Placement, doubt *int64) error {
	next, err := h.next(p, h.result.At)
	if err == nil {
		err = h.check(p, next)
	}
	if err != nil {
		return err
	}
	_, err = h.store.coord.Swap(ctx, record.Key, record.Revision, next.Encode())
	if err == nil || !refused(err) && !fault.Is(err, fault.Conflict) {
		*doubt = record.Revision
	}
	return fault.At(err, record.Key)
}

// rest lets others have their turn for a while; false when the store is being closed.
func (h *handOff) rest(ctx context.Context, round int) bool {
	h.store.admin.leave()
	_ = pause(h.store.background, round)
	_ = h.store.admin.take(ctx) // ctx does not end
	return h.store.background.Err() == nil
}

// named reports whether a placement names everything that was staged.
func (h *handOff) named(p placement.Placement) bool {
	for _, i := range h.to {
		if row, is := p.Shard(i.Number); !is || row.Range != i.Range || row.Term != i.Term {
			return false
		}
	}
	return true
}

// check refuses a placement that is not the next one with what was staged.
func (h *handOff) check(p, next placement.Placement) error {
	wrong := next.Version != p.Version+1 || next.Index != p.Index || next.Next < p.Next || !h.named(next) ||
		len(next.Shards) != len(p.Shards)-len(h.from)+len(h.to)
	for _, i := range h.to {
		row, _ := next.Shard(i.Number)
		wrong = wrong || row.Epoch != next.Version
	}
	for _, row := range p.Shards {
		if !slices.Contains(h.from, row.Number) {
			same, is := next.Shard(row.Number)
			wrong = wrong || !is || same != row
		}
	}
	if wrong {
		return fault.New(fault.Bug, "a hand-off of the shards %v to %v cannot make of the placement\n%v this one:\n%v", h.from, h.to, p, next)
	}
	return next.Check()
}

// follow lets the new owners answer.
func (h *handOff) follow(ctx context.Context, p placement.Placement) error {
	s := h.store
	for round := 1; ; round++ {
		idx := s.view.Load().numbered(h.index)
		if idx == nil {
			return gone(h.index)
		}
		err := s.place(ctx, idx, p)
		if err == nil {
			h.result.Placement = p
			return nil
		}
		s.options.Logger.Error("shards were handed over and cannot be opened, it is tried again", "index", h.index, "error", err)
		if !h.rest(ctx, round) {
			return err
		}
	}
}

// release ends the fences. A shard that cannot read its placement stays fenced meanwhile.
func (h *handOff) release(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	var lifting sync.WaitGroup
	for _, lift := range h.lifts {
		lifting.Go(func() {
			for round := 1; ; round++ {
				err := lift(ctx)
				if err == nil || fault.Is(err, fault.Stale) || h.store.background.Err() != nil { // it is closed, or will be
					return
				}
				h.store.options.Logger.Warn("a shard takes no requests until its placement can be read", "index", h.index, "error", err)
				_ = pause(h.store.background, round)
			}
		})
	}
	lifting.Wait()
}

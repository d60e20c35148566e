package reshard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Lane does the phases of splits and merges in one served store. Safe for concurrent use.
type Lane struct {
	Store *store.Store

	mu      sync.Mutex
	pinned  map[pin]store.HandedOff
	working map[string]int   // slots at work for a movement
	waits   map[string]error // what a movement waits out just now
}

var _ worker.Lane = (*Lane)(nil)

// Begin puts the reshaping of a movement into the placement of its index: from then on no
// other can be begun. The entry in the ledger stands before it does. That another one is
// there is fault.Conflict, and names it; so is that the movement was aborted meanwhile. Of what
// was refused no entry stays.
func (l *Lane) Begin(ctx context.Context, d *drive.Driver, id string, p Plan, change placement.Change) error {
	entry := entryOf(&p)
	entry.At, entry.By = change.At, change.By
	if err := d.Intend(ctx, id, entry); err != nil {
		return err
	}
	_, err := l.Store.ChangePlacement(ctx, p.Shards.Index, func(now placement.Placement) (placement.Placement, error) {
		// Read within the store's turn: an abort that comes later waits for it, in back.
		switch m, err := d.Movement(ctx, id); {
		case err != nil:
			return now, err
		case m.State != movement.Planned:
			return now, fault.WithNext(fault.New(fault.Conflict, "movement %s is %s", id, m.State), "begin another one")
		}
		return transfer.Begin(now, p.Shards, transfer.Asked{Movement: id, Name: p.Index, Change: change})
	})
	if err != nil {
		err = fault.At(err, "index "+p.Index)
		if Refused(err) { // the movement may have been aborted, and its records gone, before the entry came
			err = errors.Join(err, d.Strike(ctx, id, entry))
		}
		return err
	}
	return d.Made(ctx, id, entry, "")
}

// Refused tells whether a reshaping was not begun; false: that is not known.
func Refused(err error) bool {
	refusals := []fault.Kind{fault.Conflict, fault.NotFound, fault.Refused, fault.Usage, fault.Limit, fault.Bug}
	return slices.ContainsFunc(refusals, func(kind fault.Kind) bool { return fault.Is(err, kind) })
}

// entryOf is the ledger's: the reshaping. Finish has nothing to hand over, since the record
// goes out of the placement when nothing is left to do.
func entryOf(p *Plan) movement.Entry {
	return movement.Entry{Kind: "reshaping", Name: p.Index}
}

// turn is one turn of one slot for one movement.
type turn struct {
	*Lane
	worker.Slot
	movement  *movement.Record
	plan      Plan
	rehearsed map[int]rehearsed // by group, in this turn
	written   written
	shed      map[int]bool // the groups whose shards have shed, in this turn
	shedding  atomic.Int64 // how many do
}

func (l *Lane) turn(s worker.Slot, m *movement.Record) (*turn, error) {
	plan, err := ReadPlan(m)
	return &turn{Lane: l, Slot: s, movement: m, plan: plan, rehearsed: map[int]rehearsed{}}, err
}

// Turn does what the reshaping owes for a phase.
func (l *Lane) Turn(ctx context.Context, s worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	t, err := l.turn(s, m)
	if err != nil {
		return worker.Outcome{}, err
	}
	deeds, known := deedsOf[phase.Name]
	if !known {
		return worker.Outcome{}, worker.Unable(fault.New(fault.Refused, "this version knows no phase %q of a split or a merge", phase.Name))
	}
	if gone, err := l.gone(ctx, &t.plan); gone || err != nil {
		return t.nothingLeft(ctx, gone, err)
	}
	defer l.atWork(m.ID)()
	var held error // what an operator is needed for: it holds the movement, and another attempt may go on
	key := work.Prefix(m.ID) + "phase/" + work.Safe(phase.Key())
	outcome, err := worker.SingleTold(ctx, s, m, key, t.plan.Policy, func(ctx context.Context) (string, error) {
		text, err := t.patiently(ctx, phase, deeds)
		if err != nil && ctx.Err() == nil {
			held = err
		}
		return text, err
	})
	if held != nil {
		if err := s.Driver.Remove(ctx, key); err != nil {
			return outcome, err
		}
		return worker.Outcome{Worked: true}, held
	}
	return outcome, err
}

// patience is how long a phase is tried again that meets what may go away by itself; then the
// movement holds. A store that takes no writes, since its disk is full, is waited for as long as that
// lasts: everybody else does so too, and nothing needs to be decided.
var patience = 30 * time.Second

// patiently does the deeds of a phase, again and again while what fails them may pass.
func (t *turn) patiently(ctx context.Context, phase *movement.Phase, deeds []transfer.Deed) (text string, err error) {
	began := time.Now()
	defer t.wait(t.movement.ID, nil)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		var before string
		if before, err = t.begin(ctx, phase); err == nil {
			text, err = t.all(ctx, deeds)
			text = strings.Trim(before+"; "+text, "; ")
		}
		if err == nil || !drive.Passing(err) {
			return text, err
		}
		t.wait(t.movement.ID, err)
		if t.Store.Health().ReadOnly != nil {
			began = time.Now()
		} else if spent := time.Since(began); spent+pause > patience {
			return text, fault.WithNext(fault.New(fault.Refused, "for %s it did not get on: %w", spent.Round(time.Second), err),
				"%s; then resume it", cmp.Or(fault.Next(err), "mend the cause"))
		}
		t.Logger.Warn("a phase is tried again", "movement", t.movement.ID, "error", err)
		if waited := drive.Wait(ctx, pause); waited != nil {
			return text, waited
		}
	}
}

// wait notes what a movement waits out; nil: nothing. It is kept in memory: what is waited for may be a disk to
// store it on.
func (l *Lane) wait(id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits == nil {
		l.waits = map[string]error{}
	}
	if l.waits[id] = err; err == nil {
		delete(l.waits, id)
	}
}

// Waits is what a movement waits for, and goes on by itself when that has passed; nil: nothing that is known.
func (l *Lane) Waits(m *movement.Record) error {
	if len(m.Owed()) == 0 {
		return nil
	}
	if full := l.Store.Health().ReadOnly; full != nil {
		return full
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits[m.ID]
}

// deedsOf are the deeds of each phase.
var deedsOf = map[string][]transfer.Deed{
	PhaseClone:           {transfer.MakeClone, transfer.Compare},
	PhaseSwitch:          {transfer.MakeClone, transfer.Compare, transfer.HandOff, transfer.OpenTarget},
	movement.VerifyPhase: {transfer.OpenTarget, transfer.CompareAtH},
	PhaseRetire:          {transfer.Shed, transfer.Retire, transfer.Drop},
}

// begin does what comes before the deeds of a phase: a comparison that was asked for again is
// made again, and what retires begins by closing the way back.
func (t *turn) begin(ctx context.Context, phase *movement.Phase) (string, error) {
	switch {
	case phase.Name == movement.VerifyPhase && phase.Run > 1:
		return t.compareAgain(ctx)
	case phase.Name == PhaseRetire:
		t.unpin(t.movement.ID) // it was compared, and that may have been heard of late
		return "", t.tell(ctx, transfer.Event{Happened: transfer.Finish})
	}
	return "", nil
}

// Undo takes the reshaping back: it is dropped where nothing was handed off, and led back by
// the same way where something was.
func (l *Lane) Undo(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return l.close(ctx, s, m, (*turn).back)
}

// Settle removes the reshaping, of which nothing is left to do.
func (l *Lane) Settle(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	return l.close(ctx, s, m, func(*turn, context.Context) error { return nil })
}

// atWork notes that a slot works for a movement. No other process does: a store is open in
// one, so that the leases of one that was killed need not be waited for.
func (l *Lane) atWork(id string) (done func()) {
	note := func(n int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.working == nil {
			l.working = map[string]int{}
		}
		if l.working[id] += n; l.working[id] == 0 {
			delete(l.working, id)
		}
	}
	note(1)
	return func() { note(-1) }
}

func (l *Lane) busy(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.working[id] > 0
}

// read is the placement, and the movement's reshaping in it; nil when it has none, or the
// index is gone.
func (t *turn) read(ctx context.Context) (placement.Placement, *transfer.Record, error) {
	p, err := t.Store.NewestPlacement(ctx, t.plan.Shards.Index)
	if fault.Is(err, fault.NotFound) {
		return p, nil, nil
	}
	if err != nil {
		return p, nil, err
	}
	r, found, err := transfer.Of(p)
	if err != nil || !found || r.Movement != t.movement.ID {
		return p, nil, err
	}
	return p, &r, nil
}

// tell lets an event happen to the reshaping. That there is none any more is no error.
func (t *turn) tell(ctx context.Context, e transfer.Event) error {
	_, err := t.Store.ChangePlacement(ctx, t.plan.Shards.Index, func(p placement.Placement) (next placement.Placement, err error) {
		next, _, err = transfer.Advance(p, t.movement.ID, e, t.change(string(e.Happened)))
		return next, err
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// change is how the placement tells who has changed it.
func (t *turn) change(why string) placement.Change {
	return placement.Change{By: t.Worker, Why: string(t.movement.Kind) + " " + t.movement.ID + ": " + why, At: time.Now().UTC()}
}

// incarnations are what the shards of a group become, by range.
func incarnations(p placement.Placement, r *transfer.Record, group int) (from []uint32, to []shard.Incarnation, err error) {
	next, err := transfer.Apply(p, *r, group, placement.Change{})
	if err != nil {
		return nil, nil, err
	}
	g := &r.Groups[group]
	for i := range g.Sources {
		from = append(from, g.Sources[i].Shard)
	}
	add := func(number uint32) {
		row, _ := next.Shard(number)
		to = append(to, shard.Incarnation{Number: number, Range: row.Range, Term: row.Term})
	}
	if g.Sources[0].Keeps != nil {
		add(g.Sources[0].Shard)
	}
	for i := range g.Targets {
		add(g.Targets[i].Shard)
	}
	return from, to, nil
}

// positions are H, or another point, of the sources of a group.
func positions(g *transfer.Group, at map[uint32]int64) (all []transfer.Position) {
	for i := range g.Sources {
		s := &g.Sources[i]
		all = append(all, transfer.Position{Shard: s.Shard, Term: s.Before.Term, SeqNo: at[s.Shard]})
	}
	return all
}

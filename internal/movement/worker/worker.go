package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/movement/work"
	"golang.org/x/sync/errgroup"
)

// Lane does the phases of one kind of movement.
type Lane interface {
	// Turn does at most one piece of the phase. Errors that may pass are tried again later;
	// others hold the movement.
	Turn(ctx context.Context, s Slot, m *movement.Record, phase *movement.Phase) (Outcome, error)
	// Undo takes away what stands in the ledger, and then the records of the movement's
	// pieces: Done when nothing is left. Of a movement that is reversing it leads readers and
	// writers back before that, and loses no write.
	Undo(ctx context.Context, s Slot, m *movement.Record) (Outcome, error)
	// Settle hands over what stands in the ledger, or undoes what was only for the time of
	// the movement, and then removes the records of its pieces.
	Settle(ctx context.Context, s Slot, m *movement.Record) (Outcome, error)
}

// Outcome is what a turn came to.
type Outcome struct {
	Worked bool            // something was done: another turn may find more at once
	Done   bool            // the phase has ended
	Piece  string          // with Failed: the key of the piece that failed
	Failed bool            // the phase has ended without having done what it should
	Listed bool            // the phase has come to an end that an operator may accept: differences, failures
	Text   string          // what Done, Failed and Listed tell people
	Next   string          // what an operator can do about Listed, or Failed
	Report json.RawMessage // what was proved, with Done
	Plan   json.RawMessage // the plan as this phase has completed it, with Done; nil when it had nothing to add
}

// Slot is who takes a turn.
type Slot struct {
	Driver *drive.Driver
	Worker string // its name in leases
	Logger *slog.Logger
	// Sees, which the lane may set for its turn, is shown the movement at each heartbeat, and
	// tells whether the work on a piece may go on; nil: it may.
	Sees func(now *movement.Record) bool

	board *Board // nil: nobody looks
	bars  *bars  // of the process
	waits *await // of the process
}

// Options of a worker. The zero value of a field is its default.
type Options struct {
	Name     string        // of the process, unique
	Slots    int           // pieces at a time; 1
	Movement string        // the only movement to work for; "": all
	Once     bool          // end when there is nothing to do
	Pause    time.Duration // about, between turns that found nothing; 1 s
	Logger   *slog.Logger
	Board    *Board // shows what the slots do; nil: nobody looks
}

// Run works until ctx ends, or, with Once or a movement, until nothing is left to do. It is
// the error of a movement that this worker cannot work for when only such are left.
func Run(ctx context.Context, d *drive.Driver, lanes map[movement.Kind]Lane, o Options) error {
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	group, ctx := errgroup.WithContext(ctx)
	barred, waited, slots := &bars{}, &await{driver: d, process: o.Name}, max(o.Slots, 1)
	for n := range slots {
		s := Slot{Driver: d, Worker: fmt.Sprintf("%s-%d", o.Name, n), Logger: o.Logger, board: o.Board, bars: barred, waits: waited}
		group.Go(func() error { return s.run(chance.Apart(ctx, n), lanes, o) })
	}
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		waited.report(chance.Apart(ctx, slots), max(o.Pause, leastPause))
	}()
	err := group.Wait() // and with it ends the context
	<-reported
	return err
}

func (s Slot) run(ctx context.Context, lanes map[movement.Kind]Lane, o Options) error {
	defer s.board.end(s.Worker)
	alone := o.Once || o.Movement != ""
	said := "" // what the last turn failed with: that is logged once
	for ctx.Err() == nil {
		m, left, err := s.choose(ctx, lanes, o)
		worked := false
		switch {
		case IsUnable(err) && alone:
			return err
		case err == nil && m == nil && (!left || o.Once):
			return nil
		case m == nil:
			s.board.begin(s.Worker, "", "")
		default:
			if worked, err = s.turn(ctx, lanes[m.Kind], m); err == nil && !worked {
				err = s.Driver.Uncertain(ctx)
			}
			s.board.done(s.Worker, m.ID, worked, err)
		}
		switch {
		case err == nil:
			said = ""
		case ctx.Err() == nil:
			if err := s.failed(ctx, m, err, &said); err != nil {
				return err
			}
		}
		if !worked && drive.Wait(ctx, o.Pause) != nil {
			break
		}
	}
	return nil
}

// failed tells of a turn that failed; the error, if any, ends the slot. M is nil when no
// movement was chosen. Said is what was logged before.
func (s Slot) failed(ctx context.Context, m *movement.Record, err error, said *string) error {
	switch {
	case IsUnable(err):
		if m == nil {
			return nil
		}
		if s.bars.add(m.ID, err) {
			s.Logger.Error("this worker cannot work for a movement, and leaves it to others", "worker", s.Worker, "movement", m.ID, "error", err, "next", fault.Next(err))
		}
		if e := s.record(ctx, m, err); e != nil && ctx.Err() == nil {
			s.Logger.Warn("that is not on record", "worker", s.Worker, "movement", m.ID, "error", e)
		}
		return nil
	case m == nil && !drive.Passing(err):
		return err
	}
	if err.Error() != *said {
		s.Logger.Warn("a turn failed", "worker", s.Worker, "error", err)
	}
	*said = err.Error()
	ended := fault.Is(err, fault.LostLease) || fault.Is(err, fault.Interrupted) // nobody has told the worker to stop: the context was that of a lease
	if !drive.Passing(err) && !ended && !fault.Is(err, fault.Conflict) {
		return err
	}
	return nil
}

// choose picks one of the movements that have something to do; left tells whether there may
// be more to do later.
func (s Slot) choose(ctx context.Context, lanes map[movement.Kind]Lane, o Options) (m *movement.Record, left bool, err error) {
	var all []movement.Record
	if o.Movement != "" {
		one, err := s.Driver.Movement(ctx, o.Movement)
		if err != nil {
			return nil, false, err
		}
		all = []movement.Record{one}
	} else if all, err = s.Driver.Movements(ctx); err != nil {
		return nil, false, err
	}
	left = o.Movement == ""
	var ready []*movement.Record
	for i := range all {
		r := &all[i]
		if r.State.Unreadable() && s.bars.add(r.ID, fault.New(fault.Refused, "%s", r.Cause)) {
			s.Logger.Error("the record of a movement cannot be read: this worker leaves that one alone", "worker", s.Worker, "movement", r.ID, "error", r.Cause, "next", r.Next)
		}
		if lanes[r.Kind] == nil {
			continue
		}
		if len(r.Owed()) > 0 {
			ready = append(ready, r)
		}
		left = left || r.State == movement.Paused
	}
	ready, err = s.bars.without(ready)
	if len(ready) == 0 {
		return nil, left, err
	}
	return ready[chance.N(ctx, len(ready))], true, nil
}

// turn does what a movement owes, and tells it what came of it.
func (s Slot) turn(ctx context.Context, lane Lane, m *movement.Record) (worked bool, err error) {
	phase := ""
	if current := m.Current(); current != nil {
		phase = current.Key()
	}
	s.board.begin(s.Worker, m.ID, phase)
	ctx, leave := s.waits.enter(ctx, m.ID)
	defer leave()
	defer func() {
		if err != nil && drive.Passing(err) {
			waits.Note(ctx, err)
		}
	}()
	switch m.Owed()[0] {
	case movement.Undo, movement.Return:
		return s.end(ctx, m, lane.Undo, movement.Undone)
	case movement.Settle:
		return s.end(ctx, m, lane.Settle, movement.Settled)
	case movement.Work:
		return s.phase(ctx, lane, m)
	}
	return false, fault.New(fault.Refused, "this version cannot do a step that movement %s has left: %s", m.ID, m.Owed()[0])
}

// end does what leads to an end of the movement.
func (s Slot) end(ctx context.Context, m *movement.Record, do func(context.Context, Slot, *movement.Record) (Outcome, error),
	happened movement.Happening) (worked bool, err error) {
	outcome, err := do(ctx, s, m)
	if work.IsNewer(err) || fault.Is(err, fault.Corrupt) { // of this movement alone
		err = Unable(err)
	}
	switch {
	case fault.Is(err, fault.LostLease):
		return false, s.tidy(ctx, m, err)
	case err != nil:
		return outcome.Worked, err
	case outcome.Failed: // it is said, and tried again after a pause: nothing else leads out of here
		if err = s.tell(ctx, m, movement.Event{Happened: movement.Stuck, Cause: outcome.Text}); err == nil {
			err = s.Driver.RemoveFailed(ctx, ClosingKey(m.ID)) // not what is kept beside it
		}
		return false, err
	case outcome.Done:
		err = s.tell(ctx, m, movement.Event{Happened: happened, Report: outcome.Report})
		if fault.Is(err, fault.NotFound) { // it was forgotten meanwhile, since it was refused
			err = nil
		}
	default:
		return outcome.Worked, nil
	}
	if err == nil { // only now: until the end is stored, whoever comes needs what it was told with
		err = Tidy(ctx, s.Driver)
	}
	return outcome.Worked, err
}

// phase does something for the current phase.
func (s Slot) phase(ctx context.Context, lane Lane, m *movement.Record) (worked bool, err error) {
	phase := m.Current()
	if phase == nil {
		return false, nil
	}
	if phase.Started.IsZero() {
		return true, s.tell(ctx, m, movement.Event{Happened: movement.PhaseBegun, Phase: phase.Key()})
	}
	outcome, err := lane.Turn(ctx, s, m, phase)
	if work.IsNewer(err) { // a worker of a newer release does it
		err = Unable(err)
	}
	switch {
	case ctx.Err() != nil:
		if err != nil && !errors.Is(err, context.Canceled) {
			s.Logger.Warn("a lease was not handed back: others wait until it ends", "worker", s.Worker, "error", err)
		}
		if err := s.tidy(ctx, m, nil); err != nil { // it has slept perhaps, and was told to stop meanwhile
			s.Logger.Warn("it is not known whether a record was left", "worker", s.Worker, "movement", m.ID)
		}
		return false, nil
	case fault.Is(err, fault.LostLease):
		return false, s.tidy(ctx, m, err)
	case err != nil && (IsUnable(err) || drive.Passing(err) || errors.Is(err, context.Canceled)):
		return false, err
	case err != nil:
		return true, s.tell(ctx, m, movement.Event{Happened: movement.Stuck, Phase: phase.Key(), Cause: err.Error(), Next: fault.Next(err)})
	case outcome.Failed:
		return true, s.giveUp(ctx, m, phase.Key(), outcome)
	case outcome.Listed:
		return true, s.tell(ctx, m, movement.Event{Happened: movement.Stuck, Phase: phase.Key(), Cause: outcome.Text, Next: outcome.Next, Listed: true})
	case outcome.Done:
		return true, s.tell(ctx, m, movement.Event{Happened: movement.PhaseDone, Phase: phase.Key(), Cause: outcome.Text, Report: outcome.Report, Plan: outcome.Plan})
	}
	return outcome.Worked, nil
}

// giveUp says that the phase has failed, and forgets the piece that did: resume, which the
// failure offers, begins it anew. Where it has been resumed already, and the piece was, that stays.
func (s Slot) giveUp(ctx context.Context, m *movement.Record, phase string, outcome Outcome) error {
	err := s.tell(ctx, m, movement.Event{Happened: movement.GaveUp, Phase: phase, Cause: outcome.Text, Next: outcome.Next})
	if err == nil && outcome.Piece != "" {
		err = s.forget(ctx, m, outcome.Piece)
	}
	return err
}

// forget removes a piece that has failed. What its holders have sent may still be on its way: until when stays on record,
// for whoever ends the movement (see Busy). While that goes on the piece itself tells it, and goes away with the others.
func (s Slot) forget(ctx context.Context, m *movement.Record, key string) error {
	piece, err := drive.Read[work.Lease](ctx, s.Driver, key)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil || piece.State != work.Failed:
		return err
	}
	former := work.Lease{CreatorID: s.Worker, FormerUntil: piece.FormerUntil}
	if piece.CompletedAt.After(former.FormerUntil) {
		former.FormerUntil = piece.CompletedAt
	}
	trace := work.Prefix(m.ID) + "former/" + work.Safe(strings.TrimPrefix(key, work.Prefix(m.ID)))
	if err := s.Driver.Put(ctx, trace, former); err != nil {
		return err
	}
	now, err := s.Driver.Movement(ctx, m.ID)
	if err != nil {
		return err
	}
	if now.State.Ended() || ending(&now) {
		err = s.Driver.Remove(ctx, trace)
	}
	if err != nil || ending(&now) {
		return err
	}
	return s.Driver.RemoveFailed(ctx, key)
}

// tell lets a happening happen. That it no longer can is no error: someone else was faster,
// or an operator has stopped the movement meanwhile.
func (s Slot) tell(ctx context.Context, m *movement.Record, e movement.Event) error {
	e.By, e.Stint = s.Worker, m.Stint
	_, _, err := s.Driver.Apply(ctx, m.ID, e)
	switch {
	case drive.IsUnread(err), fault.Is(err, fault.NotFound): // damaged, or set aside, meanwhile: others are worked for
		return Unable(err)
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.Refused):
		return nil
	}
	return err
}

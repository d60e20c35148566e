package movement

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// happening applies what a worker tells.
func (r *Record) happening(e Event) (effects []Effect, changed bool, err error) {
	switch e.Happened {
	case Undone:
		return r.undone(e)
	case Settled:
		return r.settled(e)
	case PhaseBegun, PhaseDone:
		return r.phase(e)
	case Stuck, GaveUp:
		return r.stopped(e)
	}
	return nil, false, fault.New(fault.Usage, "%q is no happening", e.Happened)
}

// late is the answer to a worker whose news come when they no longer count.
func (r *Record) late(e Event) error {
	return fault.WithNext(fault.New(fault.Conflict, "the movement is %s: %s comes too late", r.State, e.words()), "read the movement again")
}

func (r *Record) undone(e Event) ([]Effect, bool, error) {
	switch r.State {
	case Aborting:
		r.State, r.Cause, r.Next = Aborted, "", ""
	case Reversing:
		r.State, r.Cause, r.Next = Reversed, "", ""
	case Aborted, Reversed:
		return nil, false, nil
	default:
		return nil, false, r.late(e)
	}
	r.report(e)
	return nil, true, nil
}

func (r *Record) settled(e Event) ([]Effect, bool, error) {
	switch {
	case r.State == Finished:
		return nil, false, nil
	case r.State != Running || !r.Settling:
		return nil, false, r.late(e)
	}
	r.State, r.Settling = Finished, false
	r.report(e)
	return nil, true, nil
}

func (r *Record) report(e Event) {
	if e.Report != nil {
		r.Report = e.Report
	}
}

// phase begins or ends the current phase. What was said of a phase that has ended, or that
// has begun already, is said twice.
func (r *Record) phase(e Event) ([]Effect, bool, error) {
	p, before, err := r.named(e.Phase)
	switch {
	case err != nil:
		return nil, false, err
	case before, e.Happened == PhaseBegun && !p.Started.IsZero():
		return nil, false, nil
	case e.Happened == PhaseBegun && r.State != Running,
		e.Happened == PhaseDone && r.State != Running && r.State != Paused:
		return nil, false, r.late(e)
	case p != r.open() && e.Stint != 0 && e.Stint != r.Stint: // an operator has put another before it
		return nil, false, r.late(e)
	case p != r.open():
		return nil, false, fault.New(fault.Bug, "phase %s is not the current one", e.Phase)
	case e.Happened == PhaseBegun:
		p.Started = e.At
		return nil, true, nil
	case p.Started.IsZero():
		return nil, false, fault.New(fault.Bug, "phase %s is done, and nobody began it", e.Phase)
	}
	p.Ended, p.Outcome = e.At, short(e.Cause)
	if e.Plan != nil {
		r.Plan = e.Plan
	}
	r.report(e)
	if r.State == Paused { // it was nearly done when the pause came; resume goes on behind it
		return nil, true, nil
	}
	return r.advance(), true, nil
}

// named is the phase with key. Before tells that it has ended, perhaps so long ago that it
// was forgotten.
func (r *Record) named(key string) (p *Phase, before bool, err error) {
	name, run, again := strings.Cut(key, "/")
	nth, _ := strconv.Atoi(run)
	for i := range r.Phases {
		switch p := &r.Phases[i]; {
		case p.Key() == key:
			return p, !p.Ended.IsZero(), nil
		case again && p.Name == name && p.Run > nth && nth > 1:
			before = true
		}
	}
	if before {
		return nil, true, nil
	}
	return nil, false, fault.New(fault.Bug, "the movement has no phase %q", key)
}

// stopped holds the movement, or fails it. Where it is going back already, it only says
// why that does not get on.
func (r *Record) stopped(e Event) ([]Effect, bool, error) {
	if e.Stint != 0 && e.Stint != r.Stint {
		return nil, false, r.late(e)
	}
	if r.State == Aborting || r.State == Reversing || r.Settling {
		if e.Phase != "" {
			return nil, false, r.late(e)
		}
		return r.stuckAtTheEnd(e)
	}
	p, before, err := r.named(e.Phase)
	switch {
	case err != nil:
		return nil, false, err
	case before, r.State == Held, r.State == Failed:
		return nil, false, nil
	case r.State != Running:
		return nil, false, r.late(e)
	case p != r.open():
		return nil, false, fault.New(fault.Bug, "phase %s is not the current one", e.Phase)
	}
	r.State = Failed
	if e.Happened == Stuck {
		r.State, r.Listed = Held, e.Listed
	}
	r.Cause, r.Next = short(e.Cause), short(e.Next)
	r.report(e)
	return nil, true, nil
}

// stuckAtTheEnd says why settling, aborting or reversing does not get on. Going back goes
// on by itself, and settling is held.
func (r *Record) stuckAtTheEnd(e Event) ([]Effect, bool, error) {
	if r.State == Held || r.State == Failed || (r.Cause == short(e.Cause) && !r.Settling) {
		return nil, false, nil
	}
	r.Cause, r.Next = short(e.Cause), short(e.Next)
	if r.Settling {
		r.State = Held
		return nil, true, nil
	}
	return []Effect{Notify}, true, nil
}

package movement

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
)

// Bounds of what a record holds, however long it lives.
const (
	journalFirst = 16   // the first events of the journal are kept for ever,
	journalLast  = 240  // and the newest
	maxText      = 1000 // bytes of a cause, an outcome or a reason
	maxRate      = 4096 // bytes of a rate
	maxReruns    = 32   // ended runs of phases that were done again
)

// Step is the whole machine: what becomes of r by e, and what is to be done once that has
// been stored. R itself is not changed.
//
// An event is told from another by its time, by whose it is and by its words: who does not
// know whether the result was stored steps again with the same event. When nothing is to be
// done about e, because it was applied before or there is nothing to do, r comes back as it
// is: Events has not changed.
//
// It is fault.Conflict or fault.Refused, with what to do instead, when the table says no or
// when e comes too late; fault.Usage for an event that is none; fault.Bug for a record or a
// happening that cannot be.
func Step(r Record, e Event) (Record, []Effect, error) {
	if err := r.Check(); err != nil {
		return r, nil, err
	}
	if err := e.check(); err != nil {
		return r, nil, err
	}
	e.At = e.At.UTC()
	if r.applied(e) {
		return r, nil, nil
	}
	next := r
	next.Phases = slices.Clone(r.Phases)
	next.Journal = slices.Clone(r.Journal)
	step := next.happening
	if e.Verb != "" {
		step = next.verb
	}
	effects, changed, err := step(e)
	if err != nil || !changed {
		return r, nil, err
	}
	if r.State == Running && slices.Contains([]State{Paused, Held, Failed, Aborting, Reversing}, next.State) {
		effects = append([]Effect{Halt}, effects...)
	}
	if next.State != r.State {
		effects = append(effects, Notify)
	}
	if next.State.Ended() {
		next.Ended = e.At
	}
	next.record(e)
	return next, effects, nil
}

// check is fault.Usage for an event that is none.
func (e *Event) check() error {
	switch {
	case e.At.IsZero():
		return fault.New(fault.Bug, "an event has no time")
	case e.Verb != "" && e.Happened != "":
		return fault.New(fault.Bug, "an event is both %s and %s", e.Verb, e.Happened)
	case e.Verb != "" && !slices.Contains(Verbs, e.Verb):
		return fault.New(fault.Usage, "%q is no verb", e.Verb)
	case e.Unswitched && e.Verb != Abort:
		return fault.New(fault.Bug, "only an abort is of what was not switched")
	case (e.Overwrite || e.DeleteExtra) && e.Verb != Repair:
		return fault.New(fault.Bug, "only a repair overwrites, or deletes what is too many")
	case e.Plan != nil && (e.Happened != PhaseDone || !json.Valid(e.Plan)):
		return fault.New(fault.Bug, "only the end of a phase completes a plan, and by JSON")
	case e.Verb == Throttle && (len(e.Rate) > maxRate || !json.Valid(e.Rate)):
		return fault.New(fault.Usage, "throttle takes a rate as JSON of at most %d bytes", maxRate)
	}
	return nil
}

// applied tells whether the journal holds e: a caller who did not learn whether the record
// was stored steps again with the event as it was.
func (r *Record) applied(e Event) bool {
	return slices.ContainsFunc(r.Journal, func(a Applied) bool {
		return a.At.Equal(e.At) && a.By == e.By && a.Event == e.words()
	})
}

// record puts e into the journal, of which the first and the newest events are kept.
func (r *Record) record(e Event) {
	r.Events++
	if len(r.Journal) >= journalFirst+journalLast {
		r.Journal = slices.Delete(r.Journal, journalFirst, journalFirst+1)
	}
	r.Journal = append(r.Journal, Applied{At: e.At, Event: e.words(), By: e.By, State: r.State})
}

// verb carries out what an operator asks for.
func (r *Record) verb(e Event) (effects []Effect, changed bool, err error) {
	rule := r.Ask(e.Verb)
	if rule.Answer != Goes && (!e.Unswitched || rule.When != HasFlipped) {
		return nil, false, rule.Err()
	}
	switch e.Verb {
	case Throttle:
		r.Rate = e.Rate
		return []Effect{Adapt}, true, nil
	case Pause:
		r.State = Paused
		return nil, true, nil
	case Abort:
		return r.back(Aborting, Undo), true, nil
	case Reverse:
		return r.back(Reversing, Return), true, nil
	case Start:
		r.Started = e.At
		if r.By == "" {
			r.By, r.Why = e.By, short(e.Why)
		}
	case Verify, Repair, Redrive:
		r.insert(e)
	case Switch:
		r.SwitchAsked = true
	case Finish:
		r.accept(e)
	}
	r.State, r.Cause, r.Next, r.Listed = Running, "", "", false
	r.Stint++
	return r.advance(), true, nil
}

// back turns to s, where all that is left is effect.
func (r *Record) back(s State, effect Effect) []Effect {
	r.State, r.Cause, r.Next, r.Listed = s, "", "", false
	return []Effect{effect}
}

// accept ends the phase that is held for a list, and remembers the wish to finish once
// nothing is left to be switched.
func (r *Record) accept(e Event) {
	if r.State == Held && CauseIsList.holds(r) {
		p := r.open()
		p.Ended, p.Outcome = e.At, short("accepted by "+e.By+": "+r.Cause)
	}
	if !r.any(func(p *Phase) bool { return p.Flips && p.Ended.IsZero() }) {
		r.FinishAsked = true
	}
}

// insert puts the phase that e asks for before the current one, with a verify after it
// unless one comes next. A check that is held ends: what was asked for takes its place.
func (r *Record) insert(e Event) {
	at := r.openAt()
	unchecked := CopyIsOpen.holds(r)
	if at < len(r.Phases) && r.Phases[at].Check() {
		p := &r.Phases[at]
		p.Ended, p.Outcome = e.At, short("ended, since "+string(e.Verb)+" was asked for: "+r.Cause)
		at++
	}
	verifyNext := at < len(r.Phases) && r.Phases[at].Name == VerifyPhase
	if e.Verb != Verify {
		p := r.another(string(e.Verb))
		p.Overwrite, p.DeleteExtra = e.Overwrite, e.DeleteExtra
		r.Phases = slices.Insert(r.Phases, at, p)
		at++
	}
	if !verifyNext && !unchecked {
		r.Phases = slices.Insert(r.Phases, at, r.another(VerifyPhase))
	}
	r.forgetReruns()
}

// another is a phase with name that has not been before.
func (r *Record) another(name string) Phase {
	run := 0
	for i := range r.Phases {
		if p := &r.Phases[i]; p.Name == name {
			run = max(run, p.Run, 1)
		}
	}
	if run == 0 {
		return Phase{Name: name}
	}
	return Phase{Name: name, Run: run + 1}
}

// forgetReruns keeps the newest runs of phases that were done again and again.
func (r *Record) forgetReruns() {
	rerun := func(p Phase) bool { return p.Run > 0 && !p.Ended.IsZero() }
	ended := 0
	for i := range r.Phases {
		if rerun(r.Phases[i]) {
			ended++
		}
	}
	for ; ended > maxReruns; ended-- {
		oldest := slices.IndexFunc(r.Phases, rerun)
		r.Phases = slices.Delete(r.Phases, oldest, oldest+1)
	}
}

// advance finds out where a running movement goes after a phase, or after it was stopped.
func (r *Record) advance() []Effect {
	open := r.open()
	switch {
	case r.awaitsSwitch(open):
		r.State, r.Cause, r.Next = Held, "held before the switch, as asked", "switch it, or abort it"
		return nil
	case (open == nil || open.Retires) && r.KeepWayBack && !r.FinishAsked:
		r.State = Switched
		return nil
	case open == nil:
		r.Settling = true
		return []Effect{Settle}
	}
	return []Effect{Work}
}

// short cuts a text that people read where it gets too long.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

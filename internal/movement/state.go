package movement

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Kind is the lane.
type Kind string

// The lanes.
const (
	Migrate    Kind = "migrate"
	Comparison Kind = "verify" // a migration of which nothing but its comparison is done
	Split      Kind = "split"
	Merge      Kind = "merge"
)

// State is where a movement is in its life.
type State string

// The states; see the package's diagram.
const (
	Planned   State = "planned"
	Running   State = "running"
	Paused    State = "paused"
	Held      State = "held"
	Switched  State = "switched" // all is done; the way back is open
	Finished  State = "finished"
	Aborting  State = "aborting"
	Aborted   State = "aborted"
	Reversing State = "reversing"
	Reversed  State = "reversed"
	Failed    State = "failed"
)

// Damaged is the state in which a record is shown that cannot be read; none is stored with it. See
// [UnreadRecord].
const Damaged State = "damaged"

// Newer is the state in which a record is shown that a newer release has written; none is stored with it.
const Newer State = "newer"

// States are all that are stored, in the order of a life.
var States = []State{
	Planned, Running, Paused, Held, Switched, Failed, Aborting, Reversing, Finished, Aborted, Reversed,
}

// Unreadable tells whether it is that of a record that this release cannot read.
func (s State) Unreadable() bool { return s == Damaged || s == Newer }

// Ended tells whether nothing more will happen.
func (s State) Ended() bool { return s == Finished || s == Aborted || s == Reversed }

// The phases that an operator can ask for, besides those of the plan.
const (
	VerifyPhase  = "verify"
	RepairPhase  = "repair"
	RedrivePhase = "redrive"
)

// Phase is a part of a movement's work.
type Phase struct {
	Name    string    `json:"name"`
	Run     int       `json:"run,omitempty"`     // from 2 on, of a phase that is done again
	Flips   bool      `json:"flips,omitempty"`   // it changes what readers and writers use: the point of no return
	Retires bool      `json:"retires,omitempty"` // it comes after the way back is closed: only finish begins it
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Outcome string    `json:"outcome,omitempty"` // one line for people
	// Overwrite and DeleteExtra are of a repair that makes both sides equal, whoever has written on the target.
	Overwrite   bool `json:"overwrite,omitempty"`
	DeleteExtra bool `json:"deleteExtra,omitempty"`
}

// Key tells the phase from all others of the movement: its name, and "name/run" from the
// second run on. Happenings quote it.
func (p *Phase) Key() string {
	if p.Run == 0 {
		return p.Name
	}
	return p.Name + "/" + strconv.Itoa(p.Run)
}

// Check tells whether it is a phase that looks at, or mends, what others have done: it may
// be asked for again and again.
func (p *Phase) Check() bool {
	return p.Name == VerifyPhase || p.Name == RepairPhase || p.Name == RedrivePhase
}

// Record is a movement, as the coordination store keeps it under "movements/ID".
type Record struct {
	ID    string          `json:"id"`
	Kind  Kind            `json:"kind"`
	State State           `json:"state"`
	Plan  json.RawMessage `json:"plan"` // the lane's; after start only the end of a phase changes it, by what was left open
	// Options of the plan that the machine itself reads.
	HoldBeforeSwitch bool `json:"holdBeforeSwitch,omitempty"`
	KeepWayBack      bool `json:"keepWayBack,omitempty"`
	// What the operator has asked for, and the machine has to remember.
	SwitchAsked bool `json:"switchAsked,omitempty"`
	FinishAsked bool `json:"finishAsked,omitempty"`
	// Settling is true from the end of the last phase on: what is left is the ledger.
	Settling bool `json:"settling,omitempty"`

	Phases  []Phase         `json:"phases"`
	Cause   string          `json:"cause,omitempty"`  // of being held or failed, or of an undoing that does not get on
	Next    string          `json:"next,omitempty"`   // what the operator can do about it
	Listed  bool            `json:"listed,omitempty"` // the cause is a list that finish accepts
	Rate    json.RawMessage `json:"rate,omitempty"`   // the lane's limits, changed by throttle
	By      string          `json:"by,omitempty"`
	Why     string          `json:"why,omitempty"`
	Created time.Time       `json:"created"`
	Started time.Time       `json:"started,omitzero"`
	Ended   time.Time       `json:"ended,omitzero"`
	// Report is the lane's statement of what was proved; kept for ever.
	Report json.RawMessage `json:"report,omitempty"`
	// Journal are the first and the newest events; Events counts all. An event that changed
	// nothing is not counted, so whoever stores records compares this number.
	Journal []Applied `json:"history"`
	Events  int64     `json:"events"`
	// Stint counts how often an operator has set the movement going. Bad news of an earlier run come
	// too late: their cause may have been mended since.
	Stint int `json:"stint,omitempty"`
}

// Applied is an event that was applied.
type Applied struct {
	At    time.Time `json:"at"`
	Event string    `json:"event"` // its text form
	By    string    `json:"by,omitempty"`
	State State     `json:"state"` // after it
}

// Current is the phase that is to be done now; nil when there is none.
func (r *Record) Current() *Phase {
	if r.State != Running {
		return nil
	}
	return r.open()
}

// open is the first phase that has not ended.
func (r *Record) open() *Phase {
	if i := r.openAt(); i < len(r.Phases) {
		return &r.Phases[i]
	}
	return nil
}

func (r *Record) openAt() int {
	i := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Ended.IsZero() })
	if i < 0 {
		return len(r.Phases)
	}
	return i
}

// Owed is what is to be done in r's state while nobody does it: what a driver does first
// when it comes to a record, whoever stored it.
func (r *Record) Owed() []Effect {
	switch {
	case r.State == Running && r.Settling:
		return []Effect{Settle}
	case r.State == Running:
		return []Effect{Work}
	case r.State == Aborting:
		return []Effect{Undo}
	case r.State == Reversing:
		return []Effect{Return}
	}
	return nil
}

// UnreadRecord is shown in place of a record that cannot be read, in the state Damaged or Newer: it has no kind, and no
// work to do.
func UnreadRecord(id string, state State, cause, next string) Record {
	return Record{ID: id, State: state, Plan: json.RawMessage("{}"), Phases: []Phase{}, Journal: []Applied{}, Cause: short(cause), Next: next}
}

// Check tells what is wrong with a record that no sequence of events makes: fault.Bug.
func (r *Record) Check() error {
	if !slices.Contains(States, r.State) {
		return fault.New(fault.Bug, "movement %s: %q is no state", r.ID, r.State)
	}
	seen, open, retires := map[string]bool{}, false, false
	for i := range r.Phases {
		p := &r.Phases[i]
		switch {
		case p.Name == "" || seen[p.Key()]:
			return fault.New(fault.Bug, "movement %s: phase %d has no name of its own: %q", r.ID, i, p.Key())
		case open && !p.Ended.IsZero():
			return fault.New(fault.Bug, "movement %s: phase %s ended before one that comes before it", r.ID, p.Key())
		case open && !p.Started.IsZero():
			// What was put before it is done first; it goes on afterwards.
			if p.Flips || p.Retires {
				return fault.New(fault.Bug, "movement %s: phase %s began before its time", r.ID, p.Key())
			}
		case retires && !p.Retires:
			return fault.New(fault.Bug, "movement %s: phase %s comes after one that retires", r.ID, p.Key())
		}
		seen[p.Key()], open, retires = true, open || p.Ended.IsZero(), retires || p.Retires
	}
	if r.Settling && (open || r.State == Switched || r.State == Planned) {
		return fault.New(fault.Bug, "movement %s is %s and settles", r.ID, r.State)
	}
	return nil
}

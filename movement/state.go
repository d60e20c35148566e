package movement

import (
	"encoding/json"
	"time"
)

// Kind is the lane.
type Kind string

// The lanes.
const (
	Migrate Kind = "migrate"
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

// Ended tells whether nothing more will happen.
func (s State) Ended() bool { return s == Finished || s == Aborted || s == Reversed }

// Phase is a part of a movement's work.
type Phase struct {
	Name    string    `json:"name"`
	Flips   bool      `json:"flips,omitempty"`   // it changes what readers and writers use: the point of no return
	Retires bool      `json:"retires,omitempty"` // it comes after the way back is closed: only finish begins it
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Outcome string    `json:"outcome,omitempty"` // one line for people
}

// Record is a movement, as the coordination store keeps it under "movement/ID".
type Record struct {
	ID    string          `json:"id"`
	Kind  Kind            `json:"kind"`
	State State           `json:"state"`
	Plan  json.RawMessage `json:"plan"` // the lane's; it never changes after start
	// Options of the plan that the machine itself reads.
	HoldBeforeSwitch bool `json:"holdBeforeSwitch,omitempty"`
	KeepWayBack      bool `json:"keepWayBack,omitempty"`

	Phases  []Phase         `json:"phases"`
	Cause   string          `json:"cause,omitempty"` // of being held or failed
	Next    string          `json:"next,omitempty"`  // what the operator can do about it
	Rate    json.RawMessage `json:"rate,omitempty"`  // the lane's limits, changed by throttle
	By      string          `json:"by,omitempty"`
	Why     string          `json:"why,omitempty"`
	Created time.Time       `json:"created"`
	Started time.Time       `json:"started,omitzero"`
	Ended   time.Time       `json:"ended,omitzero"`
	// Report is the lane's statement of what was proved; kept for ever.
	Report  json.RawMessage `json:"report,omitempty"`
	Journal []Applied       `json:"history"`
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
	for i := range r.Phases {
		if p := &r.Phases[i]; p.Ended.IsZero() {
			return p
		}
	}
	return nil
}

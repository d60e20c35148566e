package movement

import (
	"encoding/json"
	"time"
)

// Verb is what an operator asks of a movement.
type Verb string

// The verbs. Reading ones (ls, status, watch, failures) are allowed in every state and are no
// events.
const (
	Start    Verb = "start"
	Pause    Verb = "pause"
	Resume   Verb = "resume"
	Throttle Verb = "throttle"
	Verify   Verb = "verify"
	Repair   Verb = "repair"
	Redrive  Verb = "redrive"
	Switch   Verb = "switch"
	Reverse  Verb = "reverse"
	Finish   Verb = "finish"
	Abort    Verb = "abort"
)

// Verbs are all of them, in the order in which faces offer them.
var Verbs = []Verb{Start, Pause, Resume, Throttle, Verify, Repair, Redrive, Switch, Reverse, Finish, Abort}

// Event is what happens to a movement: a verb, or one of the happenings.
type Event struct {
	At time.Time
	By string // the operator or the worker

	Verb Verb            // "" for a happening
	Why  string          // with a verb
	Rate json.RawMessage // with Throttle
	// Unswitched is with Abort: whoever asks has seen that nothing was switched, though the switch has begun. What is
	// switched in that moment the lane leads back.
	Unswitched bool
	// Overwrite and DeleteExtra are with Repair: what others have written on the target is replaced, and what only the target
	// has is deleted.
	Overwrite, DeleteExtra bool

	Happened Happening // "" for a verb
	Stint    int       // the record's when the worker saw it; 0: it is not known
	Phase    string    // its [Phase.Key], with PhaseBegun, PhaseDone, Stuck and GaveUp; "" when settling, aborting or reversing is stuck
	Cause    string    // with Stuck and GaveUp; the outcome with PhaseDone
	Next     string    // what an operator can do about the cause
	Listed   bool      // with Stuck: all is done but for what is listed, which an operator may accept
	Report   json.RawMessage
	Plan     json.RawMessage // with PhaseDone: the plan that this phase has completed; nil when it had nothing to add
}

// Happening is what workers tell of a movement.
type Happening string

// The happenings.
const (
	PhaseBegun Happening = "begun"   // Phase was begun by someone
	PhaseDone  Happening = "done"    // Phase is done
	Stuck      Happening = "stuck"   // Phase cannot go on without an operator: held
	GaveUp     Happening = "gaveup"  // Phase failed as often as it may: failed
	Undone     Happening = "undone"  // the ledger is empty, what was begun is undone
	Settled    Happening = "settled" // the ledger is empty, all is handed over or undone; the items' records are gone
)

// Effect is what is to be done after an event has been stored.
type Effect string

// The effects.
const (
	Work   Effect = "work"   // do the current phase
	Halt   Effect = "halt"   // stop working: leases are given back
	Adapt  Effect = "adapt"  // take the new rate
	Undo   Effect = "undo"   // undo the ledger, the newest entry first
	Return Effect = "return" // lead readers and writers back, losing no write; then undo the ledger
	Settle Effect = "settle" // hand over or undo what the ledger still holds, and remove the records of items
	Notify Effect = "notify" // tell the operator: one event for each transition
)

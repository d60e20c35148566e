package movement

import (
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Fact is something about a record on which, besides its state, an answer to a verb
// depends.
type Fact string

// The facts.
const (
	Always         Fact = ""
	HasSettled     Fact = "all phases are done"                        // what is left is the ledger
	HasClosed      Fact = "what was left behind is being retired"      // nothing leads back
	HasFlipped     Fact = "the switch has begun"                       // the point of no return
	FlipsNothing   Fact = "the plan switches nothing"                  // no phase flips
	AwaitsSwitch   Fact = "it is held before the switch, as asked"     //
	CauseIsList    Fact = "it is held for a list that can be accepted" //
	VerifyComes    Fact = "a verify of the plan is still to come"      //
	CopyIsOpen     Fact = "what is to be verified is not all done"     // the current phase neither checks, flips nor retires
	FlipIsOpen     Fact = "the switch has begun and is not done"       //
	FinishWasAsked Fact = "it is finishing"                            //
)

// facts tell of each but [Always] whether it is true of a record, of which open is the
// phase that comes next, or nil.
var facts = map[Fact]func(r *Record, open *Phase) bool{
	HasSettled: func(r *Record, _ *Phase) bool { return r.Settling },
	HasClosed: func(r *Record, _ *Phase) bool {
		return r.Settling || r.any(func(p *Phase) bool { return p.Retires && !p.Started.IsZero() })
	},
	HasFlipped: func(r *Record, _ *Phase) bool {
		return r.any(func(p *Phase) bool { return p.Flips && !p.Started.IsZero() })
	},
	FlipsNothing: func(r *Record, _ *Phase) bool { return !r.any(func(p *Phase) bool { return p.Flips }) },
	AwaitsSwitch: func(r *Record, open *Phase) bool { return r.State == Held && r.awaitsSwitch(open) },
	CauseIsList:  func(r *Record, open *Phase) bool { return r.Listed && open != nil && !open.Flips },
	VerifyComes: func(r *Record, _ *Phase) bool {
		return r.any(func(p *Phase) bool { return p.Name == VerifyPhase && p.Ended.IsZero() })
	},
	CopyIsOpen: func(_ *Record, open *Phase) bool {
		return open != nil && !open.Check() && !open.Flips && !open.Retires
	},
	FlipIsOpen:     func(_ *Record, open *Phase) bool { return open != nil && open.Flips && !open.Started.IsZero() },
	FinishWasAsked: func(r *Record, _ *Phase) bool { return r.FinishAsked || r.Settling },
}

// holds tells whether f is true of r.
func (f Fact) holds(r *Record) bool { return f == Always || facts[f](r, r.open()) }

// any tells whether one of the phases is so.
func (r *Record) any(is func(*Phase) bool) bool {
	for i := range r.Phases {
		if is(&r.Phases[i]) {
			return true
		}
	}
	return false
}

// awaitsSwitch tells whether open is the switch that the operator wants to be asked for.
func (r *Record) awaitsSwitch(open *Phase) bool {
	return open != nil && open.Flips && open.Started.IsZero() && r.HoldBeforeSwitch && !r.SwitchAsked
}

// Answer is what a cell of the table says.
type Answer string

// The answers.
const (
	Goes    Answer = "goes"    // the verb is carried out
	Nothing Answer = "nothing" // there is nothing to do: no error, and no change
	Refuses Answer = "refuses" // why not, and what to do instead
)

// Rule is the answer of a state to a verb. Where a cell of the table has several, the first
// whose fact holds is the answer; the last is [Always].
type Rule struct {
	State State
	Verb  Verb
	When  Fact

	Answer Answer
	To     State // the state right after, when it Goes

	Kind   fault.Kind // when it Refuses: Conflict, or Refused when no state of this movement would allow it
	Reason string
	Next   string // what to do instead
}

// Err is the refusal as an error; nil when the rule refuses nothing.
func (u Rule) Err() error {
	if u.Answer != Refuses {
		return nil
	}
	return fault.WithNext(fault.New(u.Kind, "%s", u.Reason), "%s", u.Next)
}

// Ask is the table's answer to verb: what [Step] will do with it.
func (r *Record) Ask(verb Verb) Rule {
	for _, rule := range table {
		if rule.State == r.State && rule.Verb == verb && rule.When.holds(r) {
			return rule
		}
	}
	return Rule{
		State: r.State, Verb: verb, Answer: Refuses, Kind: fault.Usage,
		Reason: "there is no verb " + string(verb), Next: "ask for one of the verbs that the movement offers",
	}
}

var table = slices.Concat(
	plannedRules(), runningRules(), pausedRules(), heldRules(), switchedRules(), failedRules(),
	undoingRules(Aborting, Abort, "it is being aborted"), undoingRules(Reversing, Reverse, "it is being reversed"),
	endedRules(Finished, Finish), endedRules(Aborted, Abort), endedRules(Reversed, Reverse),
)

// row makes the rules of one state, each from what [goes], [nothing], [no] and [never] say.
func row(s State, cells ...[]Rule) []Rule {
	rules := slices.Concat(cells...)
	for i := range rules {
		rules[i].State = s
	}
	return rules
}

func cell(v Verb, rules ...Rule) []Rule {
	for i := range rules {
		rules[i].Verb = v
	}
	return rules
}

func goes(to State) Rule { return Rule{Answer: Goes, To: to} }

func nothing() Rule { return Rule{Answer: Nothing} }

func no(reason, next string) Rule {
	return Rule{Answer: Refuses, Kind: fault.Conflict, Reason: reason, Next: next}
}

func never(reason, next string) Rule {
	return Rule{Answer: Refuses, Kind: fault.Refused, Reason: reason, Next: next}
}

func when(f Fact, rule Rule) Rule {
	rule.When = f
	return rule
}

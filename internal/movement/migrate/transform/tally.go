package transform

import "slices"

// StepCounts is what one step has done to documents. A step that has neither changed nor dropped
// any may have been meant otherwise.
type StepCounts struct {
	Step    int   `json:"step"`    // its number, from 1
	Matched int64 `json:"matched"` // documents that came to it, and for which its condition was true
	Changed int64 `json:"changed"` // of those, what a later step drops or fails at included
	Dropped int64 `json:"dropped"` // of those
	Failed  int64 `json:"failed"`  // documents for which it could not be done
}

// deed is what a step does to one document.
type deed int

const (
	nothing  deed = iota // its condition is false
	matching             // and it has changed nothing
	changing
	dropping
)

// or is changing when something was changed.
func (d deed) or(changed bool) deed {
	if changed {
		return changing
	}
	return d
}

func (d *StepCounts) count(did deed, err error) {
	switch {
	case err != nil:
		d.Failed++
		return
	case did == nothing:
		return
	case did == changing:
		d.Changed++
	case did == dropping:
		d.Dropped++
	}
	d.Matched++
}

// Tally is what steps have done, by their numbers, each once. Not safe for concurrent use.
type Tally []StepCounts

// NewTally is one of nothing yet, of the steps of p.
func (p *Program) NewTally() Tally {
	t := make(Tally, len(p.steps))
	for i, s := range p.steps {
		t[i].Step = s.number
	}
	return t
}

// Add is both together; t may change by it.
func (t Tally) Add(o Tally) Tally {
	for _, d := range o {
		at, there := slices.BinarySearchFunc(t, d.Step, func(d StepCounts, n int) int { return d.Step - n })
		if !there {
			t = slices.Insert(t, at, d)
			continue
		}
		sum := &t[at]
		sum.Matched += d.Matched
		sum.Changed += d.Changed
		sum.Dropped += d.Dropped
		sum.Failed += d.Failed
	}
	return t
}

package placement

import (
	"fmt"
	"slices"
	"time"
)

// Pause is how long requests are predicted to wait behind one hand-off, from what was measured
// on the store that does it.
type Pause struct {
	Fence time.Duration `json:"fence"` // from the fence to its release, as half of what was measured was at most
	P50   time.Duration `json:"p50"`   // of the requests that wait
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
	Basis Basis         `json:"basis"`
	Of    int           `json:"of"` // how many measurements
	// Needs is the pause budget that would do, where Max is above the one that there is.
	Needs time.Duration `json:"needsBudget,omitempty"`
}

// Basis is what a prediction was made from.
type Basis string

// The bases, from the roughest on.
const (
	Probes     Basis = "probes"            // of the coordination store, and a refresh
	Before     Basis = "earlier hand-offs" // of this store
	Rehearsals Basis = "rehearsals"        // of this hand-off, without fence and change
)

// Predict makes a prediction of what a hand-off would have taken each time that it was measured:
// it will take as long as the middle one, and at worst as long as the longest. Requests come
// evenly while the fence stands, and wait for the rest of it. None when nothing was measured.
func Predict(basis Basis, measured []time.Duration, budget time.Duration) (p Pause, is bool) {
	if len(measured) == 0 {
		return p, false
	}
	all := slices.Sorted(slices.Values(measured))
	middle, longest := all[len(all)/2], all[len(all)-1]
	p = Pause{Fence: middle, P50: middle / 2, P99: longest / 100 * 99, Max: longest, Basis: basis, Of: len(all)}
	if p.Max > budget {
		p.Needs = Needed(p.Max)
	}
	return p, true
}

// Needed is a pause budget for a hand-off that takes so long: twice that, in whole 10 ms.
func Needed(took time.Duration) time.Duration {
	const step = 10 * time.Millisecond
	return (2*took + step - 1) / step * step
}

// String is the prediction for people. It names no budget that would do: each prediction has another, and what
// holds a movement names the one to use.
func (p Pause) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("%s, p50 %s, p99 %s, max %s (from %d %s)", round(p.Fence), round(p.P50), round(p.P99), round(p.Max), p.Of, p.Basis)
	if p.Needs > 0 {
		text += "; that is above the pause budget"
	}
	return text
}

package search

import (
	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// eachAccepted calls do for the terms of a field that an automaton accepts, in their
// order, until do says no. State is that behind the term. Terms between are skipped.
func eachAccepted(f *segment.Field, a *automaton.Words, do func(term []byte, e segment.Entry, state int) bool) {
	states := []int{a.Start()} // states[i]: behind the first i bytes of the term
	var last, next []byte
	for t := f.From(a.Prefix()); t.Valid(); {
		term := t.Term()
		same := commonPrefix(last, term)
		states = states[:min(len(states), same+1)]
		for len(states) <= len(term) {
			state := a.Step(states[len(states)-1], term[len(states)-1])
			if state < 0 {
				break
			}
			states = append(states, state)
		}
		last = append(last[:0], term...)
		if seen := len(states) - 1; seen < len(term) {
			if next = successor(next[:0], a, states, term); next == nil {
				return
			}
			t.Seek(next)
			continue
		}
		if state := states[len(term)]; a.Accepts(state) && !do(last, t.Entry(), state) {
			return
		}
		t.Next()
	}
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// successor is a text behind all that begin with the bytes at which an automaton stopped:
// no term before it is accepted. Nil: no term is.
func successor(dst []byte, a *automaton.Words, states []int, term []byte) []byte {
	for at := len(states) - 1; at >= 0; at-- {
		for b := int(term[at]) + 1; b < 256; b++ {
			if a.Step(states[at], byte(b)) >= 0 {
				return append(append(dst, term[:at]...), byte(b))
			}
		}
	}
	return nil
}

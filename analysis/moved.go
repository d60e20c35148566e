package analysis

import "sort"

// moved tells where the bytes of a rewritten text were: from place at on, a place is by
// delta further than in the rewritten text. Lucene's BaseCharFilter keeps the same table.
type moved struct {
	steps []step
	inner *moved // the rewriting before this one
}

type step struct{ at, delta int }

// add notes that from place at on of the rewritten text, places are delta further in
// the original. Places never fall; a second delta for the last place replaces it.
func (m *moved) add(at, delta int) {
	if n := len(m.steps); n > 0 && m.steps[n-1].at >= at {
		m.steps[n-1].delta = delta
		return
	}
	m.steps = append(m.steps, step{at, delta})
}

// last is the delta at the end of what was added.
func (m *moved) last() int {
	if len(m.steps) == 0 {
		return 0
	}
	return m.steps[len(m.steps)-1].delta
}

// then makes m what it was followed by a further rewriting.
func (m *moved) then(next *moved) {
	before := *m
	*m = moved{steps: next.steps, inner: &before}
}

// origin is the place in the original text.
func (m *moved) origin(at int) int {
	for ; m != nil; m = m.inner {
		if i := sort.Search(len(m.steps), func(i int) bool { return m.steps[i].at > at }); i > 0 {
			at += m.steps[i-1].delta
		}
	}
	return at
}

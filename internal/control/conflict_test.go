package control

import (
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// starter is one of two that start a movement into the same index at the same time.
type starter struct {
	id     string
	stored bool
	passed bool // it has looked for others, and goes on
	state  movement.State
	gone   bool // refused, and its record removed
}

func (s *starter) ended() bool { return s.gone || s.state == movement.Running }

// step does the next thing that s does. It tells whether anything has changed.
func (s *starter) step(t *testing.T, plan *migrate.Plan, other *starter) bool {
	t.Helper()
	switch {
	case s.ended():
		return false
	case !s.stored:
		s.stored, s.state = true, movement.Planned
	case s.passed:
		s.state = movement.Running
	default:
		var all []otherMovement
		for _, one := range []*starter{s, other} {
			if one.stored && !one.gone {
				all = append(all, otherMovement{id: one.id, state: one.state, indices: written(plan)})
			}
		}
		met := meets(all, plan, s.id)
		switch {
		case met == nil:
			s.passed = true
		case met.yields(s.id):
			return false
		default:
			s.gone = true
		}
	}
	return true
}

// TestOfTwoThatStartAtOnceOneStays: whatever the order in which the two store, look and start,
// they never both work on an index, one of them does, and none waits for ever.
func TestOfTwoThatStartAtOnceOneStays(t *testing.T) {
	plan := &migrate.Plan{Indices: []migrate.Index{{Source: "books", Target: "books"}}}
	ends := 0
	var explore func(a, b starter, path string)
	explore = func(a, b starter, path string) {
		if a.state == movement.Running && b.state == movement.Running {
			t.Fatalf("both work, after %s", path)
		}
		if a.ended() && b.ended() {
			ends++
			if a.gone && b.gone {
				t.Fatalf("both are refused, after %s", path)
			}
			return
		}
		moved := false
		if first, second := a, b; first.step(t, plan, &second) {
			moved = true
			explore(first, second, path+"a")
		}
		if first, second := a, b; second.step(t, plan, &first) {
			moved = true
			explore(first, second, path+"b")
		}
		if !moved {
			t.Fatalf("each waits for the other, after %s", path)
		}
	}
	explore(starter{id: "1"}, starter{id: "2"}, "")
	if ends < 6 {
		t.Errorf("%d ways were gone", ends)
	}
}

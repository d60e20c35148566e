package proof

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestModel holds the model to histories whose verdict is plain: a model that takes
// everything proves nothing.
func TestModel(t *testing.T) {
	const minute = 60e9
	put := func(v string, version, seqNo int64, present bool) (request, seen) {
		return request{verb: indexing, id: "1", value: value{v: v}}, seen{outcome: applied, present: present, numbers: numbers{version, seqNo, 1}}
	}
	type step struct {
		request request
		seen    seen
	}
	of := func(r request, s seen) step { return step{r, s} }
	get := func(v string, version, seqNo int64) step {
		return step{request{verb: reading, id: "1"}, seen{outcome: applied, value: value{v: v}, numbers: numbers{version, seqNo, 1}}}
	}
	remove := func(version, seqNo int64, present bool) step {
		return step{request{verb: deleting, id: "1"}, seen{outcome: applied, present: present, numbers: numbers{version, seqNo, 1}}}
	}
	none := step{request{verb: reading, id: "1"}, seen{outcome: missing}}
	lost := step{request{verb: indexing, id: "1", value: value{v: "lost"}}, seen{outcome: unknown}}
	lostDelete := step{request{verb: deleting, id: "1"}, seen{outcome: unknown}}
	for _, c := range []struct {
		what  string
		fine  bool
		after int64 // between two steps
		steps []step
	}{
		{"put and get", true, 1, []step{of(put("a", 1, 0, false)), get("a", 1, 0)}},
		{"a write that is lost", false, 1, []step{of(put("a", 1, 0, false)), none}},
		{"a write that goes back", false, 1, []step{of(put("a", 1, 0, false)), of(put("b", 2, 1, true)), get("a", 1, 0)}},
		{"a version that repeats", false, 1, []step{of(put("a", 1, 0, false)), of(put("b", 1, 1, true))}},
		{"a sequence number that repeats", false, 1, []step{of(put("a", 1, 0, false)), of(put("b", 2, 0, true))}},
		{"a deleted document that is back", false, 1, []step{of(put("a", 1, 0, false)), remove(2, 1, true), get("a", 1, 0)}},
		{"a tombstone keeps its version", true, 1, []step{remove(1, 0, false), of(put("a", 2, 1, false))}},
		{"a tombstone forgotten early", false, 1, []step{remove(1, 0, false), of(put("a", 1, 1, false))}},
		{"a tombstone forgotten late", true, minute, []step{remove(1, 0, false), of(put("a", 1, 1, false))}},
		{"numbers go on after a tombstone is forgotten", false, minute, []step{remove(1, 5, false), of(put("a", 1, 5, false))}},
		{"an unknown write that happened", true, 1, []step{of(put("a", 1, 0, false)), lost, get("lost", 2, 7)}},
		{"an unknown write that did not", true, 1, []step{of(put("a", 1, 0, false)), lost, get("a", 1, 0)}},
		{"an unknown write that happened twice", false, 1, []step{of(put("a", 1, 0, false)), lost, get("lost", 3, 7)}},
		{"an unknown write that comes later", false, 1, []step{of(put("a", 1, 0, false)), lost, get("a", 1, 0), get("lost", 2, 7)}},
		{"an unknown write that goes away", false, 1, []step{of(put("a", 1, 0, false)), lost, get("lost", 2, 7), get("a", 1, 0)}},
		{"an unknown delete", true, 1, []step{of(put("a", 1, 0, false)), lostDelete, none}},
		{"a number that changes", false, 1, []step{of(put("a", 1, 0, false)), lost, get("lost", 2, 7), get("lost", 2, 8)}},
	} {
		var history []porcupine.Operation
		for i, s := range c.steps {
			s.request.begun, s.request.ended = int64(2*i)*c.after, int64(2*i+1)*c.after
			history = append(history, porcupine.Operation{Input: s.request, Output: s.seen, Call: s.request.begun, Return: s.request.ended})
		}
		if fine := porcupine.CheckOperations(register(minute), history); fine != c.fine {
			t.Errorf("%s: has an order: %v", c.what, fine)
		}
	}
}

package shardtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reshelve/reshelve/internal/document"
)

// verb is what a client of a history does to one document.
type verb int

const (
	getting verb = iota
	putting
	creating
	deleting
	swapping // put where the sequence number and the term are the stored ones
	verbs
)

// action is one request of a history.
type action struct {
	verb        verb
	id, value   string
	seqNo, term int64 // of swapping
}

// stored is what the truth holds of a document.
type stored struct {
	known, deleted bool
	value          string
	document.Versions
}

// effect is what a client saw: what is stored after its write; or, of a get and of
// a condition that failed, what was met.
type effect struct {
	applied bool
	stored
}

// history is who asked what, and saw what, when. Safe for concurrent use.
type history struct {
	start time.Time
	noted chan struct{} // holds something after a note

	mu         sync.Mutex
	operations []porcupine.Operation
}

func newHistory() *history { return &history{start: time.Now(), noted: make(chan struct{}, 1)} }

func (h *history) now() int64 { return int64(time.Since(h.start)) }

func (h *history) note(client int, a action, e effect, begun, ended int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: a, Call: begun, Output: e, Return: ended})
	select {
	case h.noted <- struct{}{}:
	default:
	}
}

// check looks for one order that explains what everybody saw.
func (h *history) check(t *testing.T) {
	t.Helper()
	result := porcupine.CheckOperationsTimeout(register, h.operations, patience)
	if result == porcupine.Ok {
		return
	}
	for _, o := range h.operations {
		t.Logf("client %d %8d-%8d %s", o.ClientId, o.Call, o.Return, register.DescribeOperation(o.Input, o.Output))
	}
	t.Fatalf("no order explains this history of %d requests: %s", len(h.operations), result)
}

// register is one document as a sequence of requests changes it; documents are
// checked apart.
var register = porcupine.Model{
	Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
		of := map[string][]porcupine.Operation{}
		for _, o := range all {
			of[o.Input.(action).id] = append(of[o.Input.(action).id], o)
		}
		for _, part := range of {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return stored{} },
	Step: func(state, input, output any) (bool, any) {
		return follows(state.(stored), input.(action), output.(effect))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// follows tells whether a request can have this effect on what is stored, and what
// is stored then.
func follows(s stored, a action, e effect) (bool, stored) {
	if a.verb == getting {
		return e.stored == s, s
	}
	present := s.known && !s.deleted
	matches := present && s.SeqNo == a.seqNo && s.PrimaryTerm == a.term
	refused := a.verb == creating && present || a.verb == swapping && !matches
	if refused {
		met := e.known == s.known && e.deleted == s.deleted && (!s.known || e.Versions == s.Versions)
		return !e.applied && met, s
	}
	grows := e.Version == s.Version+1 && (!s.known || e.SeqNo > s.SeqNo) && e.PrimaryTerm >= s.PrimaryTerm
	return e.applied && grows, e.stored
}

package proof

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// history is who asked what, and saw what, when. Safe for concurrent use.
type history struct {
	start time.Time

	mu     sync.Mutex
	done   []porcupine.Operation
	open   []porcupine.Operation // without an answer, of this life
	orphan map[string]string     // values of creates without an id that got no answer, and their indices
}

func newHistory() *history { return &history{start: time.Now(), orphan: map[string]string{}} }

func (h *history) now() int64 { return int64(time.Since(h.start)) }

// note takes what a client learned.
func (h *history) note(client int, r request, s seen) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := porcupine.Operation{ClientId: client, Input: r, Call: r.begun, Output: s, Return: r.ended}
	switch {
	case s.outcome == unknown && r.verb == reading: // tells nothing
	case s.outcome == unknown && r.id == "":
		h.orphan[r.value.v] = r.index
	case s.outcome == unknown:
		h.open = append(h.open, o)
	default:
		h.done = append(h.done, o)
	}
}

// died ends a life: requests without an answer have no effect after it.
func (h *history) died(at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.open {
		if r := o.Input.(request); r.begun < at {
			r.ended = at
			o.Input, o.Return = r, at
			h.done = append(h.done, o)
		}
	}
	h.open = h.open[:0]
}

// ids are the documents of an index that anybody asked for.
func (h *history) ids(index string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]bool{}
	for _, o := range slices.Concat(h.done, h.open) {
		if r := o.Input.(request); r.index == index {
			all[r.id] = true
		}
	}
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// patience is how long a history may take to be explained.
const patience = 5 * time.Minute

// check looks for one order that explains what everybody saw; see register.
func (h *history) check(t *testing.T, minimumAge time.Duration) {
	t.Helper()
	model := register(int64(minimumAge))
	result := porcupine.CheckOperationsTimeout(model, h.done, patience)
	if result == porcupine.Ok {
		return
	}
	t.Errorf("no order explains this history of %d requests: %s", len(h.done), result)
	for _, part := range model.Partition(h.done) {
		if porcupine.CheckOperationsTimeout(model, part, patience) != porcupine.Ok {
			h.tell(t, model, part)
			return
		}
	}
}

// tell writes the history of one document where it can be read, and logs its end.
func (h *history) tell(t *testing.T, model porcupine.Model, part []porcupine.Operation) {
	slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	r := part[0].Input.(request)
	name := filepath.Join(os.TempDir(), fmt.Sprintf("reshelve-history-%s-%s-%d.txt", r.index, r.id, os.Getpid()))
	var text []byte
	for i := range part { // the shortest beginning without an order tells most
		o := part[i]
		line := fmt.Sprintf("client %d %12d-%12d %s\n", o.ClientId, o.Call, o.Return, model.DescribeOperation(o.Input, o.Output))
		text = append(text, line...)
	}
	_ = os.WriteFile(name, text, 0o600)
	shortest := part
	for n := 1; n < len(part); n++ {
		ended := slices.MaxFunc(part[:n], func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) }).Call
		prefix := closedBy(part, ended)
		if porcupine.CheckOperationsTimeout(model, prefix, time.Minute) == porcupine.Illegal {
			shortest = prefix
			break
		}
	}
	for _, o := range shortest[max(0, len(shortest)-25):] {
		t.Logf("client %d %12d-%12d %s", o.ClientId, o.Call, o.Return, model.DescribeOperation(o.Input, o.Output))
	}
	t.Logf("the history of %s/%s, %d requests: %s", r.index, r.id, len(part), name)
}

// closedBy are the requests that were sent up to a time; those that were still open
// may have had no effect, so their outcomes are left as they are only when they ended.
func closedBy(part []porcupine.Operation, at int64) (prefix []porcupine.Operation) {
	for _, o := range part {
		if o.Return <= at {
			prefix = append(prefix, o)
			continue
		}
		if o.Call <= at && o.Output.(seen).outcome == applied && o.Input.(request).verb != reading {
			o.Output = seen{outcome: unknown}
			prefix = append(prefix, o)
		}
	}
	return prefix
}

// numbered holds the sequence numbers of an index with one shard to their order:
// each is given once, and a write that ended before another began has the lower one.
// Numbers without a write that is known are no more than the writes without answer.
func (h *history) numbered(t *testing.T, index string) {
	t.Helper()
	var writes []porcupine.Operation
	highest, lost := int64(-1), 0
	for _, o := range h.done {
		r, s := o.Input.(request), o.Output.(seen)
		switch {
		case r.index != index:
		case s.outcome == unknown:
			lost++
		case s.outcome == applied:
			highest = max(highest, s.numbers.seqNo)
			if r.verb != reading {
				writes = append(writes, o)
			}
		}
	}
	for _, of := range h.orphan {
		if of == index {
			lost++
		}
	}
	slices.SortFunc(writes, func(a, b porcupine.Operation) int {
		return cmp.Compare(a.Output.(seen).numbers.seqNo, b.Output.(seen).numbers.seqNo)
	})
	latest := int64(-1)
	for i, o := range writes {
		n := o.Output.(seen).numbers
		if i > 0 && n.seqNo == writes[i-1].Output.(seen).numbers.seqNo {
			t.Errorf("sequence number %d was given twice: %v, %v", n.seqNo, writes[i-1].Input, o.Input)
		}
		if o.Return < latest {
			t.Errorf("sequence number %d of %v was given before a lower one was asked for", n.seqNo, o.Input)
		}
		latest = max(latest, o.Call)
	}
	if holes := int(highest) + 1 - len(writes); holes > lost {
		t.Errorf("%d sequence numbers of %s have no write, and only %d writes got no answer", holes, index, lost)
	}
}

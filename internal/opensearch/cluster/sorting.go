package cluster

import (
	"net/http"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// sorting collects what an answer tells of each operation; nothing counts before
// the whole answer was read.
type sorting struct {
	d     *delivery
	items []int
	slow  bool // take was called: the answer is not just "all applied"

	applied   []int
	again     []int
	conflicts []Failure
	failed    []Failure
	replaced  []Failure
	trouble   *trouble // of the operations to be sent again; the first that ends the delivery wins
}

// take sorts one operation.
func (s *sorting) take(n int, a *itemAnswer) error {
	s.slow = true
	i := s.items[n]
	e := a.Error
	if e == nil {
		e = &told{}
	}
	status := a.Status
	switch {
	case a.Error == nil && status == http.StatusOK && s.d.batch.items[i].action == Ensure: // nothing was done
		e = &told{Type: exception.VersionConflict, Reason: "there is such a document"}
		s.conflicts = append(s.conflicts, s.failure(i, a, e))
	case a.Error == nil && status == http.StatusOK && s.d.batch.items[i].names && s.d.batch.items[i].action == Index:
		s.replaced = append(s.replaced, s.failure(i, a, &told{Reason: "an older version was there"}))
		s.applied = append(s.applied, i)
	case a.Error == nil && (status < 300 || status == http.StatusNotFound && s.d.batch.items[i].action == Delete):
		s.applied = append(s.applied, i)
	case status == http.StatusConflict || e.Type == exception.VersionConflict:
		s.conflicts = append(s.conflicts, s.failure(i, a, e))
	case s.ends(e, status):
		s.again = append(s.again, i)
		s.note(&trouble{status: status, told: true, part: true, err: e.fault(status)})
	case s.passes(i, e, status):
		s.again = append(s.again, i)
		s.note(&trouble{status: status, told: true, part: true, again: always, err: e.fault(status)})
	default:
		s.failed = append(s.failed, s.failure(i, a, e))
	}
	return nil
}

// ends tells whether an operation's error is one of all of them.
func (s *sorting) ends(e *told, status int) bool {
	switch {
	case e.nameless():
		return true
	case e.Type == exception.ClusterBlock:
		return false
	}
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// passes tells whether an operation's error may be gone the next time. Errors
// inside the server are tried a few times: they may be the document's.
func (s *sorting) passes(i int, e *told, status int) bool {
	switch {
	case e.Type == exception.ClusterBlock, e.Type == exception.IndexClosed: // until somebody takes the block away, or opens the index
		return true
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == http.StatusBadGateway,
		status == http.StatusGatewayTimeout, status == http.StatusRequestTimeout:
		return true
	case status >= 500:
		if s.d.errors == nil {
			s.d.errors = map[int]int{}
		}
		s.d.errors[i]++
		return s.d.errors[i] < serverErrors
	}
	return false
}

func (s *sorting) note(t *trouble) {
	if s.trouble == nil || s.trouble.again != never && t.again == never {
		t.err = fault.At(t.err, s.d.w.client.place)
		s.trouble = t
	}
}

func (s *sorting) failure(i int, a *itemAnswer, e *told) Failure {
	f := s.d.batch.failure(i)
	err := e.fault(a.Status)
	f.Status, f.Type, f.Reason, f.Next = a.Status, string(e.Type), e.words(), fault.Next(err)
	return f
}

// commit counts what was read.
func (s *sorting) commit() (left []int, t *trouble) {
	d := s.d
	d.result.Acknowledged += len(s.applied)
	d.result.Conflicts = append(d.result.Conflicts, s.conflicts...)
	d.result.Failed = append(d.result.Failed, s.failed...)
	d.result.Replaced = append(d.result.Replaced, s.replaced...)
	if len(s.again) == 0 {
		return nil, nil
	}
	left = d.overtaken(s.again, s.applied)
	if len(left) == 0 {
		return nil, nil
	}
	return left, s.trouble
}

// overtaken takes operations away that must not be sent again, because a later one
// of the batch on the same document was applied: the earlier would undo it. The
// document is as if both had been applied in order, so they count as acknowledged.
func (d *delivery) overtaken(again, applied []int) (left []int) {
	if d.twins == nil {
		d.findTwins()
	}
	if len(d.twins) == 0 {
		return again
	}
	for _, i := range applied {
		if last, twin := d.twins[d.name(i)]; twin && i > last {
			d.twins[d.name(i)] = i
		}
	}
	for _, i := range again {
		if last, twin := d.twins[d.name(i)]; twin && last > i {
			d.result.Acknowledged++
			continue
		}
		left = append(left, i)
	}
	return left
}

// findTwins looks for documents with several operations. What was applied before
// the first rejection came before it, so -1 says nothing wrong of it.
func (d *delivery) findTwins() {
	d.twins = map[string]int{}
	seen := make(map[string]bool, d.batch.Len())
	for i := range d.batch.items {
		name := d.name(i)
		if seen[name] {
			d.twins[name] = -1
		}
		seen[name] = true
	}
}

func (d *delivery) name(i int) string {
	op := d.batch.op(i)
	return op.Index + "\x00" + string(op.Routing) + "\x00" + string(op.ID)
}

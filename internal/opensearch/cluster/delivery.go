package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// delivery is one batch on its way.
type delivery struct {
	w       *Writer
	waiting context.Context // ends what is not on its way
	ctx     context.Context
	batch   *Batch
	number  int // among the batches of the writer
	result  Result

	errors  map[int]int    // how often an operation met an error of the server
	twins   map[string]int // of names that occur more than once: the last operation that was applied, or -1; nil: not looked at
	refused int            // requests of one operation that were refused whole
}

// How often something that may be the document's fault is tried.
const (
	serverErrors  = 4 // errors inside the server, of one operation or request
	brokenLarge   = 3 // connections that broke over a request long enough to be the reason
	large         = 1 << 20
	refusedAlways = 16 // single operations refused whole, and none applied: it is not the documents
)

// deliver sends operations until all are settled. It halves a request that is too
// long or that one of its operations spoils, down to that one.
func (d *delivery) deliver(items []int) error {
	for len(items) > 0 {
		var why *trouble
		var failed failures
		settled := false // a context that ends makes no answer unheard
		err := insist(d.waiting, d.w.o.Patience, func() *trouble {
			left, t := d.attempt(items)
			if t == nil || len(left) < len(items) && t.again != never {
				items, settled = left, true
				return nil
			}
			failed.count(t)
			if d.halves(t, items, &failed) {
				why = t
				return nil
			}
			return t
		})
		switch {
		case err != nil && !settled:
			return err
		case why != nil && len(items) == 1:
			return d.refuse(items[0], why)
		case why != nil:
			middle := len(items) / 2
			if err := d.deliver(items[:middle]); err != nil {
				return err
			}
			items = items[middle:]
		}
	}
	return nil
}

// failures are those of one set of operations, by what they may mean.
type failures struct{ internal, broken int }

func (f *failures) count(t *trouble) {
	switch {
	case t.part:
	case t.told && t.status == http.StatusInternalServerError:
		f.internal++
	case t.status == 0 && t.again == ifHarmless:
		f.broken++
	}
}

// halves tells whether a request is better sent in halves, or when it is one
// operation, not again.
func (d *delivery) halves(t *trouble, items []int, failed *failures) bool {
	switch {
	case t.part, t.told && exception.Is(t.err, exception.ClusterBlock):
		return false
	case t.status == http.StatusRequestEntityTooLarge:
		return true
	case t.told && t.status == http.StatusBadRequest:
		return true
	case t.told && t.status == http.StatusInternalServerError:
		return failed.internal >= serverErrors
	case t.status == 0 && t.again == ifHarmless:
		return len(items) > 1 && failed.broken >= brokenLarge && d.length(items) > large
	}
	return false
}

func (d *delivery) length(items []int) (n int) {
	for _, i := range items {
		n += d.batch.size(i)
	}
	return n
}

// refuse fails an operation that was refused as a whole request. Is that so of
// one after the other, then it is the request and not the operation.
func (d *delivery) refuse(i int, t *trouble) error {
	if d.refused++; d.refused >= refusedAlways && d.result.Acknowledged == 0 {
		return fault.WithNext(t.err, "each request was refused in this way, so it is not one document: see what lies between this program and the cluster")
	}
	e := exception.From(t.err)
	f := d.batch.failure(i)
	f.Status, f.Type, f.Reason, f.Next = t.status, string(e.Type), e.Reason, fault.Next(t.err)
	if t.status == http.StatusRequestEntityTooLarge {
		f.Type, f.Reason = TooLarge, fmt.Sprintf("the cluster takes no request as long as this document: %d bytes", d.batch.size(i))
	}
	d.result.Failed = append(d.result.Failed, f)
	return nil
}

var answers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// attempt sends operations once, and settles what the answer settles. Left are
// those to be sent again; a trouble whose repetition is never ends the delivery.
func (d *delivery) attempt(items []int) (left []int, t *trouble) {
	w := d.w
	body := d.batch.gather(items)
	if int64(len(body)) > w.hard {
		return items, &trouble{status: http.StatusRequestEntityTooLarge,
			err: fault.At(fault.New(fault.Limit, "a request of %d bytes, and the cluster takes %d", len(body), w.hard), w.client.place)}
	}
	if err := w.admit(d.waiting, d.number, len(items), len(body)); err != nil {
		return items, &trouble{err: err}
	}
	d.result.Requests++
	w.totals.requests.Add(1)
	w.totals.sent.Add(int64(len(body)))
	began := time.Now()
	buffer := answers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= large {
			answers.Put(buffer)
		}
	}()
	answer, t := w.client.exchange(d.ctx, &Request{
		Method: http.MethodPost, Path: []string{"_bulk"}, Params: w.params, Body: body, Type: "application/x-ndjson", Timeout: w.o.Timeout, Pack: w.o.Gzip,
	}, buffer)
	if t == nil {
		left, t = d.settle(items, answer.Body)
	} else {
		left, t = items, d.whole(t, len(body))
	}
	w.pace.leave(d.judge(t), began, asked(t), coolFirst+chance.N(d.ctx, coolFirst))
	if t != nil && len(left) == len(items) && d.judge(t) == rejected {
		w.totals.rejected.Add(1)
	}
	d.result.Repeated += len(left)
	return left, t
}

func asked(t *trouble) time.Duration {
	if t == nil {
		return 0
	}
	return t.wait
}

// judge is what a trouble says about the cluster's load.
func (d *delivery) judge(t *trouble) verdict {
	switch {
	case t == nil:
		return kept
	case t.status == http.StatusTooManyRequests, t.status == http.StatusServiceUnavailable, t.status == http.StatusGatewayTimeout:
		return rejected
	}
	return broke
}

// whole says what a refusal of a whole request means: operations of a batch may
// be applied twice, so what nobody knows is repeated.
func (d *delivery) whole(t *trouble, length int) *trouble {
	switch {
	case t.status == http.StatusRequestEntityTooLarge:
		d.w.tooLarge(length)
	case t.told && exception.Is(t.err, exception.ClusterBlock):
		t.again = always
	case t.status == http.StatusUnauthorized, t.status == http.StatusForbidden, t.status >= 300 && t.status < 400:
	case t.status != 0 && !t.told: // a proxy's page: the cluster was perhaps never asked
		t.again = always
	case t.status == http.StatusInternalServerError:
		t.again = always
	case t.again == ifHarmless && t.status != 0:
		t.again = always
	}
	return t
}

// settle reads an answer and settles what it tells. An answer that is none
// settles nothing.
func (d *delivery) settle(items []int, body []byte) (left []int, t *trouble) {
	s := &sorting{d: d, items: items}
	read := readBulk
	if d.batch.tells {
		read = readEach
	}
	if err := read(body, len(items), s.take); err != nil {
		err := fault.At(fault.New(fault.Unavailable, "%w: %.100q", err, body[:min(len(body), 100)]), d.w.client.place)
		return items, &trouble{again: always, err: fault.WithNext(err, "see what lies between this program and the cluster")}
	}
	if !s.slow {
		d.result.Acknowledged += len(items)
		return nil, nil
	}
	return s.commit()
}

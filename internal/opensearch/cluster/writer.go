package cluster

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// WriterOptions say how batches are sent. The zero value of a field is its default.
type WriterOptions struct {
	MaxBytes    int // of a request's body: 4 MiB, and less where the cluster takes less
	MaxDocs     int // of a request: 5,000
	Concurrency int // most requests in flight: 8. How many there are adapts to the cluster

	Gzip           bool
	DocsPerSecond  float64 // 0: no limit; see Throttle
	BytesPerSecond float64

	Timeout  time.Duration // of one request: 2 minutes
	Patience time.Duration // how long a batch is tried without progress: 15 minutes

	// Pipelines lets the default ingest pipeline of an index change the documents.
	// Otherwise they are written as they are.
	Pipelines bool
}

// Writer sends batches to a cluster: the one bulk client. Safe for concurrent use.
type Writer struct {
	client *Client
	o      WriterOptions
	params url.Values
	pace   *pace
	docs   *meter
	bytes  *meter
	slots  chan struct{}

	maxBytes atomic.Int64
	hard     int64 // what the cluster says it takes; a request above it is not sent
	totals   totals

	number  atomic.Int64 // of the batch that was started last
	senders atomic.Int64 // who share the limits; 0: one
}

type totals struct {
	requests, acknowledged, conflicts, failed, repeated, rejected, sent atomic.Int64
}

// WriterStats are the totals of a writer, and how it is now.
type WriterStats struct {
	Requests     int64         `json:"requests"`
	Acknowledged int64         `json:"acknowledged"`
	Conflicts    int64         `json:"conflicts"`
	Failed       int64         `json:"failed"`
	Repeated     int64         `json:"repeated"`    // operations that were sent again
	Rejected     int64         `json:"rejected"`    // requests that the cluster had no room for, whole or in part
	Bytes        int64         `json:"bytes"`       // of bodies, before gzip
	Concurrency  int           `json:"concurrency"` // requests that may be in flight now
	InFlight     int           `json:"inFlight"`
	Latency      time.Duration `json:"latency"` // of an answer, smoothed
	MaxBytes     int64         `json:"maxBytes"`
}

// Result is what became of a batch. Each operation is in exactly one of
// Acknowledged, Conflicts and Failed, unless Write returned an error: then
// Unknown of them may be applied, or not.
type Result struct {
	Acknowledged int
	Conflicts    []Failure // a newer version is there, or with Create and Ensure: a document
	Failed       []Failure // never taken: sending them again changes nothing
	Replaced     []Failure // of those acknowledged with Above or Names: a document was there
	Unknown      int
	Requests     int
	Repeated     int // operations that were sent again
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// NewWriter makes a writer, and asks the cluster how long a request may be.
func (c *Client) NewWriter(ctx context.Context, o WriterOptions) (*Writer, error) {
	if _, err := c.Server(ctx); err != nil {
		return nil, err
	}
	setDefault(&o.MaxBytes, 4<<20)
	setDefault(&o.MaxDocs, 5000)
	setDefault(&o.Concurrency, 8)
	setDefault(&o.Timeout, 2*time.Minute)
	setDefault(&o.Patience, 15*time.Minute)
	w := &Writer{
		client: c, o: o, pace: newPace(o.Concurrency), docs: newMeter(o.DocsPerSecond), bytes: newMeter(o.BytesPerSecond),
		slots: make(chan struct{}, o.Concurrency), hard: math.MaxInt64,
		params: url.Values{"filter_path": {"errors,items.*.status,items.*.error"}},
	}
	if !o.Pipelines {
		w.params.Set("pipeline", "_none")
	}
	limit, err := c.maxRequest(ctx)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		w.hard = limit
	}
	w.maxBytes.Store(min(int64(o.MaxBytes), w.hard-w.hard/16))
	return w, nil
}

// maxRequest is the least http.max_content_length of the nodes; 0 where it is not
// told, as by services that hide their nodes.
func (c *Client) maxRequest(ctx context.Context) (least int64, err error) {
	params := url.Values{"filter_path": {"nodes.*.http.max_content_length_in_bytes"}}
	answer, err := c.Send(ctx, Request{Method: http.MethodGet, Path: []string{"_nodes", "_all", "http"}, Params: params})
	if err != nil {
		if fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Interrupted) {
			return 0, err
		}
		return 0, nil
	}
	var told struct {
		Nodes map[string]struct {
			HTTP struct {
				Most int64 `json:"max_content_length_in_bytes"`
			} `json:"http"`
		} `json:"nodes"`
	}
	if json.Unmarshal(answer.Body, &told) != nil {
		return 0, nil
	}
	for _, n := range told.Nodes {
		if m := n.HTTP.Most; m > 0 && (least == 0 || m < least) {
			least = m
		}
	}
	return least, nil
}

// Throttle changes the rate limits, of requests that are already waiting too. 0 is none. Senders
// is how many there are, each with a batch at a time: the more, the shorter batches are.
func (w *Writer) Throttle(docsPerSecond, bytesPerSecond float64, senders int) {
	w.senders.Store(int64(senders))
	w.docs.set(docsPerSecond)
	w.bytes.set(bytesPerSecond)
}

// Room tells whether a batch may take one more operation. An empty one always may. Under a rate
// limit batches are short, so that each is answered soon.
func (w *Writer) Room(b *Batch, op *Op) bool {
	const frame = 96 // the names of an action line, and a version
	size := len(op.Index) + len(op.ID) + len(op.Routing) + len(op.Source) + frame
	senders := int(w.senders.Load())
	docs, bytes := min(float64(w.o.MaxDocs), w.docs.most(senders)), min(float64(w.maxBytes.Load()), w.bytes.most(senders))
	return b.Len() == 0 || float64(b.Len()) < docs && float64(b.Bytes()+size) <= bytes
}

// Limited tells whether there is a rate limit: what is sent waits for its turn then.
func (w *Writer) Limited() bool { return w.docs.limited() || w.bytes.limited() }

// Start sends a batch and returns when there is a slot for it, of which there are
// WriterOptions.Concurrency; so many batches are at work at most. Done is called
// with what Write returns, from another goroutine. The error is the context's:
// done is not called then.
func (w *Writer) Start(ctx context.Context, b *Batch, done func(Result, error)) error {
	return w.StartWaiting(ctx, ctx, b, done)
}

// StartWaiting is Start for a batch that is not sent any more when waiting has ended, which
// ends before ctx does: what waits is given up then, and what is on its way is answered.
func (w *Writer) StartWaiting(waiting, ctx context.Context, b *Batch, done func(Result, error)) error {
	select {
	case w.slots <- struct{}{}:
	case <-waiting.Done():
		return context.Cause(waiting)
	}
	number := w.next()
	go func() {
		result, err := w.write(waiting, ctx, b, number)
		<-w.slots
		done(result, err)
	}()
	return nil
}

// Write sends a batch until each operation is acknowledged, a conflict, or failed
// for good. Operations that the cluster had no room for are sent again, alone; a
// request whose outcome nobody knows is sent again whole, so that operations must
// be ones that may be applied twice. Operations on one id take effect in the
// order of the batch; there is no order between batches.
//
// An error ends it early: credentials that are not taken, an index that is gone,
// patience that is over, or the context's.
func (w *Writer) Write(ctx context.Context, b *Batch) (Result, error) {
	return w.write(ctx, ctx, b, w.next())
}

// next is the number of a batch that is started now; it stands in the line from now on.
func (w *Writer) next() int {
	number := int(w.number.Add(1))
	w.pace.join(number)
	return number
}

// write sends the batch that was the number-th to be started.
func (w *Writer) write(waiting, ctx context.Context, b *Batch, number int) (Result, error) {
	defer w.pace.stepOut(number)
	d := &delivery{w: w, waiting: waiting, ctx: ctx, batch: b, number: number}
	items := make([]int, b.Len())
	for i := range items {
		items[i] = i
	}
	err := d.deliver(items)
	r := d.result
	r.Unknown = b.Len() - r.Acknowledged - len(r.Conflicts) - len(r.Failed)
	w.totals.acknowledged.Add(int64(r.Acknowledged))
	w.totals.conflicts.Add(int64(len(r.Conflicts)))
	w.totals.failed.Add(int64(len(r.Failed)))
	w.totals.repeated.Add(int64(r.Repeated))
	return r, err
}

// Stats are the totals so far.
func (w *Writer) Stats() WriterStats {
	t := &w.totals
	s := WriterStats{
		Requests: t.requests.Load(), Acknowledged: t.acknowledged.Load(), Conflicts: t.conflicts.Load(), Failed: t.failed.Load(),
		Repeated: t.repeated.Load(), Rejected: t.rejected.Load(), Bytes: t.sent.Load(), MaxBytes: w.maxBytes.Load(),
	}
	s.Concurrency, s.InFlight, s.Latency = w.pace.state()
	return s
}

// tooLarge notes that a body of this length was not taken.
func (w *Writer) tooLarge(length int) {
	const least = 64 << 10
	half := max(int64(length/2), least)
	for {
		now := w.maxBytes.Load()
		if now <= half || w.maxBytes.CompareAndSwap(now, half) {
			return
		}
	}
}

// admit waits until a request of that many operations and bytes may be in flight.
func (w *Writer) admit(ctx context.Context, number, docs, bytes int) error {
	if err := w.docs.pass(ctx, docs); err != nil {
		return err
	}
	if err := w.bytes.pass(ctx, bytes); err != nil {
		return err
	}
	return w.pace.enter(ctx, number)
}

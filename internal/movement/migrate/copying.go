package migrate

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// copying is the copy of one item: one goroutine reads, the writer sends and is answered,
// and each heartbeat stores how far everything is acknowledged.
type copying struct {
	*turn
	held   *heldItem
	target string // the index, or data stream
	began  time.Time
	setup  time.Duration // from the claim to the first document

	mu      sync.Mutex
	tracker *work.Tracker
	ended   bool  // the end of an item that reaches to the end of its shard was met,
	end     int64 // and is here
}

func newCopying(t *turn, held *heldItem) *copying {
	item := held.Piece()
	return &copying{turn: t, held: held, began: time.Now(), tracker: work.NewTracker(item.Cursor, item.Counts)}
}

// run reads the item's documents and sends them, until the end of the item or of ctx. What
// was sent is answered when it returns, unless the movement was stopped.
func (c *copying) run(ctx context.Context) error {
	sending := &sending{copying: c}
	sending.ctx, sending.cancel = context.WithCancelCause(c.held.Context()) // ctx ends the reading alone
	defer sending.cancel(nil)
	var giveUp context.CancelCauseFunc // what waits, for the target or under a limit, would wait for long
	sending.waiting, giveUp = context.WithCancelCause(sending.ctx)
	defer giveUp(nil)
	defer context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })()
	err := c.read(ctx, sending)
	sending.wait.Wait()
	if e := context.Cause(sending.ctx); e != nil && (err == nil || c.held.Context().Err() == nil) {
		err = e // also when all was read: what was on its way is not acknowledged
	}
	return cmp.Or(err, sending.unsent)
}

// sending are the batches of an item that are on their way.
type sending struct {
	*copying
	ctx    context.Context // ends with the first error
	cancel context.CancelCauseFunc
	wait   sync.WaitGroup
	// waiting ends when nothing more is to be sent; unsent is why a batch was not.
	waiting context.Context
	unsent  error
}

// send registers a batch, which stands for the positions up to end, and sends it. It waits
// while the writer has enough to do.
func (s *sending) send(b *batch, end int64) error {
	s.mu.Lock()
	b.ticket = s.tracker.Begin(end)
	s.mu.Unlock()
	if b.Len() == 0 {
		defer b.free()
		return s.answered(b, cluster.Result{})
	}
	if s.writer.Limited() { // more of them in the line would only make other items wait
		s.wait.Wait()
	}
	s.wait.Add(1)
	err := s.writer.StartWaiting(s.waiting, s.ctx, &b.Batch, func(result cluster.Result, err error) {
		defer s.wait.Done()
		defer b.free()
		if err == nil {
			err = s.answered(b, result)
		}
		if err != nil {
			s.failed(err)
		}
	})
	if err != nil {
		s.wait.Done()
	}
	return err
}

// failed ends everything, but for a batch that was given up while it waited.
func (s *sending) failed(err error) {
	if s.ctx.Err() != nil || s.waiting.Err() == nil {
		s.cancel(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent = err
}

// answered counts a batch of which each document has its answer for good, and lists those
// that failed before anything says that the batch is done.
func (s *sending) answered(b *batch, r cluster.Result) error {
	b.take(r)
	item := s.held.Piece()
	if err := s.keepFailures(s.ctx, item.Name(), item.Index, b.from, b.bad); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.Done(b.ticket, b.counts)
	return nil
}

// batch are documents on their way.
type batch struct {
	cluster.Batch
	from      int64 // the first position that it stands for
	positions []int64
	ticket    work.Ticket
	counts    work.Counts
	bad       []Failure
	cares     []care  // of each operation; empty: it goes where the movement alone writes, or versions decide
	others    []Other // whom it has met
}

// batches are empty ones whose memory is used again: to make it anew for each was most of what
// a copy took, and half of that was garbage.
var batches = sync.Pool{New: func() any { return &batch{} }}

// keptBytes is how long a batch may be whose memory is kept: a large document's is given back.
const keptBytes = 8 << 20

func newBatch(from int64) *batch {
	b := batches.Get().(*batch)
	b.from = from
	return b
}

// free lets a batch be used again, of which nothing is on its way.
func (b *batch) free() {
	if b.Bytes() > keptBytes {
		return
	}
	b.Reset()
	*b = batch{Batch: b.Batch, positions: b.positions[:0]}
	batches.Put(b)
}

// read reads documents in their order, and sends them.
func (c *copying) read(ctx context.Context, to *sending) error {
	item := c.held.Piece()
	if err := c.forgetFailures(ctx, &item, item.Cursor); err != nil {
		return err
	}
	shard, err := c.shard(ctx, item.Index, item.Shard)
	if err != nil {
		return err
	}
	opts := snapshot.ReadOptions{From: item.Cursor, Versions: !c.plan.NoVersions}
	if item.End != work.ToEnd {
		opts.To = item.End
	}
	collapsed, err := c.collapsedOf(ctx, item.Index)
	if err != nil {
		return err
	}
	docs, err := shard.Documents(ctx, opts)
	if err != nil {
		return err
	}
	defer docs.Close()
	b := newBatch(item.Cursor)
	for docs.Next() {
		if c.setup == 0 {
			c.setup = time.Since(c.began)
		}
		doc := docs.Document()
		kept, failure := c.shape(doc, nil)
		if collapsed.has(doc) {
			kept, failure = false, nil
		}
		op := c.op(doc, c.target)
		if b.full() || !c.writer.Room(&b.Batch, &op) {
			at := doc.Position.Number
			if err := to.send(b, at); err != nil {
				return err
			}
			b = newBatch(at)
		}
		if kept && failure == nil {
			b.add(doc, op)
		} else {
			b.pass(doc, failure)
		}
		if to.ctx.Err() != nil {
			return context.Cause(to.ctx)
		}
	}
	if err := docs.Err(); err != nil {
		return err
	}
	end := item.End
	if end == work.ToEnd {
		end = docs.Position()
		c.mu.Lock()
		c.ended, c.end = true, end
		c.mu.Unlock()
	}
	return to.send(b, end)
}

// store stores how far everything is acknowledged.
func (c *copying) store() error {
	return c.held.Update(func(item work.Item, now time.Time) (work.Item, error) {
		c.mu.Lock()
		cursor, counts := c.tracker.Position()
		if c.ended {
			item.End = c.end
		}
		c.mu.Unlock()
		return item.Advance(c.Worker, now, cursor, counts)
	})
}

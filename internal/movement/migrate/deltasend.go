package migrate

import (
	"context"
	"sync"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"golang.org/x/sync/errgroup"
)

// tally is what became of a group.
type tally struct {
	copied        work.Counts
	deleted, kept int64
	others        []Other
}

// outgoing are the writes, or the deletions, of one group on their way to the target.
type outgoing struct {
	*changing
	ctx   context.Context
	group *errgroup.Group
	was   map[uint64]*before
	from  int64 // of the next list of failures
	batch *batch

	mu sync.Mutex
}

func (c *changing) newOutgoing(ctx context.Context, was map[uint64]*before, from int64) *outgoing {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(compareAtOnce)
	return &outgoing{changing: c, ctx: ctx, group: group, was: was, from: from, batch: &batch{}}
}

// write sends a document as the newer snapshot holds it.
func (o *outgoing) write(doc *document.Document, p *print) error {
	if p.failure != nil {
		o.batch.pass(doc, p.failure)
		if o.batch.full() {
			o.send()
		}
		return o.ctx.Err()
	}
	op := o.op(doc, o.target)
	if err := o.room(&op); err != nil {
		return err
	}
	o.batch.heed(doc, op, o.care(p, o.was[p.key]))
	return nil
}

// care is how a delta sends a document of which the older snapshot holds was; nil: nothing. What that holds
// in the same place, and the target has not, others have deleted, unless the movement that brought the older
// snapshot did not bring it whole.
func (c *changing) care(p *print, was *before) care {
	how := p.care(was)
	how.gone = was != nil && was.place == p.place && !c.plan.since(c.index).Lacking
	return how
}

// care is how a document is sent of which the older snapshot holds was; nil: nothing. Created again
// it is in a version above the older one, so that no late write of that replaces it. What is new is
// created where nothing is, and nowhere else.
func (p *print) care(was *before) care {
	if was == nil {
		return care{want: p.content, fresh: 1, blind: true, mine: nothing}
	}
	return care{want: p.content, fresh: max(p.version, was.version+1), mine: was.stands}
}

// remove deletes a document of the older snapshot, unless others have changed it. A late write of
// that loses to the deletion, which follows what it deletes, while the target remembers it.
func (o *outgoing) remove(id, routing string, was *before) error {
	op := cluster.Op{Action: cluster.Delete, Index: o.sentTo(o.target), ID: []byte(id), Routing: []byte(routing), Version: -1}
	if err := o.room(&op); err != nil {
		return err
	}
	if err := o.batch.Add(op); err != nil {
		return err
	}
	o.batch.cares = append(o.batch.cares, care{mine: was.stands})
	return nil
}

// room sends the batch when the operation has no room in it.
func (o *outgoing) room(op *cluster.Op) error {
	if !o.writer.Room(&o.batch.Batch, op) {
		o.send()
	}
	return o.ctx.Err()
}

func (o *outgoing) send() {
	b := o.batch
	b.from = o.from
	o.batch, o.from = &batch{}, o.from+1
	if b.Len() == 0 && len(b.bad) == 0 {
		return
	}
	o.group.Go(func() error { return o.deliver(o.ctx, b) })
}

// end sends what is left, unless there is an error, and waits for all answers.
func (o *outgoing) end(err error) error {
	if err == nil {
		o.send()
	}
	if e := o.group.Wait(); e != nil {
		return e
	}
	return err
}

// deliver sends a batch and counts the answers.
func (o *outgoing) deliver(ctx context.Context, b *batch) error {
	r, err := o.beside(ctx, &b.Batch, b.cares)
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.others = addOthers(o.others, othersOf(&r))
	o.mu.Unlock()
	if len(b.positions) == 0 && len(b.bad) == 0 { // deletions
		if len(r.Failed) > 0 {
			return fault.New(fault.Refused, "%d documents could not be deleted, among them %q: %s: %s", len(r.Failed), r.Failed[0].ID, r.Failed[0].Type, r.Failed[0].Reason)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.deleted += int64(r.Acknowledged)
		o.kept += int64(len(r.Conflicts))
		return nil
	}
	b.take(r)
	item := work.Item{Index: o.index, Shard: o.shard}
	if err := o.keepFailures(ctx, item.Name(), o.index, b.from, b.bad); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.copied.Add(b.counts)
	return nil
}

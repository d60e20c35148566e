package migrate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/work"
	"golang.org/x/sync/errgroup"
)

// tally is what became of a group.
type tally struct {
	copied        work.Counts
	deleted, kept int64
}

// outgoing are the writes, or the deletions, of one group on their way to the target.
type outgoing struct {
	*changing
	ctx   context.Context
	group *errgroup.Group
	was   map[uint64]*before
	from  int64 // of the next list of failures
	batch *batch
	keys  []uint64 // of the operations in batch

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
	before := o.batch.Len()
	o.batch.add(doc, op)
	if o.batch.Len() > before {
		o.keys = append(o.keys, p.key)
	}
	return nil
}

// remove deletes a document in the version that follows the one that the older snapshot
// holds: it wins over a straggler's writing of that one, and loses to what others wrote.
func (o *outgoing) remove(id, routing string, key uint64) error {
	op := cluster.Op{Action: cluster.Delete, Index: o.target, ID: []byte(id), Routing: []byte(routing), Version: o.was[key].version + 1}
	if err := o.room(&op); err != nil {
		return err
	}
	if err := o.batch.Add(op); err != nil {
		return err
	}
	o.keys = append(o.keys, key)
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
	b, keys := o.batch, o.keys
	b.from = o.from
	o.batch, o.keys, o.from = &batch{}, nil, o.from+1
	if b.Len() == 0 && len(b.bad) == 0 {
		return
	}
	o.group.Go(func() error { return o.deliver(o.ctx, b, keys) })
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

// deliver sends a batch and counts the answers. What the target has in a newer version is
// looked at: where that is what the older snapshot holds, the numbers of versions began anew
// in the source, and it is overwritten; where it is not, others have changed it.
func (o *outgoing) deliver(ctx context.Context, b *batch, keys []uint64) error {
	var result cluster.Result
	var err error
	if b.Len() > 0 {
		result, err = o.writer.Write(ctx, &b.Batch)
	}
	if err != nil {
		return err
	}
	var lost []cluster.Failure
	for i := range result.Conflicts {
		f := &result.Conflicts[i]
		won, err := o.again(ctx, f, keys[f.Item], b.Lines(f.Item))
		switch {
		case err != nil:
			return err
		case won:
			result.Acknowledged++
		default:
			lost = append(lost, *f)
		}
	}
	result.Conflicts = lost
	return o.count(ctx, b, result)
}

func (o *outgoing) count(ctx context.Context, b *batch, r cluster.Result) error {
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

// again sends an operation that lost to a newer version once more, if what stands there is
// the document as the older snapshot holds it, or, for a deletion, if nothing stands there.
func (o *outgoing) again(ctx context.Context, f *cluster.Failure, key uint64, lines []byte) (won bool, err error) {
	there, err := o.stands(ctx, f)
	if err != nil {
		return false, err
	}
	if there == nil && f.Action == cluster.Delete {
		return true, nil
	}
	old := o.was[key]
	if there == nil || old == nil || there.content != old.content {
		return false, nil
	}
	_, source, _ := bytes.Cut(lines, []byte{'\n'})
	var b cluster.Batch
	op := cluster.Op{Action: f.Action, Index: f.Index, ID: []byte(f.ID), Routing: []byte(f.Routing), Source: source, Version: there.version + 1}
	if err := b.Add(op); err != nil {
		return false, err
	}
	r, err := o.writer.Write(ctx, &b)
	return err == nil && r.Acknowledged == 1, err
}

// stands is the document that the target has; nil: none.
func (o *outgoing) stands(ctx context.Context, f *cluster.Failure) (*before, error) {
	params := url.Values{}
	if f.Routing != "" {
		params.Set("routing", f.Routing)
	}
	answer, err := o.sides.target.Do(ctx, http.MethodGet, []string{f.Index, "_doc", f.ID}, params, nil)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var doc struct {
		Found   bool            `json:"found"`
		Version int64           `json:"_version"`
		Source  json.RawMessage `json:"_source"`
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		return nil, fault.New(fault.Corrupt, "the target's answer about %q is not understood: %w", f.ID, err)
	}
	if !doc.Found {
		return nil, nil
	}
	var printer document.Fingerprinter
	content := printer.Of([]byte(f.ID), []byte(f.Routing), doc.Source).Content
	return &before{content: binary.BigEndian.Uint64(content[:8]), version: doc.Version}, nil
}

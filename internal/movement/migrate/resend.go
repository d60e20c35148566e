package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// resent is what became of documents that were sent again.
type resent struct {
	work.Counts
	failed []Failure // for good
	others []Other   // whom it has met
}

func (r *resent) add(b *batch) {
	r.Add(b.counts)
	r.failed = append(r.failed, b.bad...)
	r.others = addOthers(r.others, b.others)
}

// sentAgain is for people. What others have changed or deleted on the target since is left alone.
func sentAgain(c *work.Counts, others []Other) string {
	text := counted(int(c.Acknowledged), "documents") + " sent again"
	if c.Conflicts > 0 {
		text += fmt.Sprintf(", %d were changed or deleted on the target since, and are left so%s", c.Conflicts, named(others, changedByOthers, deletedByOthers))
	}
	text += overwritten(others)
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed again", c.Failed)
	}
	return text
}

// resend sends documents of a shard again, by their positions.
func (t *turn) resend(ctx context.Context, index string, shard *snapshot.Shard, positions []int64) (r resent, err error) {
	if len(positions) == 0 {
		return r, nil
	}
	target, err := t.takesAgain(ctx, index)
	if err != nil {
		return r, err
	}
	defer t.sends(ctx)()
	slices.Sort(positions)
	cares, err := t.caresOf(ctx, index, shard.Number, positions)
	if err != nil {
		return r, err
	}
	collapsed, err := t.collapsedOf(ctx, index)
	if err != nil {
		return r, err
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{From: positions[0], To: positions[len(positions)-1] + 1, Versions: !t.plan.NoVersions})
	if err != nil {
		return r, err
	}
	defer docs.Close()
	b := &batch{}
	var printer document.Fingerprinter
	for docs.Next() {
		doc := docs.Document()
		if _, wanted := slices.BinarySearch(positions, doc.Position.Number); !wanted {
			continue
		}
		kept, failure := t.shape(doc, nil)
		if collapsed.has(doc) {
			kept, failure = false, nil
		}
		if !kept || failure != nil {
			b.pass(doc, failure)
			continue
		}
		op := t.op(doc, target)
		if !t.writer.Room(&b.Batch, &op) {
			if _, err := t.sendNow(ctx, b); err != nil {
				return r, err
			}
			r.add(b)
			b = &batch{}
		}
		switch {
		case cares != nil:
			b.heed(doc, op, cares[doc.Position.Number])
		case op.Action == cluster.Index && !t.plan.IntoExisting:
			b.heed(doc, op, refusedOnce(&printer, doc))
		default: // into a stream, which replaces nothing, or where versions decide, as in the copy
			b.add(doc, op)
		}
	}
	if err := docs.Err(); err != nil {
		return r, err
	}
	_, err = t.sendNow(ctx, b)
	r.add(b)
	return r, err
}

// refusedOnce is the care for a document of a copy that the target did not take: what is there now is of
// others, who have perhaps put right what was wrong with it.
func refusedOnce(printer *document.Fingerprinter, doc *document.Document) care {
	c := care{want: contentOf(printer.Of(doc.ID, doc.Routing, doc.Source)), fresh: -1, mine: nothing}
	if v := doc.Versions; v != nil {
		c.fresh, c.ties = v.Version, v.Version >= 0
	}
	return c
}

// takesAgain is the index of the target that takes documents of an index once more: of a data
// stream the one behind it that has the others.
func (t *turn) takesAgain(ctx context.Context, index string) (target string, err error) {
	if t.streams[index] == nil {
		return t.targetOf(index), nil
	}
	target, err = t.backingOf(ctx, index)
	if err == nil && target == "" {
		err = fault.New(fault.Refused, "nothing tells any more which index behind the data stream %s has the documents of %s", t.targetOf(index), index)
		err = fault.WithNext(err, "accept what differs with reshelve movement finish, or abort, and migrate again")
	}
	return target, err
}

// sendNow sends a batch and waits for its answer.
func (t *turn) sendNow(ctx context.Context, b *batch) (cluster.Result, error) {
	var result cluster.Result
	var err error
	switch {
	case len(b.cares) > 0:
		result, err = t.beside(ctx, &b.Batch, b.cares)
	case b.Len() > 0:
		result, err = t.writer.Write(ctx, &b.Batch)
	}
	b.take(result)
	return result, err
}

// op is how a document is written. Of a data stream the target is the stream, which takes new
// documents alone, or an index behind it.
func (t *turn) op(doc *document.Document, target string) cluster.Op {
	op := cluster.Op{Index: t.sentTo(t.place(doc, target)), ID: doc.ID, Routing: doc.Routing, Source: doc.Source, Version: -1}
	if s := t.streams[doc.Index]; s != nil {
		if op.Action = cluster.Create; target != s.Name {
			op.Action = cluster.Ensure
		}
		return op
	}
	if v := doc.Versions; v != nil {
		op.Version = v.Version
	}
	return op
}

// add puts a document into the batch; one that cannot be written is a failure.
func (b *batch) add(doc *document.Document, op cluster.Op) {
	b.counts.Read++
	b.counts.Bytes += int64(len(doc.Source))
	failure := Failure{Position: doc.Position.Number, ID: string(doc.ID)}
	var refused *cluster.Failure
	switch {
	case noPlace(&op, doc, &failure):
	case doc.Source == nil:
		failure.Type, failure.Reason = "no_source", "the snapshot holds no source of this document"
	case errors.As(b.Add(op), &refused):
		failure.Type, failure.Reason = refused.Type, refused.Reason
	default:
		b.positions = append(b.positions, doc.Position.Number)
		return
	}
	b.bad = append(b.bad, failure)
}

// heed is add for a document that is sent with care.
func (b *batch) heed(doc *document.Document, op cluster.Op, c care) {
	before := b.Len()
	b.add(doc, op)
	if b.Len() > before {
		b.cares = append(b.cares, c)
	}
}

// take counts what became of a batch.
func (b *batch) take(r cluster.Result) {
	if len(b.cares) > 0 {
		b.others = othersOf(&r)
	}
	b.counts.Acknowledged = int64(r.Acknowledged)
	b.counts.Conflicts = int64(len(r.Conflicts))
	b.counts.Retries = int64(r.Repeated)
	for _, f := range r.Failed {
		b.bad = append(b.bad, Failure{Position: b.positions[f.Item], ID: f.ID, Type: f.Type, Reason: f.Reason, Status: f.Status})
	}
	b.counts.Failed = int64(len(b.bad))
}

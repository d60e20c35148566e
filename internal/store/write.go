package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Write applies writes and answers each, in their order. Writes to one document
// are applied in the order given; writes to different shards run side by side. An
// answer without Err is durable. With AtOnce the shards that took something are
// refreshed before the answer, with Awaited the answer waits for their next refresh.
//
// The sources and names of writes are not kept after the answer.
func (s *Store) Write(ctx context.Context, writes []document.Write, visible document.Visibility) []document.Written {
	b := &bulk{store: s, ctx: ctx}
	answers := b.write(writes)
	b.show(visible)
	return answers
}

// Bulk is a request that is written in parts, one after the other.
type Bulk struct {
	of      bulk
	visible document.Visibility
}

// Bulk begins a request that is written in parts. Room is asked before an update is applied whose
// answer holds so many bytes of a source; its error is the update's.
func (s *Store) Bulk(ctx context.Context, visible document.Visibility, room func(bytes int64) error) *Bulk {
	return &Bulk{bulk{store: s, ctx: ctx, room: room}, visible}
}

// Write applies a part, as Store.Write does. Nothing is made visible before Show, and nothing
// of the part is kept.
func (b *Bulk) Write(writes []document.Write) []document.Written {
	answers := b.of.write(writes)
	for sh, t := range b.of.touched {
		t.answers = nil
		b.of.touched[sh] = t
	}
	return answers
}

// Show makes all parts visible, as Store.Write does, and reports whether they are: the answers of Write do not.
func (b *Bulk) Show() bool { return b.of.show(b.visible) }

func (b *bulk) write(writes []document.Write) []document.Written {
	answers := make([]document.Written, len(writes))
	items := make([]item, len(writes))
	pending := make([]*item, len(writes))
	for i := range writes {
		items[i] = item{write: &writes[i], answer: &answers[i]}
		answers[i].Index, answers[i].ID, answers[i].Routing = writes[i].Target, writes[i].ID, writes[i].Routing
		pending[i] = &items[i]
	}
	for round := 0; len(pending) > 0; round++ {
		if round > 0 {
			pending = b.again(pending, round)
			b.ctx = upToDate(b.ctx)
		}
		pending = b.drive(pending)
	}
	return answers
}

// bulk is a request that writes.
type bulk struct {
	store *Store
	ctx   context.Context

	queues int                     // that are drained side by side
	room   func(bytes int64) error // asked for what answers hold; nil: there is some

	mu      sync.Mutex            // guards touched, and calls of room
	touched map[shard.Shard]touch // shards that took something
}

// touch is what a shard took.
type touch struct {
	seqNo   int64 // the highest
	answers []*document.Written
	routed  *index
}

// item is one write on its way.
type item struct {
	write  *document.Write
	answer *document.Written
	target
	ref     shard.Ref
	routing string
	autoID  bool
	tries   int // of an update that met a concurrent change
	stale   error
}

// fail answers the item with an error.
func (it *item) fail(err error) { it.answer.Err = err }

// queue are the items of one shard, in order.
type queue struct {
	index *index
	shard shard.Shard
	epoch int64
	items []*item
}

// drive routes items by the present view, applies them, and returns those that were
// answered stale.
func (b *bulk) drive(items []*item) (stale []*item) {
	queues, stale := b.route(items)
	b.queues = max(len(queues), 1)
	if len(queues) == 1 {
		return append(stale, b.drain(queues[0])...)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, q := range queues {
		wg.Go(func() {
			if left := b.drain(q); len(left) > 0 {
				mu.Lock()
				stale = append(stale, left...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return stale
}

// again reads the placements of stale items anew, after a pause that grows. It answers
// those whose index is gone, or whose time is up, and returns the others.
func (b *bulk) again(stale []*item, round int) (left []*item) {
	waited := pause(b.ctx, round)
	read := map[string]error{}
	for _, it := range stale {
		name := it.index.record.Name
		err, known := read[name]
		if !known {
			if err = waited; err == nil {
				err = b.store.reload(b.ctx, name)
			}
			read[name] = err
		}
		switch {
		case err == nil:
			left = append(left, it)
		case exception.Is(err, exception.IndexNotFound): // deleted meanwhile
			it.fail(exception.NoSuchIndex(name))
		default:
			it.fail(exception.New(exception.UnavailableShards, "[%s] the owner of the document changed, and the request's time was up before it was found: %v; %v",
				name, it.stale, err))
		}
	}
	return left
}

// pause waits before the given round of a request that was stale, counted from 1.
func pause(ctx context.Context, round int) error {
	const longest = 250 * time.Millisecond
	about := min(time.Millisecond<<min(round-1, 10), longest)
	timer := time.NewTimer(about/2 + chance.N(ctx, about+1)) // those who were refused together do not come back together
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// drain applies a queue in order, as few groups as the order allows, and returns what
// was answered stale with everything behind it.
func (b *bulk) drain(q *queue) (stale []*item) {
	for len(q.items) > 0 {
		n := independent(q.items)
		group := q.items[:n]
		q.items = q.items[n:]
		for len(group) > 0 {
			var retry, rest []*item
			if retry, rest, stale = b.apply(q, group); len(stale) > 0 {
				return slices.Concat(stale, retry, rest, q.items)
			}
			group = append(retry, rest...)
		}
	}
	return nil
}

// independent is the length of the longest prefix that can be one group: an
// update must see what it follows, and what follows an update must not pass it
// while it tries again.
func independent(items []*item) int {
	updates := false
	for _, it := range items {
		updates = updates || it.write.Operation == document.Update
	}
	if !updates {
		return len(items)
	}
	updated := make(map[shard.Ref]bool, len(items)) // false: written otherwise
	for i, it := range items {
		update := it.write.Operation == document.Update
		if before, met := updated[it.ref]; met && (before || update) {
			return i
		}
		updated[it.ref] = update
	}
	return len(items)
}

// readAhead is how many bytes of changed documents wait until they are written together, in all queues.
const readAhead = 8 << 20

// apply writes one group to its shard and answers its items. It returns updates
// that met a concurrent change and may try again, the rest of a group whose updates have made
// much, and items that were stale.
func (b *bulk) apply(q *queue, group []*item) (retry, rest, stale []*item) {
	ops := make([]shard.Op, 0, len(group))
	sent := make([]*item, 0, len(group))
	made := 0
	for i, it := range group {
		if made > readAhead/b.queues {
			group, rest = group[:i:i], group[i:]
			break
		}
		op, send := b.operation(q, it)
		if it.stale != nil {
			stale = append(stale, it)
		} else if send {
			ops = append(ops, op)
			sent = append(sent, it)
			if it.write.Operation == document.Update {
				made += len(op.Source)
			}
		}
	}
	if len(stale) > 0 { // then nothing of the group is sent: all that has no answer yet goes another way
		return nil, rest, unanswered(group, sent)
	}
	if len(ops) == 0 {
		return nil, rest, nil
	}
	took := touch{seqNo: -1, routed: q.index}
	for i, result := range q.shard.Write(b.ctx, q.epoch, ops) {
		it := sent[i]
		switch {
		case result.Err == nil:
			it.answered(result)
			took.seqNo = max(took.seqNo, result.SeqNo)
			took.answers = append(took.answers, it.answer)
		case fault.Is(result.Err, fault.Stale):
			it.stale = result.Err
			stale = append(stale, it)
		case fault.Is(result.Err, fault.Conflict) && it.mayTryAgain():
			it.tries++
			retry = append(retry, it)
		default:
			it.fail(q.index.told(result.Err, q.shard.ID().Number))
		}
	}
	b.took(q.shard, took)
	return retry, rest, stale
}

// unanswered are the items of a group that were stale or about to be sent, in order.
func unanswered(group, unsent []*item) (left []*item) {
	for _, it := range group {
		if len(unsent) > 0 && unsent[0] == it {
			left, unsent = append(left, it), unsent[1:]
		} else if it.stale != nil {
			left = append(left, it)
		}
	}
	return left
}

// operation is what the shard is asked to do for an item. Send is false when the
// item is answered already, or stale.
func (b *bulk) operation(q *queue, it *item) (op shard.Op, send bool) {
	it.stale = nil
	w := it.write
	op = shard.Op{Key: it.ref.Key, ID: it.ref.ID, Routing: it.routing, Source: w.Source, Condition: w.Condition, AutoID: it.autoID}
	if it.autoID { // as the server: nothing is compared with a document that cannot be there
		op.Condition.SeqNo, op.Condition.PrimaryTerm = document.Unset, document.Unset
	}
	switch w.Operation {
	case document.Create:
		op.MustCreate = true
	case document.Delete:
		op.Delete, op.Source = true, nil
	case document.Update:
		return b.update(q, it, op)
	}
	return op, true
}

// answered fills the answer of an applied item.
func (it *item) answered(result shard.Result) {
	a := it.answer
	a.Outcome, a.Versions = result.Outcome, result.Versions
	if c := it.write.Change; c == nil || !c.WantSource {
		a.Source = nil
	}
}

// mayTryAgain reports whether a conflict of an update's own making may be
// answered with another try.
func (it *item) mayTryAgain() bool {
	w := it.write
	return w.Operation == document.Update && w.Condition.SeqNo == document.Unset && it.tries < w.Change.Retries
}

// took remembers what a shard took, and that its readers are behind.
func (b *bulk) took(sh shard.Shard, t touch) {
	if t.seqNo < 0 {
		return
	}
	b.store.refresher.mark(sh, t.routed.rules.interval)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.touched == nil {
		b.touched = map[shard.Shard]touch{}
	}
	t.seqNo = max(t.seqNo, b.touched[sh].seqNo)
	t.answers = append(b.touched[sh].answers, t.answers...)
	b.touched[sh] = t
}

// show makes what was written visible to searches, as the caller asked. Whatever
// happens here, the writes are applied and durable: a failure is logged, and the
// answers say that it was not made visible. All tells whether nothing failed.
func (b *bulk) show(visible document.Visibility) (all bool) {
	if visible == document.Eventually {
		return true
	}
	all = true
	for sh, t := range b.touched {
		var err error
		if visible == document.AtOnce {
			_, err = sh.Refresh(b.ctx)
		} else {
			err = sh.AwaitRefresh(b.ctx, t.seqNo)
		}
		if err != nil && !b.store.handedOver(sh) { // which shows all that it had
			b.store.options.Logger.Warn("written, but not visible to searches yet", "index", t.routed.record.Name, "error", err)
			all = false
			for _, a := range t.answers {
				a.Unshown = true
			}
			continue
		}
		for _, a := range t.answers {
			a.Refreshed = visible == document.AtOnce
		}
	}
	return all
}

package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// MaxID is the most bytes that an id may have.
const MaxID = 512

// target is where a name leads.
type target struct {
	index   *index
	routing string // of the alias; "" when it has none
	stream  bool
	err     error
}

// routes is what one drive has found.
type routes struct {
	targets map[string]target
	// placed are the indices by number, with the shards that were met first: while shards
	// change, two writes to one document must not go to an old one and to a new one, where
	// the second would pass the first.
	placed map[uint32]*index
}

// shard is where an order key of an index goes.
func (r routes) shard(ctx context.Context, idx *index, key routing.Key) (shard.Shard, placement.Shard, error) {
	placed := r.placed[idx.entry.Number]
	if placed == nil {
		placed = idx
		r.placed[idx.entry.Number] = idx
	}
	routed, err := placed.routed(ctx)
	if err != nil {
		return nil, placement.Shard{}, err
	}
	owner := routed.Owner(key)
	sh, err := placed.at(owner)
	return sh, owner, err
}

// route finds the shard of every item by the present view, and answers those that
// have none; stale are those whose shard is no longer one. Documents are checked against the
// mapping here, outside of any shard.
func (b *bulk) route(items []*item) (queues []*queue, stale []*item) {
	r := routes{map[string]target{}, map[uint32]*index{}}
	byShard := map[shard.Shard]*queue{}
	for _, it := range items {
		q, err := b.queueOf(it, r)
		if fault.Is(err, fault.Stale) {
			it.stale, stale = err, append(stale, it)
			continue
		}
		if err != nil {
			it.fail(err)
			continue
		}
		if known := byShard[q.shard]; known != nil {
			known.items = append(known.items, it)
			continue
		}
		if len(queues) == 0 { // nearly always the only one
			q.items = make([]*item, 0, len(items))
		}
		q.items = append(q.items, it)
		byShard[q.shard] = &q
		queues = append(queues, &q)
	}
	return queues, stale
}

// queueOf checks an item and finds its shard.
func (b *bulk) queueOf(it *item, r routes) (queue, error) {
	w := it.write
	t, known := r.targets[w.Target]
	if !known || w.RequireAlias {
		t = b.store.findTarget(b.ctx, w)
		if !w.RequireAlias {
			r.targets[w.Target] = t
		}
	}
	if t.err != nil {
		return queue{}, t.err
	}
	if err := t.index.tooFew(w.Active); err != nil {
		return queue{}, err
	}
	if err := t.index.rules.pipeline; err != nil && w.Operation != document.Delete {
		return queue{}, err
	}
	it.target = t
	it.answer.Index = t.index.record.Name
	if err := it.identify(); err != nil {
		return queue{}, err
	}
	if w.Operation == document.Index || w.Operation == document.Create {
		if err := b.store.tooLarge(w.Source); err != nil {
			return queue{}, err
		}
		checked, err := b.store.check(b.ctx, t.index, w.Source, it.ref.ID)
		if err != nil {
			return queue{}, err
		}
		if checked != t.index { // its mapping has grown
			it.index, t.index = checked, checked
			r.targets[w.Target] = t
		}
	}
	sh, owner, err := r.shard(b.ctx, t.index, it.ref.Key)
	if err != nil && t.index.entry.Closed { // meanwhile
		return queue{}, t.index.closed()
	}
	if err != nil {
		return queue{}, err
	}
	return queue{index: t.index, shard: sh, epoch: owner.Epoch}, nil
}

// findTarget is the index that takes a write, made when it may be.
func (s *Store) findTarget(ctx context.Context, w *document.Write) target {
	found, alias, exists, err := s.writeTarget(s.view.Load(), w.Target)
	creates := w.Operation != document.Delete || w.Condition.VersionType != document.Internal // as the server: so that the version is kept
	if err == nil && !exists && !w.RequireAlias && creates {
		if err = s.autoCreate(ctx, w.Target); err == nil {
			found, alias, exists, err = s.writeTarget(s.view.Load(), w.Target)
		}
	}
	switch {
	case err != nil:
		return target{err: err}
	case w.RequireAlias && (!exists || found.record.Name == w.Target):
		return target{err: exception.New(exception.IndexNotFound,
			"no such index [%s] and [require_alias] request flag is [true] and [%s] is not an alias", w.Target, w.Target).
			With("index", w.Target).With("index_uuid", "_na_")}
	case !exists:
		return target{err: exception.NoSuchTarget(w.Target)}
	case found.entry.Closed:
		return target{err: found.closed()}
	case found.rules.readOnly != nil:
		return target{err: found.rules.readOnly}
	}
	return target{index: found, routing: alias.IndexRouting, stream: found.entry.Stream != ""}
}

// identify settles the id, the routing and the order key of an item.
func (it *item) identify() error {
	w, idx := it.write, it.index
	if it.stream && w.Target == idx.entry.Stream && w.Operation != document.Create {
		return exception.New(exception.IllegalArgument, "only write ops with an op_type of create are allowed in data streams")
	}
	id := w.ID
	if id == "" && it.ref.ID == "" {
		id, it.autoID = newID(), true
	} else if id == "" {
		id = it.ref.ID // made before the item was stale
	}
	if len(id) > MaxID {
		return exception.New(exception.IllegalArgument, "id [%s] is too long, must be no longer than 512 bytes but was: %d", id, len(id))
	}
	value, err := joinRouting(w.Routing, it.target.routing, w.Target)
	if err != nil {
		return err
	}
	if value == "" && (idx.mapping.RoutingRequired() || idx.rules.partitions > 1) {
		return routingMissing(idx, id)
	}
	it.routing = value
	it.ref = shard.Ref{Key: routing.KeyOf(id, value, idx.rules.partitions), ID: id}
	it.answer.ID, it.answer.Routing = id, value
	return nil
}

// joinRouting is the routing of a request through an alias that may have its own.
func joinRouting(asked, alias, name string) (string, error) {
	if asked == "" || alias == "" || asked == alias {
		return max(asked, alias), nil
	}
	return "", exception.New(exception.IllegalArgument,
		"Alias [%s] has index routing associated with it [%s], and was provided with routing value [%s], rejecting operation", name, alias, asked)
}

// newID is a random id of 20 characters that are safe in URLs.
func newID() string {
	var random [15]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// tooLarge refuses a source beyond the limit.
func (s *Store) tooLarge(source []byte) error {
	if most := s.options.MaxSource; most > 0 && int64(len(source)) > most {
		return exception.New(exception.IllegalArgument, "the document has [%d] bytes, the limit is [%d]; set --max-item, or more --memory", len(source), most).
			WithStatus(http.StatusRequestEntityTooLarge)
	}
	return nil
}

// check holds a source against the mapping of its index, which grows when it may.
// It returns the index whose mapping knows every field: the same index, and never
// another that has got its name meanwhile, where documents may have other places.
func (s *Store) check(ctx context.Context, idx *index, source []byte, id string) (*index, error) {
	for {
		additions, err := idx.mapping.Document(source, id, idx.rules.limits, nil)
		if err != nil || additions == nil {
			return idx, err
		}
		name := idx.record.Name
		number := idx.entry.Number
		if err := s.mergeMapping(ctx, name, number, additions); err != nil {
			return nil, err
		}
		if idx = s.view.Load().indices[name]; idx == nil || idx.entry.Number != number {
			return nil, exception.NoSuchIndex(name)
		}
	}
}

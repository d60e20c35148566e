package opensearch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Store is a coord.Store. Make it with Open.
type Store struct {
	client  *cluster.Client
	index   string
	uuid    string // of the index
	options Options
	clock   coord.Asked
	life    *coord.Life

	newest    atomic.Int64 // the highest revision that this store was answered for a change
	deletions atomic.Int64
}

// Close ends the store and its watches; the client stays.
func (s *Store) Close() error {
	s.life.End()
	return nil
}

// hit is a document as mget and search tell it.
type hit struct {
	ID     string          `json:"_id"`
	Seq    int64           `json:"_seq_no"`
	Term   int64           `json:"_primary_term"`
	Found  bool            `json:"found"`
	Source json.RawMessage `json:"_source"`
	Error  json.RawMessage `json:"error"`
}

// record is what a hit holds.
func (h hit) record() (r coord.Record, deleted bool, err error) {
	m, value, err := decode(h.ID, h.Source)
	if err != nil {
		return coord.Record{}, false, err
	}
	r = coord.Record{Key: h.ID, Value: value}
	r.Revision, err = position{h.Term, h.Seq}.revision(m.Deleted)
	return r, m.Deleted, err
}

// Get is coord.Store's. It reads what was acknowledged whether or not a search
// would find it.
func (s *Store) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := coord.CheckKey(key); err != nil {
		return coord.Record{}, err
	}
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return coord.Record{}, err
	}
	defer done()
	record, deleted, err := s.fetch(ctx, key)
	if err == nil && (deleted || record.Revision == 0) {
		return coord.Record{}, coord.Missing(key)
	}
	return record, err
}

// fetch reads the document of a key. Without one the record's revision is 0.
func (s *Store) fetch(ctx context.Context, key string) (r coord.Record, deleted bool, err error) {
	h, err := s.document(ctx, key)
	if err != nil || !h.Found {
		return coord.Record{}, false, err
	}
	return h.record()
}

// document asks for one document by a request that does not tell a missing one by
// an error.
func (s *Store) document(ctx context.Context, id string) (hit, error) {
	var told struct {
		Docs []hit `json:"docs"`
	}
	if err := s.look(ctx, http.MethodPost, []string{"_mget"}, nil, marshal(object{"ids": []string{id}}), &told); err != nil {
		return hit{}, err
	}
	if len(told.Docs) != 1 {
		return hit{}, fault.At(fault.New(fault.Unavailable, "it answers %d documents instead of one", len(told.Docs)), s.client.String())
	}
	if told.Docs[0].Error != nil {
		var e struct {
			Type   exception.Type `json:"type"`
			Reason string         `json:"reason"`
		}
		_ = json.Unmarshal(told.Docs[0].Error, &e)
		return hit{}, s.explain(fault.At(fault.Wrap(fault.Unavailable, exception.New(e.Type, "%s", e.Reason)), s.client.String()))
	}
	return told.Docs[0], nil
}

// Create is coord.Store's. A record that was deleted has left a document, which the
// new one replaces.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	w := coord.Write{Op: coord.OpCreate, Key: key, Value: value}
	if err := w.Check(); err != nil {
		return 0, err
	}
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	for {
		revision, err := s.put(ctx, key, value, url.Values{"op_type": {"create"}})
		if !fault.Is(err, fault.Conflict) {
			return revision, err
		}
		record, deleted, err := s.fetch(ctx, key)
		if err != nil {
			return 0, err
		}
		if record.Revision == 0 { // it was pruned since
			continue
		}
		if !deleted {
			return 0, w.Admit(record.Revision)
		}
		p, _ := positionOf(record.Revision)
		revision, err = s.put(ctx, key, value, p.condition())
		if !fault.Is(err, fault.Conflict) {
			return revision, err
		}
	}
}

// Swap is coord.Store's.
func (s *Store) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return s.change(ctx, coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value})
}

// Delete is coord.Store's. It leaves a small document, so that watches see it.
func (s *Store) Delete(ctx context.Context, key string, revision int64) error {
	_, err := s.change(ctx, coord.Write{Op: coord.OpDelete, Key: key, Revision: revision})
	return err
}

// change is a swap or a deletion.
func (s *Store) change(ctx context.Context, w coord.Write) (int64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	p, deleted := positionOf(w.Revision)
	if deleted || p.term == 0 || p.seq < 0 {
		return 0, lost(w)
	}
	var revision int64
	if w.Op == coord.OpSwap {
		revision, err = s.put(ctx, w.Key, w.Value, p.condition())
	} else {
		revision, err = s.store(ctx, w.Key, p.condition(), tombstone(w.Key, s.clock.About().UnixMilli()), true)
	}
	if fault.Is(err, fault.Conflict) {
		return 0, lost(w)
	}
	if err == nil && w.Op == coord.OpDelete {
		s.deleted(ctx)
	}
	return revision, err
}

// condition is the one that a change of the document at p quotes.
func (p position) condition() url.Values {
	return url.Values{"if_seq_no": {strconv.FormatInt(p.seq, 10)}, "if_primary_term": {strconv.FormatInt(p.term, 10)}}
}

func lost(w coord.Write) error {
	err := fault.New(fault.Conflict, "it is no more at revision %d, which was to be changed", w.Revision)
	return fault.WithNext(fault.At(err, "record "+w.Key), "somebody else changed it: read it again and decide anew")
}

// put writes a value: readable when it can be, and otherwise, also when the server says
// that it cannot, as base64.
func (s *Store) put(ctx context.Context, key string, value []byte, condition url.Values) (int64, error) {
	at := s.clock.About().UnixMilli()
	if isReadable(value) {
		revision, err := s.store(ctx, key, condition, readable(key, at, value), false)
		if !fault.Is(err, fault.Refused) {
			return revision, err
		}
	}
	return s.store(ctx, key, condition, opaque(key, at, value), false)
}

// store writes a document on a condition and returns its revision.
func (s *Store) store(ctx context.Context, key string, condition url.Values, document []byte, deleted bool) (int64, error) {
	known := s.newest.Load()
	var told hit
	if err := s.ask(ctx, http.MethodPut, []string{"_doc", key}, condition, document, &told); err != nil {
		return 0, fault.At(err, "record "+key)
	}
	revision, err := position{told.Term, told.Seq}.revision(deleted)
	if err == nil && revision <= known {
		err = s.replaced()
	}
	if err != nil {
		return 0, err
	}
	for {
		known = s.newest.Load()
		if revision <= known || s.newest.CompareAndSwap(known, revision) {
			return revision, nil
		}
	}
}

// replaced is the error of an index that is not the one which was opened.
func (s *Store) replaced() error {
	err := fault.At(fault.New(fault.Corrupt, "the index of the coordination store was deleted and made anew, or restored"), s.client.String(), s.index)
	return fault.WithNext(err, "stop all workers; what they knew is gone, begin again")
}

package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

const (
	// horizonID is the document that says which deletions are forgotten; no key can
	// be its id.
	horizonID = "\u0001horizon"
	// pruneEvery is after how many deletions of its own a store looks for old ones.
	pruneEvery = 64
	// pruneAtOnce bounds what one look removes.
	pruneAtOnce = 1000
)

// horizon is the document: deletions up to Seq may have been forgotten.
type horizon struct {
	Seq int64 `json:"horizon"`
}

// remembers is fault.Stale when a deletion behind from may have been forgotten.
// Whoever removes tombstones raises the horizon first, so that a search before this
// question has missed none.
func (s *Store) remembers(ctx context.Context, from int64) error {
	_, h, err := s.horizon(ctx)
	if err == nil && from < h.Seq {
		err = stale("deletions before the last %s are forgotten", s.options.Remember)
	}
	return err
}

func (s *Store) horizon(ctx context.Context) (hit, horizon, error) {
	h := horizon{Seq: -1}
	document, err := s.document(ctx, horizonID)
	if err == nil && document.Found && json.Unmarshal(document.Source, &h) != nil {
		err = foreign(horizonID)
	}
	return document, h, err
}

// deleted counts a deletion, and prunes now and then. What went wrong with that goes right with
// another deletion: the one that was asked for has happened.
func (s *Store) deleted(ctx context.Context) {
	if s.deletions.Add(1)%pruneEvery == 0 {
		_ = s.prune(ctx)
	}
}

// prune removes tombstones that are older than Options.Remember.
func (s *Store) prune(ctx context.Context) error {
	oldest := s.clock.About().Add(-s.options.Remember).UnixMilli()
	found, err := s.search(ctx, object{"size": pruneAtOnce, "seq_no_primary_term": true, "sort": []any{object{"_seq_no": "asc"}},
		"query": object{"bool": object{"filter": []any{
			object{"term": object{"reshelve.deleted": true}}, object{"range": object{"reshelve.at": object{"lt": oldest}}}}}}})
	if err != nil || len(found) == 0 {
		return err
	}
	if err := s.raiseHorizon(ctx, found[len(found)-1].Seq); err != nil {
		return err
	}
	var body bytes.Buffer
	for _, h := range found {
		body.Write(marshal(object{"delete": object{"_id": h.ID, "if_seq_no": h.Seq, "if_primary_term": h.Term}}))
		body.WriteByte('\n')
	}
	return s.ask(ctx, http.MethodPost, []string{"_bulk"}, nil, body.Bytes(), nil) // one that is a record again is a conflict, and stays
}

// raiseHorizon makes the horizon at least seq.
func (s *Store) raiseHorizon(ctx context.Context, seq int64) error {
	for {
		document, now, err := s.horizon(ctx)
		if err != nil || now.Seq >= seq {
			return err
		}
		condition := map[string][]string{"op_type": {"create"}}
		if document.Found {
			condition = position{document.Term, document.Seq}.condition()
		}
		text, _ := json.Marshal(horizon{seq})
		err = s.ask(ctx, http.MethodPut, []string{"_doc", horizonID}, condition, text, nil)
		if err == nil || !fault.Is(err, fault.Conflict) && !exception.Is(err, exception.VersionConflict) {
			return err
		}
	}
}

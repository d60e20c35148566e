package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// deletion is what is known of the deletion of the index.
type deletion uint8

const (
	standing deletion = iota // nobody has asked for it
	going                    // an operator has
	gone                     // somebody was told that the index is no more
)

// deleteIndex deletes the index, of which clients must not make another one by writing to it.
func (s *server) deleteIndex() {
	w := s.of
	w.deletion = max(w.deletion, going)
	s.request("operator deletes", time.Minute, func(ctx context.Context) any {
		_, err := s.store.PutClusterSettings(ctx, []byte(`{"persistent":{"action.auto_create_index":"false"}}`))
		if err == nil {
			err = s.store.DeleteIndices(ctx, named())
		}
		return err
	}, func(answer any, heard bool) {
		err, failed := answer.(error)
		switch {
		case !heard:
		case !failed, missing(err):
			w.deletion = gone
		case fault.Is(err, fault.Bug):
			w.violate("L12", "deleting the index: %v", err)
		}
	})
}

// missing tells whether an error says that there is no such index.
func missing(err error) bool { return exception.Is(err, exception.IndexNotFound) }

// answered is L1 and L2 for the index as a whole: it is there until somebody deletes it, and
// never again once somebody was told that it is gone. Was is what was known when the request began.
func (w *shelves) answered(name string, was deletion, answer any) {
	var errs []error
	switch a := answer.(type) {
	case error:
		errs = []error{a}
	case []document.Written:
		for _, one := range a {
			errs = append(errs, one.Err)
		}
	default:
		errs = []error{nil}
	}
	for _, err := range errs {
		switch {
		case err == nil && was == gone:
			w.violate("L2", "%s is answered by an index that was deleted", name)
		case err == nil || !missing(err):
		case w.deletion == standing:
			w.violate("L1", "%s finds no index, and nobody has deleted it: %v", name, err)
		default:
			w.deletion = gone
		}
	}
}

// buries brings the deletion to its end: it is asked for again while nobody knows how it ended.
// What was left over when something befell the process, its next start removes. True while there is
// more to do.
func (w *shelves) buries() bool {
	switch {
	case w.deletion == going:
		w.server.deleteIndex()
		return true
	case w.deletion == standing || w.audited || len(w.leftOver()) == 0:
		return false
	}
	if w.removing++; w.removing == patience && !w.script.calm() {
		w.server.process.stop(time.Second)
	} else if w.removing > 2*patience || w.removing > patience && w.script.calm() {
		for _, what := range w.leftOver() {
			w.violate("L5", "the index was deleted, and there is still %s", what)
		}
		w.end()
	}
	return true
}

// isNamed tells whether the catalog names the index. What it does not name, nobody finds.
func (w *shelves) isNamed() bool {
	names, err := catalog.Decode(w.records.all["catalog"].Value)
	_, is := names.Indices[indexName]
	return err == nil && is
}

// leftOver names what there is of an index that was deleted.
func (w *shelves) leftOver() (left []string) {
	for _, prefix := range []string{"index/", "placement/"} {
		for _, r := range w.records.list(prefix) {
			left = append(left, "record "+r.Key)
		}
	}
	indices, _ := w.engine.Indices(context.Background())
	for _, number := range indices {
		rows, staged := w.engine.Kept(number)
		left = append(left, fmt.Sprintf("rows of the shards %v and what is staged of %v on the disk", rows, staged))
	}
	return left
}

// endsAlone tells whether a movement is to come to its end without an operator, since its index
// was deleted.
func (w *shelves) endsAlone(m *movement.Record) bool {
	return w.deletion == gone && m.State != movement.Planned
}

// auditGone asks for everything that ever was, and must find nothing.
func (s *server) auditGone() {
	w := s.of
	s.request("audit", time.Minute, func(ctx context.Context) any {
		_, placed := s.store.PlacementOf(ctx, indexName)
		found := []any{placed, s.searched(ctx)}
		for _, k := range w.keys {
			one, err := s.store.Get(ctx, document.Read{Target: indexName, ID: k.id, Routing: k.routing, Version: document.Unset})
			if err == nil {
				found = append(found, one)
			} else {
				found = append(found, err)
			}
		}
		return found
	}, func(answer any, heard bool) {
		if !heard {
			w.audited = false // another time
			return
		}
		for _, one := range answer.([]any) {
			if err, failed := one.(error); !failed || !missing(err) {
				w.violate("L2", "the index was deleted, and at last somebody is answered %v", one)
			}
		}
		w.close()
	})
}

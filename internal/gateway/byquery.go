package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const (
	byQueryParams = expressionParams + queryParams + sourceParams + `routing preference from size sort refresh conflicts max_docs scroll_size slices
		scroll wait_for_completion wait_for_active_shards requests_per_second timeout search_timeout search_type request_cache version
		track_total_hits terminate_after stats pipeline `
	deleteAction  = "indices:data/write/delete/byquery"
	updateAction  = "indices:data/write/update/byquery"
	reindexAction = "indices:data/write/reindex"
)

// byQueryRoutes are the endpoints that change what a query finds.
var byQueryRoutes = []route{
	{"POST", "/{index}/_delete_by_query", byQueryParams, (*call).deleteByQuery},
	{"POST", "/{index}/_update_by_query", byQueryParams, (*call).updateByQuery},
	{"POST", "/_reindex", "refresh max_docs slices scroll wait_for_completion wait_for_active_shards requests_per_second timeout", (*call).reindex},
}

func (c *call) deleteByQuery() error {
	return c.byQuery(deleteAction, "delete-by-query", query.ReadDeleteByQuery, (*query.ByQuery).CheckDelete)
}

func (c *call) updateByQuery() error {
	return c.byQuery(updateAction, "update-by-query", query.ReadUpdateByQuery, (*query.ByQuery).Check)
}

// byQuery deletes what a query finds, or writes it again as it is.
func (c *call) byQuery(action, what string, read func([]byte) (query.ByQuery, error), check func(*query.ByQuery) error) error {
	body, err := c.ownContent()
	if err != nil {
		return err
	}
	asked, err := read(body)
	if err == nil {
		err = asked.ReadURL(c.has)
	}
	if err == nil {
		err = check(&asked)
	}
	if err != nil {
		return err
	}
	q, err := c.change(&asked)
	if err != nil {
		return err
	}
	q.Where.Routing = c.text("routing", "")
	if q.Where.Expression, err = c.expression("index", searched); err != nil {
		return err
	}
	q.Delete = action == deleteAction
	return c.finish(action, fmt.Sprintf("%s [%s]", what, c.name("index")), q)
}

// reindex copies what a query finds into another index.
func (c *call) reindex() error {
	body, err := c.ownContent()
	if err != nil {
		return err
	}
	asked, err := query.ReadReindex(body)
	if err == nil {
		err = asked.ReadURL(c.has)
	}
	if err == nil {
		err = asked.Check()
	}
	if err != nil {
		return err
	}
	q, err := c.change(&asked.ByQuery)
	if err != nil {
		return err
	}
	q.Where.Expression.Names, q.Where.Expression.Options = asked.Indices, searched
	q.Where.Expression.Options.NoIndicesIsError = false
	if err := c.notIntoItself(&asked, q.Where); err != nil {
		return err
	}
	q.Into = into(&asked)
	return c.finish(reindexAction, fmt.Sprintf("reindex from [%s] to [%s]", strings.Join(asked.Indices, ", "), asked.Dest), q)
}

// notIntoItself refuses a destination that is one of the sources.
func (c *call) notIntoItself(asked *query.Reindex, where store.Where) error {
	sources, err := c.s.store.Resolve(c.ctx(), where.Expression)
	if err != nil {
		return err
	}
	target, _, exists, err := c.s.store.Catalog().WriteTarget(asked.Dest)
	if err != nil {
		return err
	}
	if exists && slices.Contains(sources, target) {
		return query.IntoItself(target)
	}
	return nil
}

// into is where and how documents are copied.
func into(asked *query.Reindex) *store.Into {
	i := &store.Into{Target: asked.Dest, Create: asked.Create}
	switch asked.VersionType {
	case "external", "external_gt":
		i.Versioned, i.VersionType = true, document.External
	case "external_gte":
		i.Versioned, i.VersionType = true, document.ExternalGTE
	}
	switch {
	case asked.Routing == "discard":
		i.Routing = new(string)
	case strings.HasPrefix(asked.Routing, "="):
		value := asked.Routing[1:]
		i.Routing = &value
	}
	if filter := asked.Search.Source; !filter.All() {
		i.Source = func(source []byte) []byte { return filter.Append(nil, source) }
	}
	return i
}

// ownContent is the body, for work that outlives the request.
func (c *call) ownContent() ([]byte, error) {
	body, err := c.contentOrSource()
	return slices.Clone(body), err
}

// change is what is common to all changes by query.
func (c *call) change(asked *query.ByQuery) (q store.ByQuery, err error) {
	for _, p := range []struct{ name, only string }{{"requests_per_second", "-1"}, {"search_timeout", ""}, {"pipeline", ""}, {"terminate_after", ""}, {"stats", ""}} {
		if text, set := c.has(p.name); set && text != p.only {
			return q, notYet("[" + p.name + "]")
		}
	}
	x := searching{Search: asked.Search}
	x.Aggs, x.Timeout = nil, 0 // they would be told nowhere; timeout is of the writes
	q = store.ByQuery{Batch: asked.Search.Size, Proceed: asked.Proceed}
	if q.Request, err = x.request(0, catalog.SearchRules{}); err != nil {
		return q, err
	}
	if asked.MaxDocs > 0 {
		q.Most = int64(asked.MaxDocs)
	}
	if q.Active, err = c.active(); err != nil {
		return q, err
	}
	q.Refresh, err = c.boolean("refresh", false)
	return q, err
}

// finish does the change, or begins it as a task, and answers.
func (c *call) finish(action, description string, q store.ByQuery) error {
	wait, err := c.boolean("wait_for_completion", true)
	if err != nil {
		return err
	}
	if !wait {
		if q.Where.Point == "" {
			if _, err := c.s.store.Resolve(c.ctx(), q.Where.Expression); err != nil {
				return err
			}
		}
		t := c.s.store.Begin(action, description, c.r.Header.Get(opaqueHeader), q)
		return c.answer(http.StatusOK, object{{"task", fmt.Sprintf("%s:%d", c.s.nodeID(), t.ID)}})
	}
	began := time.Now()
	progress, err := c.s.store.Change(c.ctx(), q, func(store.Progress) {})
	var phase *store.PhaseError
	if errors.As(err, &phase) {
		return c.failedPhase(phase)
	}
	if err != nil {
		return err
	}
	status := http.StatusOK
	for _, f := range progress.Failures {
		status = max(status, exception.From(f.Err).Status())
	}
	told := object{{"took", time.Since(began).Milliseconds()}, {"timed_out", false}}
	return c.answer(status, append(told, progressObject(action, progress, true)...))
}

// progressObject tells what a change by query has done; whole: with its failures.
func progressObject(action string, p store.Progress, whole bool) object {
	told := object{{"total", p.Total}}
	if action != deleteAction {
		told.add("updated", p.Updated)
	}
	if action == reindexAction {
		told.add("created", p.Created)
	}
	told = append(told, object{{"deleted", p.Deleted}, {"batches", p.Batches}, {"version_conflicts", p.Conflicts}, {"noops", 0},
		{"retries", object{{"bulk", 0}, {"search", 0}}}, {"throttled_millis", 0}, {"requests_per_second", -1.0}, {"throttled_until_millis", 0}}...)
	if !whole {
		return told
	}
	failures := array{}
	for _, f := range p.Failures {
		e := exception.From(f.Err)
		failures = append(failures, object{{"index", f.Index}, {"id", f.ID}, {"cause", json.RawMessage(appendException(nil, e, true))}, {"status", e.Status()}})
	}
	return append(told, object{{"failures", failures}}...)
}

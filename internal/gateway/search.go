package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const (
	searchParams = expressionParams + sourceParams + queryParams + `routing preference from size sort track_total_hits track_scores version seq_no_primary_term
		search_type request_cache batched_reduce_size max_concurrent_shard_requests pre_filter_shard_size ccs_minimize_roundtrips
		allow_partial_search_results typed_keys rest_total_hits_as_int timeout cancel_after_time_interval phase_took source source_content_type
		docvalue_fields stored_fields explain scroll terminate_after include_named_queries_score `
	// queryParams are a query in a URL.
	queryParams = "q df analyzer analyze_wildcard default_operator lenient "
	// refusedParams are known to the server, and not to us.
	refusedParams = "stats suggest_field suggest_mode suggest_size suggest_text search_pipeline "
	countParams   = expressionParams + queryParams + "min_score routing preference source source_content_type "
)

// searchRoutes are the endpoints of searches.
var searchRoutes = []route{
	{"GET POST", "/_search", searchParams + refusedParams, (*call).search},
	{"GET POST", "/{index}/_search", searchParams + refusedParams, (*call).search},
	{"GET POST", "/_msearch", expressionParams + "search_type max_concurrent_searches max_concurrent_shard_requests pre_filter_shard_size typed_keys rest_total_hits_as_int ccs_minimize_roundtrips", (*call).multiSearch},
	{"GET POST", "/{index}/_msearch", expressionParams + "search_type max_concurrent_searches max_concurrent_shard_requests pre_filter_shard_size typed_keys rest_total_hits_as_int ccs_minimize_roundtrips", (*call).multiSearch},
	{"GET POST", "/_count", countParams + "terminate_after", (*call).count},
	{"GET POST", "/{index}/_count", countParams + "terminate_after", (*call).count},
}

// refuseParams refuses what this version does not support, by its name.
func (c *call) refuseParams() error {
	for _, p := range c.params {
		for _, name := range strings.Fields(refusedParams) {
			if p.name == name {
				return exception.New(exception.Parsing, "parameter [%s] is not supported by this version of reshelve", name)
			}
		}
	}
	return nil
}

// searching is one search on its way to its answer.
type searching struct {
	query.Search
	asInt, typed bool
	aggs         *aggregate.Collector // nil: none
	found        *store.Found
	tellings     map[*query.Fetch]*telling // of this answer
}

// search answers with the documents that a search finds.
func (c *call) search() error {
	if err := c.refuseParams(); err != nil {
		return err
	}
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	if c.isSet("scroll") { // the search lives longer than the request
		body = bytes.Clone(body)
	}
	x := searching{}
	if x.Search, err = query.ReadSearch(body); err == nil {
		err = c.searchParams(&x)
	}
	if err != nil {
		return err
	}
	where, err := c.where(&x)
	if err != nil {
		return err
	}
	return c.answerSearch(&x, where)
}

// answerSearch runs a search and sends its answer.
func (c *call) answerSearch(x *searching, where store.Where) error {
	err := c.run(x, where)
	if err == nil {
		defer x.found.Close()
		c.out, err = c.appendAnswer(append(c.out, '{'), x)
	}
	if err != nil && x.found != nil && x.found.Scroll != "" { // nobody is told its id
		if _, failed := c.s.store.ClosePoints([]string{x.found.Scroll}, true); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	var phase *store.PhaseError
	if errors.As(err, &phase) {
		return c.failedPhase(phase)
	}
	if err != nil {
		return err
	}
	c.out = append(c.out, '}')
	c.filter = x.Source
	return c.send(http.StatusOK)
}

// where is what the request searches in.
func (c *call) where(x *searching) (where store.Where, err error) {
	if x.PIT != nil && c.name("index") != "" {
		return where, exception.New(exception.ActionRequestValidation, "Validation Failed: 1: [indices] cannot be used with point in time;")
	}
	if x.PIT != nil {
		if err := x.PIT.Check(); err != nil {
			return where, err
		}
		if most := c.s.store.SearchRules().KeepPoint; x.PIT.KeepAlive > most {
			return where, tooLong(catalog.SpanText(x.PIT.KeepAlive), "point_in_time.max_keep_alive", most)
		}
		return store.Where{Point: x.PIT.ID, Keep: x.PIT.KeepAlive}, nil
	}
	where.Routing = c.text("routing", "")
	where.Expression, err = c.expression("index", searched)
	return where, err
}

// run searches. What the server finds out only when it asks the shards is a PhaseError,
// when there are shards to be asked.
func (c *call) run(x *searching, where store.Where) (err error) {
	partial, err := c.boolean("allow_partial_search_results", true)
	if err != nil {
		return err
	}
	where.Whole = !partial
	c.breakTies(x)
	refused := x.Check()
	if refused == nil && x.Slice != nil && x.PIT == nil && !c.isSet("scroll") {
		refused = exception.New(exception.Search, "`slice` cannot be used outside of a scroll context or PIT context")
	}
	if refused != nil {
		return c.phase(where.Expression, refused)
	}
	if c.isSet("scroll") {
		if err := x.CheckScroll(); err != nil {
			return err
		}
	}
	r, err := x.request(c.s.options.InFlightBytes, c.s.store.SearchRules())
	if err != nil {
		return err
	}
	if c.isSet("scroll") {
		return c.scroll(x, where, r)
	}
	x.found, err = c.s.store.Find(c.ctx(), where, r)
	return err
}

// phase is a mistake as a failure of the shards of an expression; as itself when it has
// none.
func (c *call) phase(e catalog.Expression, cause *exception.Error) error {
	names, err := c.s.store.Resolve(c.ctx(), e)
	if err == nil && len(names) > 0 {
		failed := &store.PhaseError{}
		for _, name := range names {
			failed.Failed = append(failed.Failed, store.Failure{Index: name, Shards: 1, Cause: cause})
		}
		return failed
	}
	return errors.Join(err, cause)
}

// request is the search as package search runs it. Buckets of aggregations may take the
// bytes of memory.
func (x *searching) request(memory int64, rules catalog.SearchRules) (search.Request, error) {
	r := search.NewRequest()
	if x.Query != nil {
		r.Query = x.Query
	}
	r.PostFilter, r.MinScore, r.Sort, r.Size = x.PostFilter, x.MinScore, x.Sort, x.From+x.Size
	r.Check = x.refused
	r.TrackTotal, r.TrackScore, r.Slice, r.Timeout = x.Counted(), x.TrackScores, x.Slice, x.Timeout
	if r.Timeout <= 0 {
		r.Timeout = rules.Timeout
	}
	for _, value := range x.After {
		after, err := sortValue(value)
		if err != nil {
			return r, err
		}
		r.After = append(r.After, after)
	}
	if len(x.Aggs) > 0 {
		var err error
		if x.aggs, err = aggregate.New(x.Aggs, aggregate.Options{MaxBuckets: cmp.Or(rules.Buckets, -1), // none
			Memory: memory, Now: time.Now().UnixMilli()}); err != nil {
			return r, err
		}
		r.Collectors = append(r.Collectors, x.aggs)
	}
	return r, nil
}

// sortValue is a value of search_after, by its kind in JSON.
func sortValue(value json.RawMessage) (search.SortValue, error) {
	switch value[0] {
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		return search.SortValue{Kind: search.Textual, Text: []byte(text)}, err
	case 'n':
		return search.SortValue{Null: true}, nil
	case 't', 'f':
		return search.SortValue{Kind: search.Textual, Text: value}, nil
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return search.SortValue{N: n}, nil
	}
	if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
		return search.SortValue{Kind: search.Unsigned, N: int64(n)}, nil
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		err = exception.New(exception.IllegalArgument, "search_after takes numbers, and not %s", value)
	}
	return search.SortValue{Kind: search.Fractional, F: f}, err
}

// searchParams lays what the URL says over what the body says.
func (c *call) searchParams(x *searching) (err error) {
	if err := x.ReadURL(c.has); err != nil {
		return err
	}
	if x.TerminateAfter > 0 {
		return notYet("[terminate_after]")
	}
	if x.typed, err = c.boolean("typed_keys", false); err != nil {
		return err
	}
	if x.asInt, err = c.boolean("rest_total_hits_as_int", false); err != nil || !x.asInt {
		return err
	}
	return x.TrackExactly()
}

// failedPhase answers with a search that failed.
func (c *call) failedPhase(failed *store.PhaseError) error {
	c.out = append(c.appendFailedShards(append(c.out[:0], '{'), failed), '}')
	c.look.filter = nil
	return c.send(phaseStatus(failed))
}

// phaseStatus is that of the first failure, or of the last for which the server is to blame.
func phaseStatus(failed *store.PhaseError) int {
	status := exception.From(failed.Failed[0].Cause).Status()
	for _, f := range failed.Failed[1:] {
		if s := exception.From(f.Cause).Status(); s >= http.StatusInternalServerError {
			status = s
		}
	}
	return status
}

// appendFailedShards appends the members of a search that failed.
func (c *call) appendFailedShards(out []byte, failed *store.PhaseError) []byte {
	out = append(out, `"error":{"root_cause":[`...)
	for i, f := range failed.Failed {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendException(out, exception.From(f.Cause).Root(), false)
	}
	reason := "all shards failed"
	if failed.Partial {
		reason = "Partial shards failure"
	}
	out = appendString(append(out, `],"type":"search_phase_execution_exception","reason":`...), reason)
	out = append(out, `,"phase":"query","grouped":true,"failed_shards":`...)
	out = c.appendFailures(out, failed.Failed)
	cause := exception.From(failed.Failed[0].Cause)
	switch root := cause.Root(); {
	case root.Type.Row().Plain:
		out = appendExceptionBody(append(out, `,"caused_by":{`...), root, false)
		out = append(appendException(append(out, `,"caused_by":`...), root, true), '}')
	case root != cause:
		out = appendException(append(out, `,"caused_by":`...), root, true)
	}
	return strconv.AppendInt(append(out, `},"status":`...), int64(phaseStatus(failed)), 10)
}

// appendFailures appends the list of the indices that a search failed in: the server tells
// one shard of those that failed for the same reason.
func (c *call) appendFailures(out []byte, failed []store.Failure) []byte {
	for i, f := range failed {
		out = append(out, "[,"[min(i, 1)])
		out = appendString(append(out, `{"shard":0,"index":`...), f.Index)
		out = appendString(append(out, `,"node":`...), c.s.options.Name)
		out = append(appendException(append(out, `,"reason":`...), exception.From(f.Cause), true), '}')
	}
	return append(out, ']')
}

// count answers with the number of documents that a query finds.
func (c *call) count() error {
	if err := c.refuseParams(); err != nil {
		return err
	}
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	q, err := query.ReadCount(body)
	if err == nil {
		var ofURL search.Query
		if ofURL, err = query.ReadURL(c.has); ofURL != nil {
			q = ofURL
		}
	}
	if err != nil {
		return err
	}
	if c.isSet("min_score") {
		return notYet("[min_score]")
	}
	if err := c.countsAll(); err != nil {
		return err
	}
	where := store.Where{Routing: c.text("routing", "")}
	if where.Expression, err = c.expression("index", searched); err != nil {
		return err
	}
	total, found, err := c.s.store.Count(c.ctx(), where, q)
	var phase *store.PhaseError
	if errors.As(err, &phase) {
		return c.failedPhase(phase)
	}
	if err != nil {
		return err
	}
	c.out = strconv.AppendInt(append(c.out, `{"count":`...), total, 10)
	c.out = append(c.appendSearched(append(c.out, ','), found), '}')
	return c.send(http.StatusOK)
}

// countsAll refuses a number of documents after which counting ends; 0 is none.
func (c *call) countsAll() error {
	switch after, err := c.integer("terminate_after", 32, 0); {
	case err != nil:
		return err
	case after < 0:
		return exception.New(exception.IllegalArgument, "terminateAfter must be > 0")
	case after > 0:
		return notYet("[terminate_after]")
	}
	return nil
}

package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/query"
)

const (
	searchParams = expressionParams + sourceParams + `routing preference from size sort track_total_hits version seq_no_primary_term
		search_type request_cache batched_reduce_size max_concurrent_shard_requests pre_filter_shard_size ccs_minimize_roundtrips
		allow_partial_search_results typed_keys rest_total_hits_as_int timeout cancel_after_time_interval phase_took source source_content_type `
	// refusedParams are known to the server, and not yet to us.
	refusedParams = "q df analyzer analyze_wildcard default_operator lenient scroll explain stored_fields docvalue_fields " +
		"terminate_after min_score stats suggest_field suggest_mode suggest_size suggest_text track_scores search_pipeline "
	countParams = expressionParams + "routing preference source source_content_type "
)

// searchRoutes are the endpoints of searches.
var searchRoutes = []route{
	{"GET POST", "/_search", searchParams + refusedParams, (*call).search},
	{"GET POST", "/{index}/_search", searchParams + refusedParams, (*call).search},
	{"GET POST", "/_count", countParams + refusedParams, (*call).count},
	{"GET POST", "/{index}/_count", countParams + refusedParams, (*call).count},
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

// search answers with the documents that a search finds.
func (c *call) search() error {
	if err := c.refuseParams(); err != nil {
		return err
	}
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	q, err := query.Parse(body)
	if err == nil {
		err = c.searchParams(&q)
	}
	if err != nil {
		return err
	}
	asInt, err := c.boolean("rest_total_hits_as_int", false)
	if err != nil {
		return err
	}
	if asInt {
		if c.isSet("track_total_hits") && q.TrackTotal > 0 {
			return exception.New(exception.IllegalArgument, "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got %d", q.TrackTotal)
		}
		if q.TrackTotal > 0 {
			q.TrackTotal = -1
		}
	}
	e, err := c.expression("index", searched)
	if err != nil {
		return err
	}
	if refused := q.Check(c.s.options.ResultWindow); refused != nil {
		return c.failPhase(e, refused)
	}
	q.Hold = c.holdAnswer
	answer, err := c.s.store.Search(c.ctx(), e, c.text("routing", ""), q)
	if err != nil {
		return err
	}
	c.filter = q.Source
	c.appendAnswer(&q, &answer, asInt)
	return c.send(http.StatusOK)
}

// searchParams lays what the URL says over what the body says.
func (c *call) searchParams(q *query.Search) (err error) {
	if len(c.params) == 0 {
		return nil
	}
	for _, p := range []struct {
		name string
		into *int
	}{{"from", &q.From}, {"size", &q.Size}} {
		n, err := c.integer(p.name, 32, int64(*p.into))
		if err != nil {
			return err
		}
		if *p.into = int(n); n < 0 {
			return exception.New(exception.IllegalArgument, "[%s] parameter cannot be negative, found [%d]", p.name, n)
		}
	}
	if q.Versions, err = c.boolean("version", q.Versions); err != nil {
		return err
	}
	if q.SeqNoTerm, err = c.boolean("seq_no_primary_term", q.SeqNoTerm); err != nil {
		return err
	}
	if sort, ok := c.has("sort"); ok {
		if q.Sort, err = query.ParseSort(sort); err != nil {
			return err
		}
	}
	if f, ok := c.sourceParams(); ok {
		q.Source = f
	}
	switch kind := c.text("search_type", "query_then_fetch"); kind {
	case "query_then_fetch", "dfs_query_then_fetch":
	default:
		return exception.New(exception.IllegalArgument, "No search type for [%s]", kind)
	}
	if _, err = c.duration("timeout", 0); err != nil {
		return err
	}
	switch c.text("track_total_hits", "-") {
	case "-":
		return nil
	case "true", "":
		q.TrackTotal = -1
		return nil
	case "false":
		q.TrackTotal = 0
		return nil
	}
	n, err := c.integer("track_total_hits", 32, 0)
	if err == nil {
		q.TrackTotal, err = query.TrackTotal(n)
	}
	return err
}

// failPhase answers with what the server finds out only when it asks the shards:
// when there are none it finds nothing out.
func (c *call) failPhase(e catalog.Expression, cause *exception.Error) error {
	names, err := c.s.store.Resolve(c.ctx(), e)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		c.appendAnswer(&query.Search{TrackTotal: -1}, &query.Answer{}, false)
		return c.send(http.StatusOK)
	}
	out := appendException(append(c.out, `{"error":{"root_cause":[`...), cause, false)
	out = append(out, `],"type":"search_phase_execution_exception","reason":"all shards failed","phase":"query","grouped":true,"failed_shards":[{"shard":0,"index":`...)
	out = appendString(out, names[0])
	out = appendString(append(out, `,"node":`...), c.s.options.Name)
	out = append(appendException(append(out, `,"reason":`...), cause, true), "}]"...)
	if cause.Type.Row().Plain {
		out = appendExceptionBody(append(out, `,"caused_by":{`...), cause, false)
		out = append(appendException(append(out, `,"caused_by":`...), cause, true), '}')
	}
	out = strconv.AppendInt(append(out, `},"status":`...), int64(cause.Status()), 10)
	c.out = append(out, '}')
	c.look.filter = nil
	return c.send(cause.Status())
}

// appendAnswer appends what a search found.
func (c *call) appendAnswer(q *query.Search, a *query.Answer, asInt bool) {
	out := strconv.AppendInt(append(c.out, `{"took":`...), c.took(), 10)
	out = appendShards(append(out, `,"timed_out":false,`...), a.Shards)
	out = append(out, `,"hits":{`...)
	if q.TrackTotal != 0 {
		out = appendTotal(append(out, `"total":`...), a, asInt)
		out = append(out, ',')
	}
	score := "1.0"
	if len(q.Sort) > 0 {
		score = "null"
	}
	switch {
	case a.Shards == 0:
		out = append(out, `"max_score":0.0,"hits":[`...)
	case len(a.Hits) == 0:
		out = append(out, `"max_score":null,"hits":[`...)
	default:
		out = append(append(append(out, `"max_score":`...), score...), `,"hits":[`...)
	}
	for i := range a.Hits {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.appendHit(out, q, &a.Hits[i], score)
	}
	c.out = append(out, "]}}"...)
}

func appendShards(dst []byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, `"_shards":{"total":`...), int64(n), 10)
	dst = strconv.AppendInt(append(dst, `,"successful":`...), int64(n), 10)
	return append(dst, `,"skipped":0,"failed":0}`...)
}

func appendTotal(dst []byte, a *query.Answer, asInt bool) []byte {
	if asInt {
		return strconv.AppendInt(dst, a.Total, 10)
	}
	dst = strconv.AppendInt(append(dst, `{"value":`...), a.Total, 10)
	if a.AtLeast {
		return append(dst, `,"relation":"gte"}`...)
	}
	return append(dst, `,"relation":"eq"}`...)
}

func (c *call) appendHit(out []byte, q *query.Search, h *query.Hit, score string) []byte {
	out = appendString(append(out, `{"_index":`...), h.Index)
	out = appendString(append(out, `,"_id":`...), h.ID)
	if q.Versions {
		out = strconv.AppendInt(append(out, `,"_version":`...), h.Version, 10)
	}
	if q.SeqNoTerm {
		out = strconv.AppendInt(append(out, `,"_seq_no":`...), h.SeqNo, 10)
		out = strconv.AppendInt(append(out, `,"_primary_term":`...), h.PrimaryTerm, 10)
	}
	out = append(append(out, `,"_score":`...), score...)
	if h.Routing != "" {
		out = appendString(append(out, `,"_routing":`...), h.Routing)
	}
	if h.Source != nil && !q.Source.None {
		out = q.Source.Append(append(out, `,"_source":`...), h.Source)
	}
	if len(h.Sort) > 0 {
		out = append(out, `,"sort":[`...)
		for i, value := range h.Sort {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, value...)
		}
		out = append(out, ']')
	}
	return append(out, '}')
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
	q, err := query.ParseCount(body)
	if err != nil {
		return err
	}
	e, err := c.expression("index", searched)
	if err != nil {
		return err
	}
	answer, err := c.s.store.Count(c.ctx(), e, c.text("routing", ""), q)
	if err != nil {
		return err
	}
	c.out = strconv.AppendInt(append(c.out, `{"count":`...), answer.Total, 10)
	c.out = append(appendShards(append(c.out, ','), answer.Shards), '}')
	return c.send(http.StatusOK)
}

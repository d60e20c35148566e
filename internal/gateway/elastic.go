package gateway

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// What Elasticsearch's own clients need beside the API of OpenSearch, and get with
// control.CompatElasticsearch. From 7.14 on they refuse a server whose answers lack the header
// X-Elastic-Product; from 8 on they send media types of their own (see media.go), with
// their version in them. For points in time they have other paths, and other sort values.

// elasticVersion is the version in answers to clients of Elasticsearch. Those of 7.17, 8 and 9
// check only that it is 7.14 or later. Tools send what fits the version that they read:
// for 7 with mapping types, which this store does not have, and for 8 without.
const elasticVersion = "8.19.0"

// elastic reports whether clients of Elasticsearch are accepted.
func (s *Server) elastic() bool { return s.options.Compat == control.CompatElasticsearch }

// version is that of the server whose API this is, as answers name it.
func (s *Server) version() string {
	if s.elastic() {
		return elasticVersion
	}
	return compatible
}

var elasticRoutes = []route{
	{"POST", "/{index}/_pit", expressionParams + "keep_alive routing preference allow_partial_search_results max_concurrent_shard_requests", (*call).openPIT},
	{"DELETE", "/_pit", "", (*call).endPIT},
	{"GET", "/_data_stream", "expand_wildcards", (*call).openStreams},
	{"GET", "/_data_stream/{name}", "expand_wildcards", (*call).openStreams},
}

// elasticRoot answers GET /. The build type, and the version of OpenSearch whose API this is, say what the server
// really is: our own programs read them.
func (c *call) elasticRoot() error {
	o := c.s.options
	out := appendString(append(c.out, `{"name":`...), o.Name)
	out = appendString(append(out, `,"cluster_name":`...), o.Cluster)
	out = appendString(append(out, `,"cluster_uuid":`...), c.s.store.Catalog().Cluster)
	out = append(out, `,"version":{"number":"`+elasticVersion+`","build_flavor":"default","build_type":"reshelve","build_hash":`...)
	out = appendString(out, o.Version)
	c.out = append(out, `,"build_date":"1970-01-01T00:00:00Z","build_snapshot":false,"lucene_version":"9.12.2",`+
		`"minimum_wire_compatibility_version":"7.17.0","minimum_index_compatibility_version":"7.0.0","opensearch_version":"`+compatible+`"},`+
		`"tagline":"You Know, for Search"}`...)
	c.look.pretty = c.look.pretty || !c.isSet("pretty") // people look at this page
	return c.send(http.StatusOK)
}

// openPIT pins readers of indices.
func (c *call) openPIT() error {
	body, err := c.content()
	if err == nil {
		err = query.ReadOpenPIT(body)
	}
	if err != nil {
		return err
	}
	if !c.isSet("keep_alive") {
		return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: [keep_alive] is not specified;")
	}
	if partial, err := c.boolean("allow_partial_search_results", false); err != nil || partial {
		return cmp.Or(err, notYet("[allow_partial_search_results] of a point in time"))
	}
	if _, err := c.integer("max_concurrent_shard_requests", 32, 0); err != nil {
		return err
	}
	point, err := c.pin("search.max_keep_alive")
	if err != nil {
		return err
	}
	out := appendString(append(c.out, `{"id":`...), point.ID)
	c.out = append(appendShards(append(out, ','), point.Shards), '}')
	return c.send(http.StatusOK)
}

// endPIT lets go of a point in time.
func (c *call) endPIT() error {
	body, err := c.content()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return exception.New(exception.OpenSearchParse, "request body or source parameter is required")
	}
	id, err := query.ReadPIT(body)
	if err != nil {
		return err
	}
	if err := (&query.PIT{ID: id}).Check(); err != nil {
		return err
	}
	ended, err := c.s.store.ClosePoints([]string{id}, false)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(ended) == 0 {
		status = http.StatusNotFound
	}
	c.out = strconv.AppendBool(append(c.out, `{"succeeded":`...), len(ended) > 0)
	c.out = append(strconv.AppendInt(append(c.out, `,"num_freed":`...), int64(len(ended)), 10), '}')
	return c.send(status)
}

// openStreams shows data streams, which are open, all of them. Helpers of Python ask so whether a
// name is one.
func (c *call) openStreams() error {
	wanted := catalog.Options{ExpandOpen: true}
	if err := c.expand(&wanted); err != nil {
		return err
	}
	if !wanted.ExpandOpen {
		return notYet("[expand_wildcards] without [open]")
	}
	return c.getStreams()
}

// breakTies puts the place of a document behind the keys of a search in a point in time, as
// Elasticsearch does: its clients go on behind the sort values of the last hit, and without it
// would miss those that have the same. A search_after with a value for each key that was named
// is taken as it is.
func (c *call) breakTies(x *searching) {
	keys := len(x.Sort)
	if !c.s.elastic() || x.PIT == nil || keys == 0 || x.Sort[keys-1].Field == placeField {
		return
	}
	if x.After == nil || len(x.After) == keys+1 {
		x.Sort = append(x.Sort[:keys:keys], search.Sort{Field: placeField})
	}
}

const placeField = "_shard_doc"

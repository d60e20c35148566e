package proof

import (
	"fmt"
	"strings"
)

// question is one search, in one of the ways to ask it.
type question struct {
	way   string // search, count, validate, msearch; scroll, point, pages, slices: until nothing comes any more
	index string // names between commas
	body  string
}

// question draws one.
func (a *asker) question() question {
	q := question{way: a.pick("way", "search", "search", "search", "search", "search", "search", "search", "search", "count", "validate", "msearch", "scroll", "point", "pages", "slices")}
	q.index = a.pick("index", whole, whole, churned, parts, parts, churned+","+parts)
	if q.way == "validate" {
		q.index = whole
	}
	a.scored, a.sharded = q.index == whole, strings.Contains(q.index, parts)
	switch q.way {
	case "count":
		q.body = fmt.Sprintf(`{"query":%s}`, a.query(2))
	case "validate":
		q.body = fmt.Sprintf(`{"query":%s}`, a.query(1))
	case "scroll", "slices":
		q.body = fmt.Sprintf(`{"query":%s,"size":%d,"_source":false%s}`, a.query(1), a.number(3, 9, "size"), a.options(2, `"sort":["_doc"]`, `"sort":`+a.sort(true)))
	case "pages", "point":
		q.body = fmt.Sprintf(`{"query":%s,"size":%d,"_source":false,"sort":%s}`, a.query(1), a.number(3, 9, "size"), a.sort(true))
	default:
		q.body = a.search()
	}
	return q
}

// search draws the body of a search.
func (a *asker) search() string {
	var members []string
	add := func(format string, values ...any) { members = append(members, fmt.Sprintf(format, values...)) }
	if !a.seldom(8, "all") {
		add(`"query":%s`, a.query(a.number(0, 3, "depth")))
	}
	if a.seldom(3, "aggregated") {
		add(`"aggs":%s`, a.aggregations(3, false))
	}
	if a.seldom(3, "sorted") {
		add(`"sort":%s`, a.sort(false))
	}
	add(`"size":%s`, a.pick("size", "200", "200", "200", "10", "5", "0", "1"))
	for _, member := range []string{`"from":` + a.pick("from", "0", "3", "20"), `"track_total_hits":` + a.pick("track", "true", "false", "5"), a.ifScored(`"min_score":` + a.pick("score", "0.5", "1", "2.5")), `"version":true`, a.ifOneShard(`"seq_no_primary_term":true`),
		`"track_scores":true`, `"stored_fields":` + a.pick("stored", `[]`, `["n"]`, `["k*"]`), `"explain":false`} {
		if member != "" && a.seldom(9, member) {
			add("%s", member)
		}
	}
	if a.seldom(10, "post filter") {
		add(`"post_filter":%s`, a.query(1))
	}
	source := a.pick("source", `false`, `true`, `["u","n*"]`, `{"excludes":["t*","nest"]}`, `"o.*"`, `{"includes":["nest.*","k*"],"excludes":["*.t"]}`, `["u"]`)
	if !a.seldom(5, "whole source") {
		add(`"_source":%s`, source)
	}
	if a.seldom(6, "docvalue_fields") {
		add(`"docvalue_fields":[%q,%s]`, a.field(columnFields), a.pick("column", `"ip*"`, `{"field":"d","format":"yyyy"}`, `"i"`, `{"field":"f","format":"0.0"}`, `"k*"`, `"g"`, `{"field":"dn","format":"epoch_millis"}`))
	}
	if a.seldom(6, "fields") {
		add(`"fields":[%q,%s]`, a.anyField(), a.pick("field", `"*"`, `{"field":"d","format":"yyyy-MM"}`, `"k*"`, `"nest.*"`, `"o"`, `"n*"`))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// sort draws the value of sort. One that tells all documents apart ends with u.
func (a *asker) sort(apart bool) string {
	var keys []string
	for range a.number(1, 2, "keys") {
		field := a.field(columnFields + " none _id nest.x newlong t g")
		if apart {
			field = a.field("n i by f sc d day k kl b ip o.x o.k nv ul dn h")
		}
		if a.scored && a.seldom(5, "score") {
			keys = append(keys, a.pick("score", `"_score"`, `{"_score":"asc"}`))
			continue
		}
		if !apart && a.seldom(8, "briefly") {
			keys = append(keys, a.pick("brief", `"i"`, `{"k":"desc"}`, `{"f":"asc"}`, `"_doc"`, `{"i":{"order":"asc","numeric_type":"double"}}`, `{"d":{"numeric_type":"date_nanos"}}`, `{"f":{"numeric_type":"long","mode":"max"}}`))
			continue
		}
		options := a.options(2, `"order":`+a.pick("order", `"asc"`, `"desc"`)) + a.options(5, `"missing":`+a.pick("missing", `"_last"`, `"_first"`, `3`, `"x"`)) + a.options(6, `"mode":`+a.pick("mode", `"min"`, `"max"`, `"sum"`, `"avg"`, `"median"`))
		switch field {
		case "ip": // the server answers with 500s when missing is no address
			options = strings.NewReplacer(`"missing":3`, `"missing":"_first"`, `"missing":"x"`, `"missing":"_last"`).Replace(options)
		case "none", "newlong":
			options += `,"unmapped_type":"long"`
		case "nest.x":
			options += a.pick("nested", `,"nested":{"path":"nest"}`, `,"nested":{"path":"nest","filter":{"range":{"nest.x":{"gte":3}}}}`, "")
		}
		if field == "g" {
			keys = append(keys, fmt.Sprintf(`{"_geo_distance":{"g":{"lat":10,"lon":20}%s}}`, a.options(3, `"order":"desc"`, `"unit":"km"`, `"mode":"max"`)))
			continue
		}
		keys = append(keys, fmt.Sprintf(`{%q:{%s}}`, field, strings.TrimPrefix(options, ",")))
	}
	if apart {
		keys = append(keys, `"u"`)
	}
	return "[" + strings.Join(keys, ",") + "]"
}

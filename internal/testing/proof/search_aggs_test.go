package proof

import (
	"fmt"
	"strings"
)

// aggregations draws the value of aggs: some, each with others below it.
func (a *asker) aggregations(depth int, nested bool) string {
	var all []string
	for i := range a.number(1, 2, "aggregations") {
		all = append(all, fmt.Sprintf(`"%c%d":%s`, 'a'+rune(depth), i, a.aggregation(depth, nested)))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// aggregation draws one. Nested tells that it is about the objects of nest.
func (a *asker) aggregation(depth int, nested bool) string {
	if depth == 0 || a.seldom(4, "metric") {
		return a.metric(nested)
	}
	body, below := a.buckets(depth, nested)
	subs := ""
	if a.seldom(2, "below") || depth > 2 {
		subs = `,"aggs":` + a.aggregations(depth-1, below)
	}
	if a.seldom(12, "meta") {
		subs += `,"meta":{"x":1}`
	}
	return "{" + body + subs + "}"
}

func (a *asker) counted(nested bool) string {
	if nested {
		return a.field("nest.x nest.k nest.d")
	}
	return a.field(countedFields)
}

func (a *asker) numeric(nested bool) string {
	if nested {
		return "nest.x"
	}
	return a.field("i i by sc nv o.x n f fl h nx al")
}

func (a *asker) dated(nested bool) string {
	if nested {
		return "nest.d"
	}
	return a.field("d d d day dn")
}

func (a *asker) metric(nested bool) string {
	kind := a.pick("metric", "min", "max", "avg", "sum", "value_count", "stats", "extended_stats", "percentiles", "percentile_ranks", "cardinality", "top_hits", "weighted_avg")
	field := a.numeric(nested)
	missing := a.options(6, `"missing":3`)
	switch kind {
	case "value_count", "cardinality":
		field = a.counted(nested)
		missing = ""
	case "min", "max", "avg":
		if a.seldom(4, "date") {
			field, missing = a.dated(nested), ""
		}
	case "percentiles":
		missing += a.options(4, `"percents":[10,50,99.9]`, `"keyed":false`)
	case "percentile_ranks":
		missing += `,"values":[0,5,100]` + a.options(4, `"keyed":false`)
	case "weighted_avg":
		return fmt.Sprintf(`{"weighted_avg":{"value":{"field":%q},"weight":{"field":"nx","missing":1}}}`, a.field("i by sc f"))
	case "top_hits":
		sort := `"u"`
		if nested {
			sort = `"nest.x","_id"` // two objects of one document stand in order
		}
		return fmt.Sprintf(`{"top_hits":{"size":%d,"sort":[%s],"_source":%s%s}}`, a.number(1, 4, "size"), sort, a.pick("source", "false", `["u","i","nest.x"]`, `{"includes":["k*","nest"]}`, `{"excludes":["*.d","t*"]}`), a.options(5, `"docvalue_fields":["i","k","nest.x"]`, `"version":true`, `"from":1`, `"fields":["nest.d","i"]`, `"track_scores":true`, `"highlight":{"fields":{"*":{}}}`))
	}
	if kind != "value_count" && kind != "cardinality" && field != "n" && field != "al" {
		missing += a.options(12, `"format":"0.00"`)
	}
	return fmt.Sprintf(`{%q:{"field":%q%s}}`, kind, field, missing)
}

// buckets draws the body of an aggregation of buckets, without its end; below tells
// whether those under it are about nested objects.
func (a *asker) buckets(depth int, nested bool) (body string, below bool) {
	switch a.number(0, 13, "buckets") {
	case 0, 1, 2:
		return a.termsBuckets(nested), nested
	case 3:
		return fmt.Sprintf(`"histogram":{"field":%q,"interval":%s%s}`, a.field("i i by sc nv f h"), a.pick("interval", "5", "2.5", "10", "50"), a.histogramOptions(`"missing":4`, `"extended_bounds":{"min":-20,"max":40}`, `"hard_bounds":{"min":0,"max":20}`)), nested
	case 4, 5:
		interval := a.pick("interval", `"calendar_interval":"month"`, `"calendar_interval":"1w"`, `"calendar_interval":"quarter"`, `"calendar_interval":"year"`, `"fixed_interval":"30d"`, `"fixed_interval":"1000h"`)
		return fmt.Sprintf(`"date_histogram":{"field":%q,%s%s}`, a.dated(nested), interval, a.histogramOptions(`"missing":"2020-03-03"`, `"time_zone":"Europe/Berlin"`, `"time_zone":"-03:30"`, `"format":"yyyy-MM-dd"`, `"extended_bounds":{"min":"2018-06-01","max":"2022-02-01"}`, `"offset":"+6h"`)), nested
	case 6:
		return fmt.Sprintf(`"range":{"field":%q,"ranges":[{"to":3},{"from":3,"to":10.5,"key":"mid"},{"from":5}]%s}`, a.numeric(nested), a.options(4, `"keyed":true`, `"missing":4`)), nested
	case 7:
		return fmt.Sprintf(`"date_range":{"field":%q,"ranges":[{"to":"2020-01-01"},{"from":"2020-01-01","to":"2020-12-31||/M"},{"from":"2021-01-01","key":"late"}]%s}`, a.dated(nested), a.options(4, `"keyed":true`, `"format":"yyyy-MM-dd"`, `"time_zone":"+03:00"`, `"missing":"2020-02-02"`)), nested
	case 8:
		return fmt.Sprintf(`"filter":%s`, a.innerQuery(nested)), nested
	case 9:
		filters := fmt.Sprintf(`{"one":%s,"two":%s}`, a.innerQuery(nested), a.innerQuery(nested))
		if a.seldom(2, "anonymous") {
			filters = fmt.Sprintf(`[%s,%s]`, a.innerQuery(nested), a.innerQuery(nested))
		}
		return fmt.Sprintf(`"filters":{"filters":%s%s}`, filters, a.options(3, `"other_bucket":true`, `"other_bucket_key":"rest"`)), nested
	case 10:
		return fmt.Sprintf(`"missing":{"field":%q}`, a.counted(nested)), nested
	case 11:
		if nested || depth < 3 {
			return `"filter":{"match_all":{}}`, nested
		}
		return `"global":{}`, false
	case 12:
		if nested {
			return `"reverse_nested":{}`, false
		}
		return `"nested":{"path":"nest"}`, true
	}
	if nested || depth < 3 {
		return a.termsBuckets(nested), nested
	}
	return a.composite(), false
}

func (a *asker) innerQuery(nested bool) string {
	if nested {
		return fmt.Sprintf(`{"range":{"nest.x":{"gte":%d}}}`, a.number(0, 9, "x"))
	}
	return a.query(1)
}

func (a *asker) termsBuckets(nested bool) string {
	options := a.options(4, `"size":`+a.pick("size", "3", "1", "50"), `"min_doc_count":`+a.pick("minimum", "2", "3"), a.ifScored(`"min_doc_count":0`))
	options += a.options(4, `"order":`+a.pick("order", `{"_key":"asc"}`, `{"_key":"desc"}`, `{"_count":"asc"}`, `[{"_count":"desc"},{"_key":"desc"}]`))
	field := a.counted(nested)
	if field == "k" || field == "kl" || field == "nest.k" {
		options += a.options(6, `"include":"a.*"`, `"include":["a","b","nothing"]`, `"exclude":["a"]`, `"exclude":"[a-c]"`, `"missing":"none"`)
	}
	if field == "i" || field == "nest.x" {
		options += a.options(6, `"include":[1,2,3]`, `"exclude":[1]`, `"missing":3`, `"include":{"partition":0,"num_partitions":3}`, `"format":"000"`)
	}
	return fmt.Sprintf(`"terms":{"field":%q,"shard_size":10000%s}`, field, options)
}

func (a *asker) histogramOptions(more ...string) string {
	options := a.options(4, `"min_doc_count":`+a.pick("minimum", "1", "2", "0"))
	options += a.options(6, `"order":`+a.pick("order", `{"_key":"desc"}`, `{"_count":"desc"}`), `"keyed":true`)
	return options + a.options(6, more[a.number(0, len(more)-1, "more")])
}

func (a *asker) composite() string {
	var sources []string
	for i := range a.number(1, 3, "sources") {
		source := a.pick("source", `"terms":{"field":"k"%s}`, `"terms":{"field":"i"%s}`, `"terms":{"field":"b"%s}`, `"histogram":{"field":"by","interval":10%s}`, `"date_histogram":{"field":"d","calendar_interval":"month"%s}`, `"date_histogram":{"field":"d","fixed_interval":"60d","format":"yyyy-MM-dd"%s}`, `"terms":{"field":"ip"%s}`)
		sources = append(sources, fmt.Sprintf(`{"s%d":{%s}}`, i, fmt.Sprintf(source, a.options(5, `"order":"desc"`, `"missing_bucket":true`))))
	}
	return fmt.Sprintf(`"composite":{"size":%d,"sources":[%s]}`, a.number(1, 30, "size"), strings.Join(sources, ","))
}

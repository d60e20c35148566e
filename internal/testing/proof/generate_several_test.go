package proof

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// bulk is a bulk of some items, now and then with a line that is not one.
func (w *world) bulk(t *rapid.T) call {
	var body strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "items") {
		body.WriteString(w.item(t))
	}
	if w.mistake(t, "no last line's end") {
		return call{"POST", w.bulkPath(t), "application/x-ndjson", strings.TrimSuffix(body.String(), "\n")}
	}
	return call{pick(t, "method", "POST", "POST", "PUT"), w.bulkPath(t), w.contentType(t, "application/x-ndjson"), body.String()}
}

func (w *world) bulkPath(t *rapid.T) string {
	path := "/_bulk"
	if !seldom(t, 3, "no index in the path") {
		path = "/" + w.index(t) + path
	}
	return path + w.parameters(t, "refresh", "routing", "_source", "require_alias", "pipeline", "timeout", "wait_for_active_shards")
}

// item is the lines of one item.
func (w *world) item(t *rapid.T) string {
	if w.mistake(t, "strange line") {
		return pick(t, "line", "\n", " \n", "{}\n", "x\n", "[]\n", "null\n", `{"index":{}}`, `{"index":1}`+"\n{}\n", `{"index":[]}`+"\n{}\n", `{"index":null}`+"\n{}\n", `{"nonsense":{}}`+"\n{}\n", `{"index":{"nonsense":1}}`+"\n{}\n",
			`{"index":{"_id":["1"]}}`+"\n{}\n", `{"index":{"_id":{"a":1}}}`+"\n{}\n", `{"index":{"_id":1}}`+"\n{}\n", `{"index":{"_id":null}}`+"\n{}\n", `{"index":{"_id":true}}`+"\n{}\n", `{"index":{"_id":""}}`+"\n{}\n", `{"index":{"_id":"1"},"create":{}}`+"\n{}\n",
			`{"index":{"_id":"1"}} x`+"\n{}\n", `{"index":{"_type":"_doc","_id":"1"}}`+"\n{}\n", `{"INDEX":{}}`+"\n{}\n", `{"index":{"_index":""}}`+"\n{}\n", `{"index":{"_index":"UPPER"}}`+"\n{}\n", `{"index":{"_index":"_x","_id":"1"}}`+"\n{}\n",
			`{"delete":{}}`+"\n", `{"update":{}}`+"\n{\"doc\":{}}\n", `{"index":{"version":1}}`+"\n{}\n", `{"index":{"_id":"1","version":1,"version_type":"x"}}`+"\n{}\n", `{"index":{"_id":"1","op_type":"create"}}`+"\n{}\n", `{"index":{"_id":"1","op_type":"x"}}`+"\n{}\n",
			`{"create":{"_id":"1","if_seq_no":1,"if_primary_term":1}}`+"\n{}\n", `{"create":{"_id":"1","version":1,"version_type":"external"}}`+"\n{}\n", `{"index":{"_id":"1","if_seq_no":1}}`+"\n{}\n", `{"update":{"_id":"1","retry_on_conflict":2}}`+"\n{\"doc\":{\"n\":1}}\n",
			`{"update":{"_id":"1","version":1}}`+"\n{\"doc\":{\"n\":1}}\n", `{"index":{"_id":"1","pipeline":"nothing"}}`+"\n{}\n", `{"index":{"_id":"1","dynamic_templates":{"n":"x"}}}`+"\n{}\n", "{\"index\":{\"_id\":\"1\"}}\r\n{}\r\n", `{"index":{"_id":"1"`+"\n{}\n", `{"delete":{"_id":"1","if_seq_no":0,"if_primary_term":1}}`+"\n")
	}
	action := pick(t, "action", "index", "index", "create", "delete", "update")
	var meta []string
	if seldom(t, 3, "index in the item") {
		meta = append(meta, `"_index":`+quoted(w.index(t)))
		if w.routed {
			meta = append(meta, `"routing":"r"`)
		}
	}
	if (action != "index" && action != "create") || !seldom(t, 8, "no id") {
		meta = append(meta, `"_id":`+quoted(w.plainID(t)))
	}
	for _, extra := range []string{`"if_seq_no":2,"if_primary_term":1`, `"version":4,"version_type":"external"`, `"require_alias":true`, `"_source":true`, `"retry_on_conflict":1`} {
		if seldom(t, 14, extra) {
			meta = append(meta, extra)
		}
	}
	line := fmt.Sprintf("{%q:{%s}}\n", action, strings.Join(meta, ","))
	switch action {
	case "delete":
		return line
	case "update":
		return line + oneLine(w.change(t)) + "\n"
	}
	return line + oneLine(w.source(t)) + "\n"
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// several is a multi-get.
func (w *world) several(t *rapid.T) call {
	path := "/_mget"
	if !seldom(t, 3, "no index in the path") {
		path = "/" + w.index(t) + path
	}
	path += w.parameters(t, "_source", "_source_includes", "_source_excludes", "routing", "realtime", "refresh", "preference", "stored_fields")
	if w.mistake(t, "strange") {
		return call{"POST", path, "application/json", pick(t, "body", ``, `{}`, `{"docs":[]}`, `{"ids":[]}`, `{"docs":1}`, `{"docs":{}}`, `{"docs":[1]}`, `{"docs":["1"]}`, `{"docs":[{}]}`, `{"docs":[{"_id":"1","x":1}]}`, `{"ids":[1,2]}`, `{"ids":"1"}`, `{"x":[]}`,
			`{"ids":[null]}`, `{"ids":[["1"]]}`, `[]`, `{"docs":[{"_id":1}]}`, `{"docs":[{"_id":"1","version":1}]}`, `{"docs":[{"_id":"1","version":9,"version_type":"external"}]}`, `{"docs":[{"_id":"1","_source":1}]}`, `{"docs":[{"_id":"1","_source":["n"]}]}`, `{"docs":[{"_index":"`+w.prefix+`none","_id":"1"}],"ids":["2"]}`)}
	}
	if seldom(t, 2, "ids") {
		return call{"GET", path, "application/json", fmt.Sprintf(`{"ids":[%s,%s]}`, quoted(w.plainID(t)), quoted(w.plainID(t)))}
	}
	var docs []string
	for range rapid.IntRange(1, 3).Draw(t, "docs") {
		parts := []string{`"_id":` + quoted(w.plainID(t))}
		if !seldom(t, 3, "no index") {
			parts = append(parts, `"_index":`+quoted(w.index(t)))
			if w.routed {
				parts = append(parts, `"routing":"r"`)
			}
		}
		for _, extra := range []string{`"_source":false`, `"_source":{"includes":["n"],"excludes":["o"]}`, `"_source":"n*"`, `"version":2,"version_type":"external"`, `"stored_fields":["n"]`} {
			if seldom(t, 12, extra) {
				parts = append(parts, extra)
			}
		}
		docs = append(docs, "{"+strings.Join(parts, ",")+"}")
	}
	return call{"POST", path, w.contentType(t, "application/json"), `{"docs":[` + strings.Join(docs, ",") + `]}`}
}

// search is a refresh, a search or a count.
func (w *world) search(t *rapid.T) call {
	index := w.index(t)
	switch rapid.IntRange(0, 4).Draw(t, "search") {
	case 0:
		return call{"POST", "/" + index + "/_refresh" + w.parameters(t, "ignore_unavailable", "allow_no_indices"), "", ""}
	case 1:
		return call{pick(t, "method", "GET", "POST"), "/" + index + "/_count" + w.parameters(t, "routing", "ignore_unavailable", "preference"), "application/json",
			pick(t, "count", ``, `{}`, `{"query":{"match_all":{}}}`, `{"query":{"ids":{"values":["1","2"]}}}`, `{"query":{}}`, `{"size":1}`, `{"query":{"nonsense":{}}}`, `{"query":{"ids":{"values":[1]}}}`, `{"query":[]}`, `{"query":{"match_all":{},"ids":{}}}`)}
	}
	parts := []string{pick(t, "query", `"query":{"match_all":{}}`, `"query":{"ids":{"values":["1","3","a/b"]}}`, `"track_total_hits":true`, `"query":{"match_all":{"boost":2}}`, `"query":{"ids":{"values":[]}}`, `"query":{"match_none":{}}`)}
	if seldom(t, 2, "sorted") {
		parts = append(parts, pick(t, "sort", `"sort":["_id"]`, `"sort":"_id"`, `"sort":[{"_id":"desc"}]`, `"sort":[{"_id":{"order":"asc"}}]`, `"sort":{"_id":"asc"}`, `"sort":["_id"],"search_after":["1"]`, `"sort":[{"_id":"desc"}],"search_after":["3"]`, `"sort":["_id"],"search_after":[1]`,
			`"sort":[]`, `"sort":["_id"],"search_after":[]`, `"sort":["_id"],"search_after":["1","2"]`, `"search_after":["1"]`, `"sort":["_id"],"search_after":"1"`, `"sort":["nonsense"]`, `"sort":[{"_id":"up"}]`))
	} else {
		parts = append(parts, `"size":0`)
	}
	for _, extra := range []string{`"size":2`, `"from":1`, `"version":true`, `"seq_no_primary_term":true`, `"_source":false`, `"_source":["n"]`, `"_source":{"excludes":["n"]}`, `"track_total_hits":false`, `"track_total_hits":1`, `"nonsense":1`, `"size":-1`, `"from":-1`, `"size":10001`, `"timeout":"1s"`, `"stored_fields":[]`} {
		if seldom(t, 14, extra) {
			parts = append(parts, extra)
		}
	}
	return call{"POST", "/" + index + "/_search" + w.parameters(t, "routing", "_source", "ignore_unavailable", "allow_no_indices", "preference"), w.contentType(t, "application/json"), "{" + strings.Join(parts, ",") + "}"}
}

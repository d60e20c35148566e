package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// What the twins are asked.

// searches depend on what is shown; $ is a small number.
var searches = []string{
	`{"size":200,"query":{"match":{"t":"common word$"}}}`,
	`{"size":200,"query":{"match_phrase":{"t":"word$ common"}}}`,
	`{"size":200,"query":{"match_phrase_prefix":{"t":"common wor"}}}`,
	`{"size":200,"query":{"fuzzy":{"t":{"value":"wort$"}}}}`,
	`{"size":200,"query":{"bool":{"must":{"match":{"t":"common"}},"must_not":{"term":{"k":"k$"}},"should":{"range":{"n":{"gte":$}}}}}}`,
	`{"size":200,"query":{"nested":{"path":"c","query":{"term":{"c.x":"x$"}},"score_mode":"sum"}}}`,
	`{"size":200,"query":{"prefix":{"k":"k$"}},"sort":["n","_id"]}`,
	`{"size":200,"query":{"wildcard":{"k":"*$"}},"sort":[{"n":{"order":"desc","missing":"_first"}},"_id"],"version":true}`,
	`{"size":3,"from":2,"sort":[{"k":"desc"},"_id"],"track_total_hits":true}`,
	`{"size":200,"query":{"terms":{"_id":["1","2","3","11","$"]}},"sort":["_id"],"_source":["k"]}`,
	`{"size":0,"aggs":{"k":{"terms":{"field":"k","size":500,"min_doc_count":0,"order":{"_key":"asc"}}}}}`,
	`{"size":0,"query":{"term":{"k":"k$"}},"aggs":{"k":{"terms":{"field":"k","size":500,"order":{"_key":"asc"}},"aggs":{"n":{"stats":{"field":"n"}}}}}}`,
	`{"size":0,"aggs":{"n":{"histogram":{"field":"n","interval":5,"min_doc_count":0}},"card":{"cardinality":{"field":"k"}},"v":{"value_count":{"field":"n"}},"c":{"nested":{"path":"c"},"aggs":{"x":{"terms":{"field":"c.x","size":500,"order":{"_key":"asc"}}}}}}}`,
	`{"size":0,"aggs":{"f":{"filters":{"filters":{"a":{"prefix":{"k":"k1"}},"b":{"range":{"n":{"lt":$}}}}}},"r":{"range":{"field":"n","ranges":[{"to":5},{"from":5}]}},"m":{"missing":{"field":"n"}}}}`,
	`{"size":200,"collapse":{"field":"k"},"sort":["k","n","_id"]}`,
	`{"size":200,"query":{"exists":{"field":"n"}},"sort":["_id"],"seq_no_primary_term":true}`,
}

// scored tells whether scores are compared.
func (w *twins) scored() bool { return !w.hides || !w.changed }

// id draws a document: its id, and parameters for its routing.
func (w *twins) id(t *rapid.T) (id, routing string) {
	id = fmt.Sprint(rapid.IntRange(0, 24).Draw(t, "id"))
	if w.parted {
		return id, fmt.Sprint("r", len(id))
	}
	if id[0]%3 == 0 { // always the same
		return id, "r" + id[:1]
	}
	return id, ""
}

func (w *twins) source(t *rapid.T) string {
	n := rapid.IntRange(0, 40).Draw(t, "n")
	if n > 35 {
		return fmt.Sprintf(`{"k":"k%d"}`, n)
	}
	return fmt.Sprintf(`{"n":%d,"t":"common %sword%d common","k":"k%d","c":[{"x":"x%d"},{"x":"x%d"}]}`, n, strings.Repeat("filler ", n%4), n%5, n%13, n%3, n%2)
}

func key(id, routing string) string {
	if routing == "" {
		return id
	}
	return id + "/" + routing
}

// action draws a write: the action of a bulk, its metadata without id, and its line.
func (w *twins) action(t *rapid.T, id, routing string) (action, meta, line string) {
	w.changed = true
	about := key(id, routing)
	switch rapid.IntRange(0, 11).Draw(t, "kind of write") {
	case 0, 1, 2:
		return "index", "", w.source(t)
	case 3:
		return "create", "", w.source(t)
	case 4, 5:
		return "delete", "", ""
	case 6, 7:
		return "update", "", fmt.Sprintf(`{"doc":{"n":%d},"doc_as_upsert":%t}`, rapid.IntRange(0, 3).Draw(t, "n"), rapid.Bool().Draw(t, "as upsert"))
	case 8:
		return "update", "", fmt.Sprintf(`{"doc":{"k":"changed"},"upsert":%s}`, w.source(t))
	case 9:
		version := rapid.IntRange(1, 12).Draw(t, "version")
		return rapid.SampledFrom([]string{"index", "delete"}).Draw(t, "external"), fmt.Sprintf(`,"version":%d,"version_type":%q`, version, rapid.SampledFrom([]string{"external", "external_gte"}).Draw(t, "type")), w.source(t)
	case 10:
		return "index", `,"if_seq_no":«seq` + about + `»,"if_primary_term":«term` + about + `»`, w.source(t)
	}
	return "delete", `,"if_seq_no":«seq` + about + `»,"if_primary_term":«term` + about + `»`, ""
}

// write writes one document, alone.
func (w *twins) write(t *rapid.T) {
	w.T = t
	id, routing := w.id(t)
	action, meta, line := w.action(t, id, routing)
	method, path, parameters := "PUT", "/_doc/"+id, []string{}
	switch action {
	case "create":
		path = "/_create/" + id
	case "update":
		method, path = "POST", "/_update/"+id
	case "delete":
		method, line = "DELETE", ""
	}
	if routing != "" {
		parameters = append(parameters, "routing="+routing)
	}
	for _, m := range strings.Split(meta, ",") {
		if name, value, is := strings.Cut(strings.ReplaceAll(m, `"`, ""), ":"); is {
			parameters = append(parameters, name+"="+value)
		}
	}
	refreshes := rapid.IntRange(0, 9).Draw(t, "refreshes") == 0
	if refreshes {
		parameters = append(parameters, "refresh=true")
	}
	w.both(method, path+"?"+strings.Join(parameters, "&"), line)
	if refreshes {
		w.refresh()
	}
}

func (w *twins) bulk(t *rapid.T) {
	w.T = t
	var body strings.Builder
	for range rapid.IntRange(1, 12).Draw(t, "items") {
		id, routing := w.id(t)
		action, meta, line := w.action(t, id, routing)
		if routing != "" {
			meta += fmt.Sprintf(`,"routing":%q`, routing)
		}
		fmt.Fprintf(&body, `{%q:{"_id":%q%s}}`+"\n", action, id, meta)
		if action != "delete" {
			body.WriteString(line + "\n")
		}
	}
	w.both("POST", "/_bulk", body.String())
}

// onlyNew writes documents once, and compares scores while shards move.
func (w *twins) onlyNew() {
	for n := range rapid.IntRange(1, 4).Draw(w.T, "rounds") {
		var body strings.Builder
		for i := range rapid.IntRange(1, 20).Draw(w.T, "documents") {
			meta := ""
			if w.parted {
				meta = fmt.Sprintf(`,"routing":"r%d"`, i)
			}
			fmt.Fprintf(&body, `{"create":{"_id":"new%d-%d"%s}}`+"\n%s\n", n, i, meta, w.source(w.T))
		}
		w.both("POST", "/_bulk?refresh=true", body.String())
		for range rapid.IntRange(0, 2).Draw(w.T, "changes") {
			changes := map[string]func(*rapid.T){"hand over": w.handOver, "stage": w.stage, "lead back": w.leadBack, "tidy up": w.tidyUp}
			changes[rapid.SampledFrom(slices.Sorted(maps.Keys(changes))).Draw(w.T, "change")](w.T)
		}
		for range 3 {
			w.search(w.T)
		}
	}
}

func (w *twins) byQuery(t *rapid.T) {
	w.T, w.changed = t, true
	verb := rapid.SampledFrom([]string{"/_delete_by_query", "/_update_by_query"}).Draw(t, "verb")
	from := rapid.IntRange(0, 40).Draw(t, "from")
	w.both("POST", verb+"?conflicts=proceed&refresh=true&scroll_size=3", fmt.Sprintf(`{"query":{"range":{"n":{"gte":%d,"lt":%d}}}}`, from, from+4))
	w.refresh()
}

func (w *twins) refreshed(t *rapid.T) { w.T = t; w.refresh() }
func (w *twins) refresh()             { w.both("POST", "/_refresh", "") }

func (w *twins) get(t *rapid.T) {
	w.T = t
	id, routing := w.id(t)
	w.both("GET", fmt.Sprintf("/_doc/%s?routing=%s&realtime=%t", id, routing, rapid.Bool().Draw(t, "realtime")), "")
}

func (w *twins) multiGet(t *rapid.T) {
	w.T = t
	var docs []string
	for range rapid.IntRange(1, 8).Draw(t, "documents") {
		id, routing := w.id(t)
		doc := fmt.Sprintf(`{"_id":%q}`, id)
		if routing != "" {
			doc = fmt.Sprintf(`{"_id":%q,"routing":%q}`, id, routing)
		}
		docs = append(docs, doc)
	}
	w.both("POST", "/_mget", `{"docs":[`+strings.Join(docs, ",")+`]}`)
}

func (w *twins) search(t *rapid.T) {
	w.T = t
	body := strings.ReplaceAll(rapid.SampledFrom(searches).Draw(t, "search"), "$", fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "$")))
	switch rapid.IntRange(0, 5).Draw(t, "way") {
	case 0:
		w.both("POST", "/_count", `{"query":{"match":{"t":"common"}}}`)
	case 1:
		w.both("POST", "/_validate/query?rewrite=true", `{"query":{"prefix":{"k":"k1"}}}`)
	case 2:
		w.both("POST", "/_search?routing=r1", `{"size":200,"sort":["_id"],"query":{"term":{"_routing":"r1"}}}`)
	default:
		w.compare("POST", "/_search", body, w.scored())
	}
}

// point opens a point in time, reads in it, or ends it.
func (w *twins) point(t *rapid.T) {
	w.T = t
	if w.points[0] == "" {
		w.both("POST", "/_search/point_in_time?keep_alive=10m", "")
		return
	}
	if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
		w.endReading()
		return
	}
	w.both("POST", "//_search", `{"size":200,"sort":["n","_id"],"pit":{"id":"«point»"},"aggs":{"k":{"terms":{"field":"k","size":100,"min_doc_count":0,"order":{"_key":"asc"}}}}}`)
}

// scroll opens a scroll, or reads its next page.
func (w *twins) scroll(t *rapid.T) {
	w.T = t
	if w.scrolls[0] == "" {
		w.both("POST", "/_search?scroll=10m", `{"size":3,"sort":["k","_id"]}`)
		return
	}
	page := w.compare("POST", "//_search/scroll", `{"scroll":"10m","scroll_id":"«scroll»"}`, false)[0]
	if hits, _ := page["hits"].(map[string]any)["hits"].([]any); len(hits) == 0 {
		w.both("DELETE", "//_search/scroll/«scroll»", "")
		w.scrolls = [2]string{}
	}
}

func (w *twins) endReading() {
	if w.points[0] != "" {
		w.both("DELETE", "//_search/point_in_time", `{"pit_id":["«point»"]}`)
	}
	if w.scrolls[0] != "" {
		w.both("DELETE", "//_search/scroll/«scroll»", "")
	}
	w.points, w.scrolls = [2]string{}, [2]string{}
}

package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
)

// shown is a document as one of the ways in which a user sees documents shows it.
type shown struct {
	copied
	seqNo, term int64 // -1: it does not tell
	routing     string
}

// ways are those in which all documents are seen, while nobody writes.
var ways = []struct {
	name string
	list func(*lister)
}{
	{"pages of searches by _id", func(l *lister) { l.pages("/shelf/_search", `"sort":["_id"]`) }},
	{"pages of searches by _doc", func(l *lister) { l.pages("/shelf/_search", `"sort":["_doc"]`) }},
	{"a scroll", (*lister).scroll},
	{"a point in time", func(l *lister) {
		l.point(func(id string) { l.pages("/_search", fmt.Sprintf(`"pit":{"id":%q},"sort":["_shard_doc"]`, id)) })
	}},
	{"the rows of a point in time", func(l *lister) { l.point(l.rows) }},
}

// compare holds all ways in which documents are seen to what gets say, and gets to what the owners
// know.
func (r *restless) compare(url string) {
	r.t.Helper()
	for _, o := range r.owners { // a request of the life before may still be learning that it got no answer
		o.mu.Lock()
		defer o.mu.Unlock()
	}
	l := &lister{restless: r, url: url}
	l.ask("POST", "/shelf/_refresh", "", nil)
	truth := l.gets()
	r.compared += len(truth)
	for _, way := range ways {
		l.name, l.found = way.name, map[string]shown{}
		way.list(l)
		l.differences(truth)
	}
	l.counts(truth)
	l.name = "the metrics"
	shards := 0
	for line := range strings.Lines(string(ask(r.t, r.talk, 200, "GET", url+"/_reshelve/metrics", ""))) {
		if !strings.HasPrefix(line, "reshelve_shard_repairs_total{cause=\"count\"") {
			continue
		}
		if shards++; !strings.HasSuffix(line, "} 0\n") {
			r.t.Errorf("a shard has indexed again what searches lacked: %s", line)
		}
	}
	if shards == 0 {
		r.t.Error("the metrics tell of no shard whether it has indexed again what searches lacked")
	}
	if r.t.Failed() {
		var placed, movements json.RawMessage
		l.ask("GET", "/_reshelve/placement/shelf", "", &placed)
		l.ask("GET", "/_reshelve/movements", "", &movements)
		r.t.Logf("after kill %d\n%s\n%s", r.life, placed, movements)
	}
}

// lister lists documents in one way.
type lister struct {
	*restless
	url   string
	name  string
	found map[string]shown
}

// ask asks something that must be answered wholly.
func (l *lister) ask(method, path, body string, into any) {
	l.t.Helper()
	answer := ask(l.t, l.talk, 200, method, l.url+path, body)
	var shards struct {
		Shards struct{ Failed int } `json:"_shards"`
	}
	if json.Unmarshal(answer, &shards) == nil && shards.Shards.Failed > 0 {
		l.t.Errorf("%s: %s", l.name, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		l.t.Fatalf("%s %s: %v", method, path, err)
	}
}

func (h *hit) shown() shown {
	return shown{copied{string(h.Source), h.Version}, h.SeqNo, h.Term, h.Routing}
}

// gets gets every document that may be there, which settles what it is.
func (l *lister) gets() map[string]shown {
	l.t.Helper()
	truth := map[string]shown{}
	get := func(ids []string, routing func(string) string, settle func(string, copied)) {
		for chunk := range slices.Chunk(ids, 500) {
			var asked []string
			for _, id := range chunk {
				asked = append(asked, strings.ReplaceAll(fmt.Sprintf(`{"_id":%q,"routing":%q}`, id, routing(id)), `,"routing":""`, ""))
			}
			var got struct{ Docs []hit }
			l.ask("POST", "/shelf/_mget", `{"docs":[`+strings.Join(asked, ",")+`]}`, &got)
			for i, d := range got.Docs {
				if d.ID != chunk[i] || d.Routing != routing(d.ID) && d.Found {
					l.t.Errorf("a get of %s gives %+v", chunk[i], d)
				}
				if settle(d.ID, d.shown().copied); d.Found {
					truth[d.ID] = d.shown()
				}
			}
		}
	}
	for _, o := range l.owners {
		var ids []string
		for id := range o.may {
			ids = append(ids, id)
		}
		get(ids, o.routing, o.settle)
	}
	var kept []string
	for i := range keptDocs {
		kept = append(kept, fmt.Sprint("kept-", i))
	}
	get(kept, func(id string) string {
		if n := 0; idNumber(id, &n) && n%5 == 0 {
			return fmt.Sprint("r", n)
		}
		return ""
	}, func(id string, is copied) {
		if n := 0; !idNumber(id, &n) || is != (copied{fmt.Sprintf(`{"kind":"kept","n":%d}`, n), 1}) {
			l.t.Errorf("%s is %v", id, is)
		}
	})
	return truth
}

func idNumber(id string, n *int) bool {
	_, err := fmt.Sscanf(id, "kept-%d", n)
	return err == nil
}

// add notes a document that was found.
func (l *lister) add(id string, s shown) {
	if _, twice := l.found[id]; twice {
		l.t.Errorf("%s shows %s twice", l.name, id)
	}
	l.found[id] = s
}

// take notes a page, and gives the place behind it; nil when it was empty.
func (l *lister) take(p *page) json.RawMessage {
	var after json.RawMessage
	for _, h := range p.Hits.Hits {
		l.add(h.ID, h.shown())
		after = h.Sort
	}
	return after
}

const ofAPage = `{"size":700,"track_total_hits":true,"version":true,"seq_no_primary_term":true`

func (l *lister) pages(path, how string) {
	after := ""
	for total := -1; ; {
		var p page
		l.ask("POST", path, ofAPage+","+how+after+"}", &p)
		if total >= 0 && p.Hits.Total.Value != total {
			l.t.Errorf("%s: %d documents in all, and then %d", l.name, total, p.Hits.Total.Value)
		}
		total = p.Hits.Total.Value
		sort := l.take(&p)
		if sort == nil {
			if total != len(l.found) {
				l.t.Errorf("%s: %d documents in all, and %d are shown", l.name, total, len(l.found))
			}
			return
		}
		after = `,"search_after":` + string(sort)
	}
}

func (l *lister) scroll() {
	var p page
	l.ask("POST", "/shelf/_search?scroll=1m", ofAPage+"}", &p)
	for len(p.Hits.Hits) > 0 {
		l.take(&p)
		id := p.Scroll
		p = page{}
		l.ask("POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, id), &p)
	}
	l.ask("DELETE", "/_search/scroll/_all", "", nil)
}

func (l *lister) point(use func(id string)) {
	var opened page
	l.ask("POST", "/shelf/_search/point_in_time?keep_alive=1m", "", &opened)
	use(opened.Point)
	l.ask("DELETE", "/_search/point_in_time", fmt.Sprintf(`{"pit_id":[%q]}`, opened.Point), nil)
}

func (l *lister) rows(point string) {
	for after := "&"; after != ""; {
		left := ask(l.t, l.talk, 200, "GET", l.url+"/_reshelve/rows?bytes=100000&pit="+point+after, "")
		after = ""
		for {
			var row document.Row
			var err error
			if left, err = row.Read(left); err != nil {
				l.t.Fatalf("%s: %v", l.name, err)
			}
			if left == nil {
				break
			}
			l.add(string(row.ID), shown{copied{string(row.Source), row.Version}, -1, -1, string(row.Routing)})
			after = "&after=" + row.Place()
		}
	}
}

// differences tells what was found, and is not what gets say.
func (l *lister) differences(truth map[string]shown) {
	l.t.Helper()
	var missing, other []string
	for id, is := range truth {
		s, found := l.found[id]
		if s.seqNo == -1 {
			s.seqNo, s.term = is.seqNo, is.term
		}
		switch {
		case !found:
			missing = append(missing, id)
		case s != is:
			other = append(other, id)
		}
	}
	for id := range l.found {
		if _, is := truth[id]; !is {
			other = append(other, id)
		}
	}
	bySeqNo := func(a, b string) int { return cmp.Compare(truth[a].seqNo, truth[b].seqNo) }
	if slices.SortFunc(missing, bySeqNo); len(missing) > 0 {
		l.t.Errorf("%s misses %d of %d documents:%s", l.name, len(missing), len(truth), told40(missing, func(id string) any { return truth[id] }))
	}
	if slices.SortFunc(other, bySeqNo); len(other) > 0 {
		l.t.Errorf("%s shows %d of %d otherwise than a get:%s", l.name, len(other), len(truth), told40(other, func(id string) any {
			return fmt.Sprintf("%+v, a get %+v", l.found[id], truth[id])
		}))
	}
}

// told40 is a list of some documents.
func told40(ids []string, what func(id string) any) string {
	var list strings.Builder
	for _, id := range ids[:min(40, len(ids))] {
		fmt.Fprintf(&list, "\n\t%s %+v", id, what(id))
	}
	return list.String()
}

// counts holds everything that counts to the documents that there are.
func (l *lister) counts(truth map[string]shown) {
	l.t.Helper()
	of := map[string]int{} // documents by the values of their fields
	for _, s := range truth {
		var source struct{ Kind, Of string }
		_ = json.Unmarshal([]byte(s.source), &source)
		of["kind "+source.Kind]++
		if source.Of != "" {
			of["of "+source.Of]++
		}
	}
	hold := func(what string, is, should int) {
		l.t.Helper()
		if is != should {
			l.t.Errorf("%s is %d, and gets find %d", what, is, should)
		}
	}
	count := func(what, query string, should int) {
		l.t.Helper()
		var counted struct{ Count int }
		l.ask("POST", "/shelf/_count", query, &counted)
		hold("the count of "+what, counted.Count, should)
	}
	count("all", "", len(truth))
	for value, n := range of {
		field, is, _ := strings.Cut(value, " ")
		count(value+" by match", fmt.Sprintf(`{"query":{"match":{%q:%q}}}`, field, is), n)
		count(value+" by term", fmt.Sprintf(`{"query":{"term":{"%s.keyword":%q}}}`, field, is), n)
	}
	var a struct {
		Hits         struct{ Total struct{ Value int } }
		Aggregations map[string]struct {
			Buckets []struct {
				Key   string
				Count int `json:"doc_count"`
			}
			Value int
		}
	}
	l.ask("POST", "/shelf/_search", `{"size":0,"track_total_hits":true,"aggs":{"kind":{"terms":{"field":"kind.keyword"}},"of":{"terms":{"field":"of.keyword"}},"all":{"value_count":{"field":"kind.keyword"}}}}`, &a)
	hold("the total of an aggregation", a.Hits.Total.Value, len(truth))
	hold("a value_count", a.Aggregations["all"].Value, len(truth))
	buckets := 0
	for _, name := range []string{"kind", "of"} {
		for _, b := range a.Aggregations[name].Buckets {
			buckets++
			hold("the bucket of "+name+" "+b.Key, b.Count, of[name+" "+b.Key])
		}
	}
	hold("how many buckets there are", buckets, len(of))
	var cat []struct{ Count string }
	l.ask("GET", "/_cat/count/shelf?format=json", "", &cat)
	if len(cat) != 1 || cat[0].Count != fmt.Sprint(len(truth)) {
		l.t.Errorf("_cat/count tells %v, and gets find %d", cat, len(truth))
	}
}

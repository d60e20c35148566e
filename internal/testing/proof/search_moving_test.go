package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// moving is an index under writers: its documents kept-… stay as they are, moved-… are
// written anew all the time and never gone, fleeting-… come and go.
type moving struct {
	t    *testing.T
	talk *Talk
	url  string
	name string
}

const (
	kept     = 60
	moved    = 60
	fleeting = 40
)

// TestSearchAgreesWithGet reads while others write: a point in time tells the same
// again and again, a scroll shows each document of its beginning once, a search finds
// each document that is there once. Then the server is killed, and what searches find is
// what gets find.
func TestSearchAgreesWithGet(t *testing.T) {
	s, dir := seed(t), dataFolder(t)
	p, url := serve(t, dir)
	var all []*moving
	for _, shards := range []int{1, 3} {
		m := &moving{t, talk(t), url, fmt.Sprintf("proof-moving-%d", shards)}
		ask(t, m.talk, 200, "PUT", url+"/"+m.name, fmt.Sprintf(`{"settings":{"number_of_shards":%d,"number_of_replicas":0,"refresh_interval":"20ms"},"mappings":{"properties":{"n":{"type":"long"},"k":{"type":"keyword"},"t":{"type":"text"}}}}`, shards))
		m.begin()
		all = append(all, m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var working sync.WaitGroup
	var reads atomic.Int64
	for i, m := range all {
		for w := range 2 {
			dice := rand.New(rand.NewPCG(s, uint64(i*10+w)))
			working.Go(func() { m.write(ctx, dice) })
		}
		for _, read := range []func(){m.point, m.scroll, m.search} {
			working.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					read()
					reads.Add(1)
				}
			})
		}
	}
	<-ctx.Done()
	working.Wait()
	for _, m := range all {
		m.agree()
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	_, url = serve(t, dir)
	for _, m := range all {
		m.url = url
		m.agree()
	}
	t.Logf("%d readings under writes", reads.Load())
}

// begin writes the documents that are there from the beginning.
func (m *moving) begin() {
	var bulk strings.Builder
	for i := range kept {
		fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"kept-%d\"}}\n{\"n\":%d,\"k\":\"k%d\",\"t\":\"stays here\"}\n", i, i, i%7)
	}
	for i := range moved {
		fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"moved-%d\"}}\n{\"n\":%d,\"k\":\"k%d\",\"t\":\"moves about\"}\n", i, i, i%7)
	}
	ask(m.t, m.talk, 200, "POST", m.url+"/"+m.name+"/_bulk?refresh=true", bulk.String())
}

// write moves documents until ctx ends.
func (m *moving) write(ctx context.Context, dice *rand.Rand) {
	for ctx.Err() == nil && !m.t.Failed() {
		var bulk strings.Builder
		for range 1 + dice.IntN(30) {
			n := dice.IntN(1000)
			switch dice.IntN(4) {
			case 0:
				fmt.Fprintf(&bulk, "{\"update\":{\"_id\":\"moved-%d\",\"retry_on_conflict\":9}}\n{\"doc\":{\"n\":%d,\"k\":\"k%d\"}}\n", dice.IntN(moved), n, n%7)
			case 1:
				fmt.Fprintf(&bulk, "{\"delete\":{\"_id\":\"fleeting-%d\"}}\n", dice.IntN(fleeting))
			case 2:
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"fleeting-%d\"}}\n{\"n\":%d,\"k\":\"k%d\"}\n", dice.IntN(fleeting), n, n%7)
			default:
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"moved-%d\"}}\n{\"n\":%d,\"k\":\"k%d\",\"t\":\"moves about\"}\n", dice.IntN(moved), n, n%7)
			}
		}
		ask(m.t, m.talk, 200, "POST", m.url+"/"+m.name+"/_bulk", bulk.String())
	}
}

// page is what an answer to a search says.
type page struct {
	found
	Scroll       string          `json:"_scroll_id"`
	Point        string          `json:"pit_id"`
	Aggregations json.RawMessage `json:"aggregations"`
}

func (m *moving) ask(method, path, body string) (p page) {
	content := []byte(body)
	if body == "" {
		content = nil
	}
	answer, err := m.talk.Do(m.t.Context(), method, m.url+path, content)
	if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, &p) != nil {
		m.t.Errorf("%s %s %s: %s %v", method, path, body, answer, err)
	}
	return p
}

// point asks a point in time the same several times.
func (m *moving) point() {
	id := quoted(m.ask("POST", "/"+m.name+"/_search/point_in_time?keep_alive=1m", "").Point)
	body := `{"size":500,"track_total_hits":true,"sort":["n","_id"],"version":true,"pit":{"id":` + id + `},"aggs":{"k":{"terms":{"field":"k"},"aggs":{"n":{"stats":{"field":"n"}}}}}}`
	first := ""
	for i := range 4 {
		p := m.ask("POST", "/_search", body)
		told := encoded(p.Hits) + string(p.Aggregations)
		if i == 0 {
			first = told
			m.each("a point in time", p.Hits.Hits, p.Hits.Total.Value)
		} else if told != first {
			m.t.Errorf("a point in time of %s told\n%s\nand then\n%s", m.name, first, told)
		}
	}
	m.ask("DELETE", "/_search/point_in_time", `{"pit_id":[`+id+`]}`)
}

// scroll reads an index page by page while it moves.
func (m *moving) scroll() {
	p := m.ask("POST", "/"+m.name+"/_search?scroll=1m", `{"size":17,"sort":["_doc"],"track_total_hits":true}`)
	total, id := p.Hits.Total.Value, quoted(p.Scroll)
	var all []hit
	for len(p.Hits.Hits) > 0 {
		all = append(all, p.Hits.Hits...)
		p = m.ask("POST", "/_search/scroll", `{"scroll":"1m","scroll_id":`+id+`}`)
	}
	m.each("a scroll", all, total)
	m.ask("DELETE", "/_search/scroll", `{"scroll_id":`+id+`}`)
}

// search looks for all at once.
func (m *moving) search() {
	p := m.ask("POST", "/"+m.name+"/_search", `{"size":500,"track_total_hits":true,"query":{"match_all":{}}}`)
	m.each("a search", p.Hits.Hits, p.Hits.Total.Value)
	p = m.ask("POST", "/"+m.name+"/_search", `{"size":500,"track_total_hits":true,"query":{"match":{"t":"here"}}}`)
	if len(p.Hits.Hits) != kept || p.Hits.Total.Value != kept {
		m.t.Errorf("a search of %s finds %d of %d documents that stay, and tells %d", m.name, len(p.Hits.Hits), kept, p.Hits.Total.Value)
	}
}

// each holds hits to what must be there: those that are never gone once each, and no
// document twice.
func (m *moving) each(what string, hits []hit, total int) {
	seen := map[string]bool{}
	stay := 0
	for _, h := range hits {
		if seen[h.ID] {
			m.t.Errorf("%s of %s shows %s twice", what, m.name, h.ID)
		}
		seen[h.ID] = true
		if !strings.HasPrefix(h.ID, "fleeting-") {
			stay++
		}
	}
	if stay != kept+moved || len(hits) != total {
		m.t.Errorf("%s of %s shows %d documents that are never gone, not %d, and %d in all, not %d", what, m.name, stay, kept+moved, len(hits), total)
	}
}

// agree compares searches by values with gets, while nobody writes.
func (m *moving) agree() {
	m.t.Helper()
	ask(m.t, m.talk, 200, "POST", m.url+"/"+m.name+"/_refresh", "")
	var ids []string
	for prefix, n := range map[string]int{"kept": kept, "moved": moved, "fleeting": fleeting} {
		for i := range n {
			ids = append(ids, fmt.Sprintf("%s-%d", prefix, i))
		}
	}
	var gets struct{ Docs []hit }
	list, _ := json.Marshal(ids)
	if err := json.Unmarshal(ask(m.t, m.talk, 200, "POST", m.url+"/"+m.name+"/_mget", `{"ids":`+string(list)+`}`), &gets); err != nil {
		m.t.Fatal(err)
	}
	by := map[string][]string{} // ids by k
	for _, d := range gets.Docs {
		var source struct{ K string }
		if d.Found {
			_ = json.Unmarshal(d.Source, &source)
			by[source.K] = append(by[source.K], d.ID)
		}
	}
	for k, want := range by {
		p := m.ask("POST", "/"+m.name+"/_search", fmt.Sprintf(`{"size":500,"query":{"term":{"k":%q}}}`, k))
		var got []string
		for _, h := range p.Hits.Hits {
			got = append(got, h.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			m.t.Errorf("%s of %s: searches find %v, gets %v", k, m.name, got, want)
		}
	}
}

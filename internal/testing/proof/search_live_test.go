package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// ask puts a question to one server.
func (p *pair) ask(q question, at string) (status int, body []byte, err error) {
	names := strings.Split(q.index, ",")
	for i := range names {
		names[i] = p.prefix + names[i]
	}
	path := "/" + strings.Join(names, ",")
	once := func(c call) (int, []byte, error) {
		answer, err := p.send(c, at)
		return answer.Status, answer.Body, err
	}
	switch q.way {
	case "count":
		return once(call{"POST", path + "/_count", "application/json", q.body})
	case "validate":
		return once(call{"POST", path + "/_validate/query?explain=true", "application/json", q.body})
	case "msearch":
		return once(call{"POST", path + "/_msearch", "application/x-ndjson", "{}\n" + q.body + "\n{}\n{\"size\":0}\n"})
	case "search":
		return once(call{"POST", path + "/_search", "application/json", q.body})
	}
	w := walk{p: p, at: at, path: path}
	switch q.way {
	case "pages":
		w.pages(path, q.body)
	case "point":
		w.point(q.body)
	case "scroll":
		w.scroll(q.body)
	case "slices":
		for i := range 3 {
			w.scroll(with(q.body, fmt.Sprintf(`"slice":{"id":%d,"max":3}`, i)))
		}
	}
	return w.told()
}

// with adds a member to the text of an object.
func with(body, member string) string {
	return strings.Replace(strings.TrimSuffix(body, "}")+","+member+"}", "{,", "{", 1)
}

// walk reads all pages of a search.
type walk struct {
	p        *pair
	at, path string
	asked    int
	hits     []any
	totals   []any
	failed   *Answer
	err      error
}

// page asks for one page, and tells its hits; nil at the end and after a failure.
func (w *walk) page(c call) (hits []any, answer members) {
	if w.asked++; w.failed != nil || w.err != nil || w.asked > 200 {
		return nil, nil
	}
	a, err := w.p.send(c, w.at)
	if w.err = err; err != nil {
		return nil, nil
	}
	answer, _ = decoded(a.Body).(members)
	outer, _ := answer["hits"].(members)
	if a.Status != 200 || outer == nil {
		w.failed = &a
		return nil, answer
	}
	hits, _ = outer["hits"].([]any)
	w.hits = append(w.hits, hits...)
	w.totals = append(w.totals, outer["total"])
	return hits, answer
}

func (w *walk) pages(path, body string) {
	after := ""
	for {
		asked := body
		if after != "" {
			asked = with(body, after)
		}
		hits, _ := w.page(call{"POST", path + "/_search", "application/json", asked})
		if len(hits) == 0 {
			return
		}
		last, _ := hits[len(hits)-1].(members)
		after = `"search_after":` + encoded(last["sort"])
	}
}

func (w *walk) point(body string) {
	a, err := w.p.send(call{"POST", w.path + "/_search/point_in_time?keep_alive=1m", "", ""}, w.at)
	point, _ := decoded(a.Body).(members)
	if w.err = err; err != nil || a.Status != 200 {
		w.failed = &a
		return
	}
	id := encoded(point["pit_id"])
	w.pages("", with(body, `"pit":{"id":`+id+`,"keep_alive":"1m"}`))
	_, _ = w.p.send(call{"DELETE", "/_search/point_in_time", "application/json", `{"pit_id":[` + id + `]}`}, w.at)
}

func (w *walk) scroll(body string) {
	hits, answer := w.page(call{"POST", w.path + "/_search?scroll=1m", "application/json", body})
	id, is := answer["_scroll_id"]
	if !is {
		return
	}
	for len(hits) > 0 {
		hits, _ = w.page(call{"POST", "/_search/scroll", "application/json", `{"scroll":"1m","scroll_id":` + encoded(id) + `}`})
	}
	_, _ = w.p.send(call{"DELETE", "/_search/scroll", "application/json", `{"scroll_id":` + encoded(id) + `}`}, w.at)
}

// told is what all pages showed, as one answer.
func (w *walk) told() (int, []byte, error) {
	if w.err != nil {
		return 0, nil, w.err
	}
	if w.failed != nil {
		return w.failed.Status, w.failed.Body, nil
	}
	return 200, []byte(encoded(members{"hits": members{"hits": w.hits, "totals": w.totals}})), nil
}

// answerTo is what one server answers, in the form that two share.
func (p *pair) answerTo(q question, at string) string {
	scored := q.index == whole
	first, last := false, false
	if q.way == "search" {
		body, _ := decoded([]byte(q.body)).(members)
		first = body["from"] != nil && fmt.Sprint(body["from"]) != "0"
		last = fmt.Sprint(body["size"]) != "200"
	}
	status, body, err := p.ask(q, at)
	if err != nil {
		return err.Error()
	}
	text := strings.ReplaceAll(comparable(status, body, scored), p.prefix, "")
	if q.way == "slices" || strings.Contains(q.body, `"_doc"`) {
		text = unordered(text)
	}
	if strings.Contains(q.index, parts) || strings.Contains(q.body, "_geo_distance") {
		text = rounded(text)
	}
	if first || last {
		text = uncut(text, scored, first, last)
	}
	return text
}

// compareSearch asks both, and tells how the answers differ; "" when they do not, but
// for what the table of differences explains.
func (p *pair) compareSearch(q question) (want, got string) {
	want, got = p.answerTo(q, p.theirs), p.answerTo(q, p.ours)
	if want == got {
		return "", ""
	}
	for _, d := range searchDifferences {
		if d.explains(call{"POST", "/" + q.index + "/" + q.way, "application/json", q.body}, want, got) {
			return "", ""
		}
	}
	return want, got
}

// fraction is a fraction of which the last digits depend on how numbers were added up.
var fraction = regexp.MustCompile(`-?\d+\.\d+(E-?\d+)?`)

// rounded writes the fractions of an answer from several shards, whose documents are not
// the server's, with ten digits; distances, too, which two libraries compute with other
// sines.
func rounded(text string) string {
	return fraction.ReplaceAllStringFunc(text, func(digits string) string {
		f, _ := strconv.ParseFloat(digits, 64)
		return strconv.FormatFloat(f, 'g', 10, 64)
	})
}

// unordered sorts the hits of several walks.
func unordered(text string) string {
	status, body, _ := strings.Cut(text, " ")
	answer, _ := decoded([]byte(body)).(members)
	outer, _ := answer["hits"].(members)
	hits, _ := outer["hits"].([]any)
	delete(outer, "totals")
	for _, hit := range hits {
		if h, is := hit.(members); is {
			delete(h, "sort")
		}
	}
	settle(answer, false)
	return status + " " + encoded(answer)
}

// besideAll is beside a real OpenSearch that has all modules. RESHELVE_LIVE_ALL_AT names
// one that runs already.
func besideAll(t *testing.T) *pair {
	t.Helper()
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	p := &pair{client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 4, DisableCompression: true}}}
	t.Cleanup(p.client.CloseIdleConnections)
	if p.theirs = os.Getenv("RESHELVE_LIVE_ALL_AT"); p.theirs == "" {
		p.theirs = startOpenSearch(t, servers.OpenSearch("2.19.0").WithEverything())
	}
	_, p.ours = serve(t, dataFolder(t))
	return p
}

func startOpenSearch(t *testing.T, version servers.Version) (url string) {
	t.Helper()
	server, err := servers.Start(context.Background(), version, servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// lay makes the indices of a world in both servers.
func (p *pair) lay(all []documents) error {
	for _, d := range all {
		for _, c := range d.making(p.prefix) {
			if c.body == "" && strings.HasSuffix(c.path, "/_bulk") {
				continue
			}
			var told [2]bool
			for i, at := range []string{p.theirs, p.ours} {
				answer, err := p.send(c, at)
				if err != nil || answer.Status != 200 {
					return fmt.Errorf("%s: %s %w", c, answer, err)
				}
				told[i] = strings.Contains(string(answer.Body), `"errors":true`)
			}
			if told[0] != told[1] {
				return fmt.Errorf("a bulk has errors: %v at OpenSearch, %v here: %s", told[0], told[1], c)
			}
		}
	}
	return nil
}

// TestLiveSearch puts generated searches over generated documents to a real OpenSearch
// 2.19.0 and to the binary. PROOF_ROUNDS is the number of worlds of documents,
// PROOF_QUESTIONS that of searches in each; PROOF_COLLECT=1 goes on after a difference
// and lists one of each kind. What is asked is always the same unless PROOF_SEED says
// otherwise: a search for what nobody has met yet is not a matter of each change.
func TestLiveSearch(t *testing.T) {
	p, s := besideAll(t), uint64(22)
	if os.Getenv("PROOF_SEED") != "" {
		s = seed(t)
	}
	rounds, each := number(t, "PROOF_ROUNDS", 4), number(t, "PROOF_QUESTIONS", 250)
	collect := os.Getenv("PROOF_COLLECT") != ""
	generator := rapid.Custom(func(t *rapid.T) question { return (&asker{T: t}).question() })
	asked, met := map[string]int{}, map[string]bool{}
	began := time.Now()
	for round := range rounds {
		p.prefix = fmt.Sprintf("ps%d-%d-", os.Getpid(), round)
		a := author{rand.New(rand.NewPCG(s, uint64(round)))}
		world := []documents{a.fill(whole), a.fill(churned), a.fill(parts)}
		if err := p.lay(world); err != nil {
			t.Fatal(err)
		}
		for i := range each {
			q := generator.Example(int((s*1e6 + uint64(round*each+i)) % 1e15))
			asked[q.way]++
			want, got := p.compareSearch(q)
			if want == got {
				continue
			}
			report := p.smallest(q, world, met, collect)
			if report == once && p.answerTo(q, p.ours) == got {
				t.Logf("OpenSearch answered otherwise when it was asked again: %s of %s: %s", q.way, q.index, q.body)
				continue
			}
			if report == once {
				report = fmt.Sprintf("seen once: %s of %s: %s\nOpenSearch: %s\nhere:       %s", q.way, q.index, q.body, want, got)
			}
			if report == "" {
				continue
			}
			t.Errorf("DIFFERENCE %s", report)
			if !collect {
				break
			}
		}
		p.clear(nil)
		if t.Failed() && !collect {
			break
		}
	}
	told, _ := json.Marshal(asked)
	t.Logf("asked in %s: %s", time.Since(began).Round(time.Second), told)
}

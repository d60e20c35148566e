package query

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// tell is an error as testdata writes it.
func tell(err error) string {
	e := exception.From(err)
	out := fmt.Sprintf("%d %s", e.Status(), chain(e))
	return strings.ReplaceAll(out, "\n", `\n`)
}

func chain(e *exception.Error) string {
	out := string(e.Type) + ": " + e.Reason
	for _, field := range e.Fields {
		out += fmt.Sprintf(" %s=%v", field.Name, field.Value)
	}
	if e.Cause != nil {
		out += " <- " + chain(e.Cause)
	}
	return out
}

// boosted is how the server tells a query whose boost is negative: all of it.
var boosted = regexp.MustCompile(`are not allowed in \[.*?\], use a value`)

// answers reads a file of testdata: bodies, each with the answer of OpenSearch 2.19.0 on
// the next line.
func answers(t *testing.T, name string) (pairs [][2]string) {
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		body := lines.Text()
		lines.Scan()
		pairs = append(pairs, [2]string{body, strings.TrimSpace(lines.Text())})
	}
	return pairs
}

// otherwise are bodies that we tell something else about, and why.
var otherwise = map[string]string{
	`{"terms":{"k":[{"a":1}]}}`: "an object is no value: the server looks for its brackets", `{"terms":{"k":[{}]}}`: "so", `{"terms":{"k":[{"a":1},"y"]}}`: "so",
	`{"function_score":{"gauss":{"n":{"origin":1,"scale":2,"foo":1}}}}`: "the server tells it at the shards",
	`{"wrapper":{"query":"###"}}`:                                       "the library's words about base64",
	`{"term":{"k":{"value":{}}}}`:                                       "the server loses count of brackets",
	`{"track_total_hits":-2}`:                                           "refused as in the URL",

	`delete {"query":{"term":{"k":"zzz"}},"slice":{"id":3,"max":2}}`: "the server reads members in the order of a hash map", `update {"query":{"term":{"k":"zzz"}},"slice":{"id":3,"max":2}}`: "so",
	`delete []`: "refused before it is looked for a query", `reindex {"source":{"index":5},"dest":{"index":"qp-b"}}`: "another place",
}

// same compares what we say of a body with what the server says.
func same(t *testing.T, body, want string, err error) {
	t.Helper()
	got := "ok"
	if err != nil {
		got = strings.TrimSpace(tell(err))
	}
	if strings.HasPrefix(want, "ok") || strings.HasPrefix(want, "shards") {
		want = "ok" // the shards are not asked here
	}
	if strings.Contains(got, "not supported by this version of reshelve") && !strings.HasPrefix(want, "500") {
		return // by name: see TestUnsupported
	}
	want = strings.TrimPrefix(want, "400 action_request_validation_exception: Validation Failed: 1: [indices] cannot be used with point in time;")
	if want == "" { // of the gateway
		want = "ok"
	}
	if why := otherwise[body]; why != "" {
		if got == want {
			t.Errorf("%s: said to differ: %s", body, why)
		}
		return
	}
	got, want = boosted.ReplaceAllString(got, "are not allowed, use a value"), boosted.ReplaceAllString(want, "are not allowed, use a value")
	if got != want {
		t.Errorf("%s\ngives %s\nwant  %s", body, got, want)
	}
}

func TestClausesAsTheServer(t *testing.T) {
	for _, pair := range answers(t, "clauses.gz") {
		_, err := ReadSearch([]byte(`{"query":` + pair[0] + `}`))
		same(t, pair[0], pair[1], err)
	}
}

func TestBodiesAsTheServer(t *testing.T) {
	for _, pair := range answers(t, "bodies.gz") {
		_, err := ReadSearch([]byte(pair[0]))
		same(t, pair[0], pair[1], err)
	}
}

// notOurs refuses an error that blames nobody, and sizes that are none.
func notOurs(t *testing.T, body []byte, err error) {
	t.Helper()
	if err != nil && exception.From(err).Type == exception.Unknown {
		t.Errorf("%s: %v is no exception", body, err)
	}
}

func FuzzReadSearch(f *testing.F) {
	for _, seed := range []string{
		`{"query":{"bool":{"must":[{"match":{"t":{"query":"x","fuzziness":"AUTO:1,3"}}}],"filter":{"range":{"d":{"gte":"now/d","time_zone":"+01:00"}}}}},"sort":[{"n":{"order":"desc","missing":"_last"}},"_doc"],"search_after":[1,"x"]}`,
		`{"query":{"function_score":{"functions":[{"random_score":{"seed":"a"}},{"gauss":{"n":{"origin":1,"scale":"2d"}}}]}},"highlight":{"fields":{"t":{}}}}`,
		`{"query":{"geo_distance":{"distance":"1km","g":["1",2]}},"sort":{"_geo_distance":{"g":"s00"}}}`,
		`{"query":{"nested":{"path":"o","query":{"wrapper":{"query":"eyJtYXRjaF9hbGwiOnt9fQ=="}},"inner_hits":{"_source":["a"]}}},"slice":{"id":1,"max":4},"pit":{"id":"x"}}`,
		`{"query":{"query_string":{"query":"a","fields":["t^2"],"time_zone":"Europe/Paris"}},"_source":{"includes":["a"]},"stored_fields":"_none_","fields":["a",{"field":"b","format":"yyyy"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := ReadSearch(body)
		notOurs(t, body, err)
		if err == nil && (s.From < 0 || s.Size < 0 || s.TrackTotal < TrackUsual) {
			t.Errorf("%s: %+v", body, s)
		}
	})
}

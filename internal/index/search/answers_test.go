package search_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// The files testdata/answers/*.txt.gz are conversations with OpenSearch 2.19.0 about an
// index of one shard and one segment:
//
//	index NAME MAPPINGS   an index is made
//	doc NAME SOURCE       a document is added; its id is how many there were before
//	search NAME BODY      a search that asks for all hits
//	200 ANSWER            what it said: {"total":…,"max":…,"hits":[[id,score,sort,matched],…]}, or
//	400 TYPE: REASON      the root cause
type conversation struct {
	name, mappings string
	docs           []string
	asked          []question
}

type question struct {
	line         int
	body, answer string
}

// told is an answer.
type told struct {
	Total int64
	Max   *float32
	Hits  []toldHit
}

type toldHit struct {
	id      string
	score   string
	sort    string
	matched string
}

// UnmarshalJSON reads [id, score, sort, matched].
func (h *toldHit) UnmarshalJSON(data []byte) error {
	var parts [4]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	h.score, h.sort, h.matched = string(parts[1]), plainNumbers(parts[2]), string(parts[3])
	if f, err := strconv.ParseFloat(h.score, 32); err == nil {
		h.score = fmt.Sprint(float32(f))
	}
	return json.Unmarshal(parts[0], &h.id)
}

// plainNumbers writes the real numbers of an array in one way.
func plainNumbers(array json.RawMessage) string {
	var values []json.RawMessage
	if err := json.Unmarshal(array, &values); err != nil || values == nil {
		return string(array)
	}
	for i, v := range values {
		if f, err := strconv.ParseFloat(string(v), 64); err == nil && strings.ContainsAny(string(v), ".e") {
			values[i] = json.RawMessage(java.Double(f))
		}
	}
	return asJSON(values)
}

func readConversation(t *testing.T, path string) *conversation {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var from io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if from, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	c := &conversation{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<26)
	for n := 1; lines.Scan(); n++ {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		_, body, _ := strings.Cut(rest, " ")
		switch verb {
		case "index":
			c.name, c.mappings, _ = strings.Cut(rest, " ")
		case "doc":
			c.docs = append(c.docs, body)
		case "search":
			c.asked = append(c.asked, question{line: n, body: body})
		default:
			c.asked[len(c.asked)-1].answer = lines.Text()
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// index makes the index, in one segment.
func (c *conversation) index(t *testing.T) search.Index {
	m, err := mapping.Parse([]byte(c.mappings), mapping.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	index := search.Index{Number: 1, Name: c.name, Schema: fields.New(m, a)}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for i, doc := range c.docs {
		id := fmt.Sprint(i)
		if err := w.Add(index.Schema, segment.Identity{Key: routing.KeyOf(id, "", 1), ID: id, SeqNo: int64(i)}, "", []byte(doc)); err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	index.Sources = []search.Source{{Views: []segment.View{{Segment: s}}}}
	return index
}

// TestAnswersOfAServer asks what a server was asked. Scores are the same to the last digit;
// hits come in the same order, but for those that nothing but their place orders.
func TestAnswersOfAServer(t *testing.T) {
	paths, err := filepath.Glob(cmp.Or(os.Getenv("RESHELVE_ANSWERS"), "testdata/answers/*.txt.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no answers", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c := readConversation(t, path)
			index := c.index(t)
			wrong := 0
			for _, q := range c.asked {
				if why := q.ask(index); why != "" {
					t.Errorf("line %d: %s\n%s", q.line, q.body, why)
					if wrong++; wrong > 20 {
						t.Fatal("and more")
					}
				}
			}
		})
	}
}

// ask tells how our answer differs.
func (q *question) ask(index search.Index) string {
	got, err := run(index, q.body)
	status, rest, _ := strings.Cut(q.answer, " ")
	if status != "200" {
		if err == nil {
			return "found something, want " + q.answer
		}
		var e *exception.Error
		if !errors.As(err, &e) || fmt.Sprintf("%s: %s", e.Root().Type, e.Root().Reason) != rest {
			return fmt.Sprintf("got %v\nwant %s", err, q.answer)
		}
		return ""
	}
	if err != nil {
		return "got " + err.Error()
	}
	var want told
	if err := json.Unmarshal([]byte(rest), &want); err != nil {
		return err.Error()
	}
	return difference(got, want)
}

func run(index search.Index, body string) (search.Result, error) {
	s, err := query.ReadSearch([]byte(body))
	if err != nil {
		return search.Result{}, err
	}
	r := search.NewRequest()
	r.Query, r.PostFilter, r.MinScore, r.Sort, r.Size, r.TrackTotal, r.TrackScore = s.Query, s.PostFilter, s.MinScore, s.Sort, s.From+s.Size, -1, s.TrackScores
	if r.Query == nil {
		r.Query = search.NewRequest().Query
	}
	return search.Run(context.Background(), []search.Index{index}, r)
}

// difference tells the first difference.
func difference(got search.Result, want told) string {
	if got.Total != want.Total {
		return fmt.Sprintf("total %d, want %d", got.Total, want.Total)
	}
	if (got.MaxScore == nil) != (want.Max == nil) || want.Max != nil && *got.MaxScore != *want.Max {
		return fmt.Sprintf("greatest score %v, want %v", deref(got.MaxScore), deref(want.Max))
	}
	hits := make([]toldHit, len(got.Hits))
	for i := range got.Hits {
		hits[i] = tell(&got.Hits[i], got.Scored)
	}
	tie(hits)
	tie(want.Hits)
	for i := range max(len(hits), len(want.Hits)) {
		if i >= len(hits) || i >= len(want.Hits) {
			return fmt.Sprintf("%d hits, want %d", len(hits), len(want.Hits))
		}
		if hits[i] != want.Hits[i] {
			return fmt.Sprintf("hit %d is %v, want %v", i, hits[i], want.Hits[i])
		}
	}
	return ""
}

func deref(f *float32) any {
	if f == nil {
		return nil
	}
	return *f
}

// tell puts a hit into the form of an answer.
func tell(h *search.Hit, scored bool) toldHit {
	out := toldHit{id: h.ID, score: "null", sort: "null", matched: "null"}
	if scored {
		out.score = fmt.Sprint(h.Score)
	}
	if h.Sort != nil {
		values := make([]any, len(h.Sort))
		for i, v := range h.Sort {
			switch {
			case v.Null:
			case v.Kind == search.Textual:
				values[i] = string(v.Text)
			case v.Kind == search.Fractional:
				values[i] = json.RawMessage(java.Double(v.F))
			case v.Kind == search.Unsigned:
				values[i] = uint64(v.N)
			default:
				values[i] = v.N
			}
		}
		out.sort = asJSON(values)
	}
	if len(h.Matched) > 0 {
		out.matched = asJSON(h.Matched)
	}
	return out
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// tie orders hits by id that follow each other with the same score and the same values.
func tie(hits []toldHit) {
	for from := 0; from < len(hits); {
		to := from
		for to < len(hits) && hits[to].score == hits[from].score && hits[to].sort == hits[from].sort {
			to++
		}
		slices.SortFunc(hits[from:to], func(a, b toldHit) int { return cmp.Compare(a.id, b.id) })
		from = to
	}
}

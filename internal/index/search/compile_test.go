package search_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
)

var update = flag.Bool("update", false, "write the plans that are made now into testdata/compile")

// TestCompiled compares plans with what was written down: testdata/compile/*.txt have for each
// query (?) what OpenSearch 2.19.0 answered to _validate/query?explain=true (=), the same
// with rewrite=true where it differs (R), or the error of _search (!), what that found (H:
// how many, ids and scores), and below our plan, or our error (>). Their index is that of
// testdata/compile/index.json.
func TestCompiled(t *testing.T) {
	index := newIndex(t)
	files, err := filepath.Glob("testdata/compile/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { comparePlans(t, index, file) })
	}
}

func comparePlans(t *testing.T, index *indexed, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	for n, one := range cases {
		asked, _, _ := strings.Cut(strings.TrimPrefix(one, "? "), "\n")
		told, want, _ := strings.Cut(one, "\n> ")
		got := index.plan(t, asked)
		if got != want && !*update {
			t.Errorf("%s\n got %s\nwant %s", told, got, want)
		}
		cases[n] = told + "\n> " + got
		if _, hits, ok := strings.Cut(told, "\nH "); ok {
			if got := index.hits(t, asked); got != hits {
				t.Errorf("%s\n got %s\nwant %s", asked, got, hits)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(cases, "\n\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// indexed is an index of some documents.
type indexed struct {
	search.Index
}

// now is 2024-05-06T07:08:09.010Z.
const now = 1714979289010

func (i *indexed) plan(t *testing.T, body string) string {
	s, err := query.ReadSearch([]byte(`{"query":` + body + `}`))
	text := ""
	if err == nil {
		text, err = search.Describe(&i.Index, s.Query, now, search.Limits{})
	}
	var e *exception.Error
	switch {
	case err == nil:
		return text
	case !errors.As(err, &e):
		t.Errorf("%s: %v", body, err)
		return err.Error()
	}
	return strconv.Itoa(e.Status()) + " " + strings.ReplaceAll(brief(e), "\n", " ")
}

// hits are what a search finds, by id.
func (i *indexed) hits(t *testing.T, body string) string {
	s, err := query.ReadSearch([]byte(`{"query":` + body + `}`))
	if err != nil {
		return err.Error()
	}
	r := search.NewRequest()
	r.Query, r.Now = s.Query, now
	found, err := search.Run(t.Context(), []search.Index{i.Index}, r)
	if err != nil {
		return err.Error()
	}
	texts := make([]string, len(found.Hits))
	for n, hit := range found.Hits {
		texts[n] = hit.ID + ":" + java.Float(hit.Score)
	}
	slices.Sort(texts)
	return strings.Join(append([]string{strconv.FormatInt(found.Total, 10)}, texts...), " ")
}

// brief is an error with its causes; a reason that was told before is SAME.
func brief(e *exception.Error) string {
	text := string(e.Type) + ": " + e.Reason
	switch {
	case e.Cause == nil:
	case strings.Contains(e.Reason, e.Cause.Reason):
		text += " <- SAME " + string(e.Cause.Type)
	default:
		text += " <- " + brief(e.Cause)
	}
	return text
}

// newIndex reads testdata/compile/index.json and makes a segment of its documents.
func newIndex(t testing.TB) *indexed {
	t.Helper()
	data, err := os.ReadFile("testdata/compile/index.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Settings, Mappings json.RawMessage
		Docs               []json.RawMessage
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var settings any
	if err := json.Unmarshal(file.Settings, &settings); err != nil {
		t.Fatal(err)
	}
	flat := map[string][]string{}
	flatten(flat, "index", settings)
	a, err := analysis.New(flat)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse(file.Mappings, mapping.Unlimited(mapping.DefaultLimits))
	if err != nil {
		t.Fatal(err)
	}
	schema := fields.New(m, a)
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for n, doc := range file.Docs {
		if err := w.Add(schema, segment.Identity{ID: strconv.Itoa(n + 1), SeqNo: int64(n)}, "", doc); err != nil {
			t.Fatal(err)
		}
	}
	bytes, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(bytes)
	if err != nil {
		t.Fatal(err)
	}
	views := []segment.View{{Segment: s}}
	return &indexed{search.Index{Name: "plans-a", UUID: "uuid", Schema: schema, Sources: []search.Source{{Views: views}}}}
}

// flatten puts settings under their full names.
func flatten(into map[string][]string, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			flatten(into, name+"."+key, below)
		}
	case []any:
		for _, item := range v {
			into[name] = append(into[name], fmt.Sprint(item))
		}
	default:
		into[name] = []string{fmt.Sprint(v)}
	}
}

// TestPlansThatReadAlike: plans with the same text are two when they find different things.
func TestPlansThatReadAlike(t *testing.T) {
	index := newIndex(t)
	for _, c := range []struct {
		first, second string
		want          int64
	}{
		{`{"prefix":{"title":"Qu"}}`, `{"prefix":{"title":{"value":"Qu","case_insensitive":true}}}`, 2},
		{`{"terms":{"title":["quick silver"]}}`, `{"terms":{"title":["quick","silver"]}}`, 2},
		{`{"wildcard":{"title":"qu*"}}`, `{"prefix":{"title":"qu"}}`, 2},
	} {
		s, err := query.ReadSearch([]byte(`{"query":{"bool":{"should":[` + c.first + `,` + c.second + `]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r := search.NewRequest()
		r.Query = s.Query
		found, err := search.Run(t.Context(), []search.Index{index.Index}, r)
		if err != nil {
			t.Fatal(err)
		}
		if found.Total != c.want {
			t.Errorf("%s or %s: %d found", c.first, c.second, found.Total)
		}
	}
}

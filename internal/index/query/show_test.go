package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// shownDocument is the document of testdata/shown.jsonl, in a segment.
func shownDocument(t *testing.T, mappings, source []byte) (*fields.Schema, Row) {
	t.Helper()
	limits := mapping.DefaultLimits
	limits.Analysis.Any = true
	m, err := mapping.Parse(mappings, limits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	schema := fields.New(m, a)
	b := segment.NewBuilder()
	id := segment.Identity{ID: "1"}
	if err := fields.NewWriter(b).Add(schema, id, "", source); err != nil {
		t.Fatal(err)
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	doc := segment.Doc(0)
	for !s.IsRoot(doc) {
		doc++
	}
	return schema, Row{View: segment.View{Segment: s}, Doc: doc, Index: "qp-f", ID: "1", Source: source}
}

// shownElse are fields that show something else than the server's, and why.
var shownElse = map[string]string{
	`fields ["ob.a"]`: "the server overlooks names with dots beside an object", `fields ["al"]`: "so", `fields ["ob.*"]`: "so",
	`fields ["fo"]`:          "refused by name",
	`docvalue_fields ["ir"]`: "the server shows bytes", `docvalue_fields ["dr"]`: "it fails", `docvalue_fields ["ck"]`: "it shows the index",
}

func TestShowAsTheServer(t *testing.T) {
	file, err := os.ReadFile("testdata/shown.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var first struct{ Mapping, Source json.RawMessage }
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes(), &first); err != nil {
		t.Fatal(err)
	}
	schema, row := shownDocument(t, first.Mapping, first.Source)
	for lines.Scan() {
		var line struct {
			Kind   string
			Want   json.RawMessage
			Answer string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSearch([]byte(`{"` + line.Kind + `":` + string(line.Want) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if show, err := NewShow(schema, search.Limits{}, &s.Fetch); err != nil {
			got = tell(err)
		} else if object, some := show.Append(nil, row); some {
			got = string(object)
		} else {
			got = "{}"
		}
		name := line.Kind + " " + string(line.Want)
		want := strings.TrimPrefix(line.Answer, "shards ")
		if strings.HasPrefix(want, "4") {
			want = strings.Replace(want, ": ", " ", 1)
		}
		if shownElse[name] != "" || equalJSON(got, want) || got == want {
			continue
		}
		t.Errorf("%s\ngives %s\nwant  %s", name, got, want)
	}
}

// equalJSON compares without the order of members.
func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

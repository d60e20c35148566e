package mapping

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// lines calls f for each line of a file in testdata/other.
func lines(t *testing.T, name string, f func(line string)) {
	file, err := os.Open("testdata/other/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if line := scanner.Text(); line != "" && line[0] != '#' {
			f(line)
		}
	}
}

// alike compares JSON without the order of keys.
func alike(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// TestFieldMappings compares with GET _mapping/field/PATTERNS of OpenSearch, which
// tells fields in no order.
func TestFieldMappings(t *testing.T) {
	lines(t, "fields.jsonl", func(line string) {
		var asked struct {
			Mapping  json.RawMessage
			Patterns string
			Defaults bool
			Fields   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &asked); err != nil {
			t.Fatal(err)
		}
		m, err := Parse(asked.Mapping, DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.FieldMappings(asked.Patterns, asked.Defaults); !alike(got, asked.Fields) {
			t.Errorf("%s (%v) of %s\n got %s\nwant %s", asked.Patterns, asked.Defaults, asked.Mapping, got, asked.Fields)
		}
	})
}

// TestTemplates composes mappings as OpenSearch does those of component templates.
func TestTemplates(t *testing.T) {
	lines(t, "templates.jsonl", func(line string) {
		var asked struct {
			Templates []json.RawMessage
			Status    int
			Result    json.RawMessage
			Error     *told
		}
		if err := json.Unmarshal([]byte(line), &asked); err != nil {
			t.Fatal(err)
		}
		m, err := Empty(), error(nil)
		for _, part := range asked.Templates {
			if m, err = m.MergeTemplate(part, DefaultLimits); err != nil {
				break
			}
		}
		if err != nil {
			want := asked.Error
			for want != nil && want.Cause != nil && strings.Contains(want.Reason, "composi") {
				want = want.Cause // what the request for a template puts around it
			}
			if got := tell(exception.From(err)); got.String() != want.String() {
				t.Errorf("%s\n got %s\nwant %s", asked.Templates, got, want)
			}
			return
		}
		if !alike(m.JSON(), asked.Result) {
			t.Errorf("%s\n got %s\nwant %s", asked.Templates, m.JSON(), asked.Result)
		}
	})
}

// TestFieldsAreFound looks fields up and walks over all of them.
func TestFieldsAreFound(t *testing.T) {
	m, err := Parse([]byte(`{"_routing":{"required":true},"_source":{"excludes":["b"]},"properties":{"t":{"type":"text","analyzer":"simple","fields":{"k":{"type":"keyword"}}},
		"o":{"properties":{"n":{"type":"nested","properties":{"d":{"type":"date"}}}}},"s":{"type":"scaled_float","scaling_factor":10,"index":false},"al":{"type":"alias","path":"t"}}}`), DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for f := range m.All() {
		paths = append(paths, f.Path()+":"+f.Type())
		if found, ok := m.Field(f.Path()); !ok || found != f {
			t.Errorf("%s is not found", f.Path())
		}
	}
	if got, want := strings.Join(paths, " "), "al:alias o:object o.n:nested o.n.d:date s:scaled_float t:text t.k:keyword"; got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
	for _, absent := range []string{"", "x", "o.x", "t.k.x", "o.", ".o", "t.kk"} {
		if f, ok := m.Field(absent); ok {
			t.Errorf("%q is %s", absent, f.Path())
		}
	}
	text, _ := m.Field("t")
	scaled, _ := m.Field("s")
	day, _ := m.Field("o.n.d")
	alias, _ := m.Field("al")
	switch {
	case text.Text("search_quote_analyzer") != "simple", text.Text("similarity") != "", !text.Indexed(), text.DocValues():
		t.Error("the text is not what it was told to be")
	case scaled.Scaling() != 10, scaled.Indexed(), !scaled.DocValues():
		t.Error("the number is not what it was told to be")
	case day.Format() == nil, alias.Target() != "t", !m.RoutingRequired(), m.Source().Excludes[0] != "b", m.Source().Disabled:
		t.Error("the rest is not what it was told to be")
	}
}

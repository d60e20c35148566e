package fields

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
)

// TestGrow holds a schema that grows to one that is made new of the same mapping.
func TestGrow(t *testing.T) {
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	limits := mapping.Unlimited(mapping.DefaultLimits)
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf(`"f%d":{"type":"text","fields":{"raw":{"type":"keyword"}}}`, i)
	}
	start, err := mapping.Parse([]byte(`{"properties":{"o":{"properties":{"l":{"type":"long"},"i":{"type":"long","ignore_malformed":true}}},"n":{"type":"nested","properties":{"k":{"type":"keyword"}}},`+
		`"fl":{"type":"flat_object"},`+strings.Join(many, ",")+`}}`), limits)
	if err != nil {
		t.Fatal(err)
	}
	s := New(start, a)
	for _, update := range []string{
		`{"properties":{"new":{"type":"long"}}}`,
		`{"properties":{"o":{"properties":{"zz":{"type":"text","fields":{"raw":{"type":"keyword"}}}}},"aa":{"type":"date"}}}`,
		`{"properties":{"f7":{"type":"text","search_analyzer":"simple"}}}`,
		`{"properties":{"f8":{"type":"text","fields":{"more":{"type":"text","analyzer":"english"}}}}}`,
		`{"properties":{"deep":{"properties":{"er":{"properties":{"x":{"type":"ip","ignore_malformed":true}}}}}}}`,
		`{"properties":{"o":{"properties":{"i":{"type":"long","ignore_malformed":false}}}}}`,
		`{"properties":{"deep":{"properties":{"er":{"properties":{"x":{"type":"ip","ignore_malformed":false}}}}}}}`,
		`{"properties":{"n":{"type":"nested","properties":{"k2":{"type":"keyword"}}}}}`,
		`{"properties":{"fl2":{"type":"flat_object"}}}`,
		`{"dynamic":"strict","properties":{"strictly":{"type":"long"}}}`,
		`{"properties":{"last":{"type":"text"}}}`,
		`{"properties":{"other":{"type":"alias","path":"last"}}}`,
		`{"properties":{"behind":{"type":"alias","path":"f8.more"},"x":{"type":"keyword"}}}`,
	} {
		to, err := s.mapping.Grow([]byte(update), limits)
		if err != nil {
			t.Fatal(update, err)
		}
		before := *s
		grown, err := s.Grow(to, true)
		if err != nil {
			t.Fatal(update, err)
		}
		alike(t, update, grown, New(to.Mapping, a))
		alike(t, "before "+update, &before, New(s.mapping, a))
		s = grown
	}
	for i := range 3 * laterAtMost { // beyond what comes later
		to, err := s.mapping.Grow(fmt.Appendf(nil, `{"properties":{"o":{"properties":{"g%d":{"type":"long"}}}}}`, i), limits)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.Grow(to, true); err != nil {
			t.Fatal(err)
		}
	}
	alike(t, "many", s, New(s.mapping, a))
	unknown, err := s.mapping.Grow([]byte(`{"properties":{"t":{"type":"text","fields":{"thai":{"type":"text","analyzer":"thai"}}}}}`), limits)
	if err != nil {
		t.Fatal(err)
	}
	want := New(unknown.Mapping, a).Check()
	if _, err := s.Grow(unknown, true); err == nil || want == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
	if _, err := s.Grow(unknown, false); err != nil {
		t.Error(err)
	}
}

func alike(t *testing.T, what string, got, want *Schema) {
	t.Helper()
	if got.mapping != want.mapping || !reflect.DeepEqual(got.paths, want.paths) || !reflect.DeepEqual(got.nested, want.nested) || got.aliased != want.aliased {
		t.Errorf("%s: of the paths %q\nwant %q", what, got.paths, want.paths)
	}
	if got.passes != want.passes {
		t.Errorf("%s: it passes over malformed values: %t", what, got.passes)
	}
	for i, path := range want.paths {
		f := got.leaves.get(path)
		if f != got.sorted[i] || f.def != want.sorted[i].def || !reflect.DeepEqual(f, want.sorted[i]) {
			t.Errorf("%s: %s is %+v, in order %+v, want %+v", what, path, f, got.sorted[i], want.sorted[i])
		}
	}
	if len(got.flat) != len(want.flat) {
		t.Errorf("%s: %d flat objects, want %d", what, len(got.flat), len(want.flat))
	}
}

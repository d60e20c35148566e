package query

import (
	"encoding/json"
	"testing"
)

const filtered = `{"a":{},"b":[],"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]},"k.l":5,"n":null}`

// Answers of OpenSearch 2.19.0 to GET _source of the document above.
func TestSourceFilter(t *testing.T) {
	for _, c := range []struct {
		includes, excludes []string
		want               string
	}{
		{[]string{"c"}, nil, `{"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]}}`},
		{[]string{"c.d"}, nil, `{"c":{"d":{"e":1,"f":null}}}`},
		{[]string{"c.*"}, nil, `{"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]}}`},
		{[]string{"a"}, nil, `{"a":{}}`},
		{[]string{"a.x"}, nil, `{}`},
		{[]string{"b"}, nil, `{"b":[]}`},
		{[]string{"b.x"}, nil, `{}`},
		{[]string{"c.g"}, nil, `{"c":{"g":[{"h":1},{"i":2},3,[]]}}`},
		{[]string{"c.g.h"}, nil, `{"c":{"g":[{"h":1}]}}`},
		{[]string{"k.l"}, nil, `{"k.l":5}`},
		{[]string{"k"}, nil, `{"k.l":5}`},
		{[]string{"*l"}, nil, `{"k.l":5}`},
		{[]string{"**.e"}, nil, `{"c":{"d":{"e":1}}}`},
		{[]string{"*"}, nil, filtered},
		{[]string{"*.h"}, nil, `{"c":{"g":[{"h":1}]}}`},
		{nil, []string{"c.g.h"}, `{"a":{},"b":[],"c":{"d":{"e":1,"f":null},"g":[{"i":2},3]},"k.l":5,"n":null}`},
		{nil, []string{"*.h"}, `{"a":{},"b":[],"c":{"d":{"e":1,"f":null},"g":[{"i":2},3]},"k.l":5,"n":null}`},
		{nil, []string{"c.d.e", "c.d.f"}, `{"a":{},"b":[],"c":{"d":{},"g":[{"h":1},{"i":2},3,[]]},"k.l":5,"n":null}`},
		{nil, []string{"a"}, `{"b":[],"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]},"k.l":5,"n":null}`},
		{nil, []string{"c.g"}, `{"a":{},"b":[],"c":{"d":{"e":1,"f":null}},"k.l":5,"n":null}`},
		{[]string{"n"}, nil, `{"n":null}`},
		{[]string{"c"}, []string{"c.g.h"}, `{"c":{"d":{"e":1,"f":null},"g":[{"i":2},3]}}`},
		{[]string{"c"}, []string{"c.g"}, `{"c":{"d":{"e":1,"f":null}}}`},
		{[]string{"zz"}, nil, `{}`},
		{[]string{"c*"}, nil, `{"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]}}`},
		{[]string{"c.d.*", "c.g"}, nil, `{"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]}}`},
		{[]string{"*e"}, nil, `{"c":{"d":{"e":1}}}`},
		{nil, []string{"*"}, `{}`},
		{[]string{"c.d.e.x"}, nil, `{}`},
		{nil, []string{"k"}, `{"a":{},"b":[],"c":{"d":{"e":1,"f":null},"g":[{"h":1},{"i":2},3,[]]},"n":null}`},
		{[]string{"c."}, nil, `{}`},
	} {
		got := SourceFilter{Includes: c.includes, Excludes: c.excludes}.Append(nil, []byte(filtered))
		if string(got) != c.want {
			t.Errorf("includes %q, excludes %q\ngives %s\nwant  %s", c.includes, c.excludes, got, c.want)
		}
	}
}

func FuzzSourceFilter(f *testing.F) {
	f.Add([]byte(filtered), "c.g", "*.h")
	f.Add([]byte(`{"a\"b":"x\n\u0001"}`), "a*", "")
	f.Fuzz(func(t *testing.T, source []byte, include, exclude string) {
		got := SourceFilter{Includes: []string{include}, Excludes: []string{exclude}}.Append(nil, source)
		if json.Valid(source) && !json.Valid(got) {
			t.Errorf("%q is no JSON", got)
		}
		if len(got) > 6*len(source)+2 {
			t.Errorf("%d bytes out of %d", len(got), len(source))
		}
	})
}

package transform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
)

func TestSteps(t *testing.T) {
	for name, c := range map[string]struct{ steps, source, want string }{
		"nothing to do leaves every byte": {`[{remove: none}, {rename: {a.b: a.c}}]`, " {\n \"a\" : 1.0e+2 }\n", " {\n \"a\" : 1.0e+2 }\n"},
		"numbers stay as written":         {`[{remove: x}]`, `{"a": 1.0, "b" : 18446744073709551616, "x":1, "c":{ "d" : 1E5 }}`, `{"a":1.0,"b":18446744073709551616,"c":{ "d" : 1E5 }}`},
		"remove in depth and in arrays":   {`[{remove: [a.b, list.x]}]`, `{"a":{"b":1,"c":2},"list":[{"x":1,"y":2},{"x":3},4]}`, `{"a":{"c":2},"list":[{"y":2},{},4]}`},
		"a name with dots":                {`[{remove: a.b}]`, `{"a.b":1,"a":{"c":1}}`, `{"a":{"c":1}}`},
		"of several members all go":       {`[{remove: a}]`, `{"a":1,"b":2,"a":3}`, `{"b":2}`},
		"rename keeps the place":          {`[{rename: {b: z}}]`, `{"a":1,"b":{"deep": true},"c":3}`, `{"a":1,"z":{"deep": true},"c":3}`},
		"rename in each of an array":      {`[{rename: {l.a: l.b}}]`, `{"l":[{"a":1},{"c":2},{"a":3,"b":4}]}`, `{"l":[{"b":1},{"c":2},{"b":3}]}`},
		"rename to elsewhere":             {`[{rename: {user.name: login}}]`, `{"user":{"name":"ann","age":3}}`, `{"user":{"age":3},"login":"ann"}`},
		"rename into what is not there":   {`[{rename: {name: user.login}}]`, `{"name":"ann"}`, `{"user":{"login":"ann"}}`},
		"rename replaces":                 {`[{rename: {a: b}}]`, `{"b":2,"a":1}`, `{"b":1}`},
		"rename of a name with dots":      {`[{rename: {a.b: a.c}}]`, `{"a.b":1}`, `{"a.c":1}`},
		"renames go in order":             {`[{rename: {a: b, b: c}}]`, `{"a":1}`, `{"c":1}`},
		"set a text":                      {`[{set: {origin: '"moved <here>"'}}]`, `{"a":1}`, `{"a":1,"origin":"moved <here>"}`},
		"set sees the document before":    {`[{set: {a: doc.b, b: doc.a}}]`, `{"a":1,"b":2}`, `{"a":2,"b":1}`},
		"set sees the steps before":       {`[{rename: {a: c}}, {set: {d: doc.c + 1}}]`, `{"a":1}`, `{"c":1,"d":2}`},
		"set in depth":                    {`[{set: {a.b.c: id + index}}]`, `{"a":{"b":null}}`, `{"a":{"b":{"c":"7books"}}}`},
		"set of what is not there":        {`[{set: {n: "doc.a?.b ?? 0"}}]`, `{}`, `{"n":0}`},
		"set only when":                   {`[{when: doc.n > 5 and routing == "r", set: {big: "true"}}]`, `{"n":6}`, `{"n":6,"big":true}`},
		"not when":                        {`[{when: doc.n > 5, drop: true}]`, `{"n":5}`, `{"n":5}`},
		"dropped":                         {`[{when: 'doc.level in ["debug", "trace"]', drop: true}]`, `{"level":"trace"}`, `dropped`},
		"other indices":                   {`[{index: [logs-*, notes], drop: true}]`, `{"a":1}`, `{"a":1}`},
		"this index":                      {`[{index: b*s, remove: a}]`, `{"a":1}`, `{}`},
		"escaped names":                   {`[{remove: "é"}]`, `{"\u00e9":1}`, `{}`},
		"lists":                           {`[{set: {tags: 'concat(doc.tags, ["x"])'}}]`, `{"tags":["a"]}`, `{"tags":["a","x"]}`},
		"a set value is its own":          {`[{set: {l.o: "{\"a\": 1}"}}, {rename: {l.o.a: l.o.b}}]`, `{"l":[{},{}]}`, `{"l":[{"o":{"b":1}},{"o":{"b":1}}]}`},
		"no object":                       {`[{remove: a}]`, `[1]`, `error: step 1 of the transformation: the source is no JSON object`},
		"no JSON":                         {`[{remove: a}]`, `{"a":`, `error: step 1`},
		"into what is no object":          {`[{set: {a.b: "1"}}]`, `{"a":5}`, `error: step 1 of the transformation: "b" cannot be put into "5"`},
		"an expression that fails":        {`[{set: {b: "1"}}, {set: {a: doc.x.y.z}}]`, `{}`, `error: step 2 of the transformation: the expression fails`},
		"too deep":                        {`[{remove: a}]`, strings.Repeat(`{"a":`, 2000), `error: the source is nested more than 1000 deep`},
		"out of several places":           {`[{rename: {l.a: b}}]`, `{"l":[{"a":1},{"a":2}]}`, `error: step 1 of the transformation: "l.a" is in 2 places`},
		"an endless list":                 {`[{set: {a: '1..100000000'}}]`, `{}`, `error: step 1`},
	} {
		t.Run(name, func(t *testing.T) {
			steps, err := transform.Parse([]byte("steps: " + c.steps))
			if err != nil {
				t.Fatal(err)
			}
			if got := apply(steps, c.source); got != c.want && (!strings.HasPrefix(c.want, "error") || !strings.HasPrefix(got, c.want)) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func apply(steps *transform.Steps, source string) string {
	program := steps.For("books")
	if program == nil {
		return source
	}
	changed, dropped, err := program.Apply([]byte(source), transform.Meta{ID: "7", Routing: "r"}, nil)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case dropped:
		return "dropped"
	}
	return string(changed)
}

// TestTally: each document is counted by the steps that it comes to; what passes through two
// programs is added up by the numbers of the steps.
func TestTally(t *testing.T) {
	steps, err := transform.Parse([]byte(`steps:
  - {when: doc.n < 2, drop: true}
  - {index: books, rename: {a: b}}
  - {index: other, remove: a}
  - {when: 'doc.n == 3', set: {x: doc.none.other.thing}}
  - {remove: [a, c], when: doc.n != 3}
`))
	if err != nil {
		t.Fatal(err)
	}
	all := transform.Tally{}
	for index, sources := range map[string][]string{
		"books":  {`{"n":1}`, `{"n":2,"a":1}`, `{"n":2}`, `{"n":3}`},
		"others": {`{"n":1}`, `{"n":2,"a":1}`},
	} {
		program := steps.For(index)
		tally := program.NewTally()
		for _, source := range sources {
			_, _, _ = program.Apply([]byte(source), transform.Meta{}, tally)
		}
		all = all.Add(tally)
	}
	want := transform.Tally{{Step: 1, Matched: 2, Dropped: 2}, {Step: 2, Matched: 3, Changed: 1}, {Step: 4, Failed: 1}, {Step: 5, Matched: 3, Changed: 1}}
	if !slices.Equal(all, want) {
		t.Errorf("%+v\nwant %+v", all, want)
	}
	if says, want := steps.Says(), "remove a, c, when doc.n != 3"; len(says) != 5 || says[4] != want {
		t.Errorf("%q", says)
	}
}

func TestWhatIsNoTransformation(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "there are 0 steps",
		`steps: []`:                        "there are 0 steps",
		`stpes: [{drop: true}]`:            "not understood",
		`steps: [{dorp: true}]`:            "not understood",
		`steps: [{when: "true"}]`:          "step 1: it does nothing",
		`steps: [{drop: true, remove: a}]`: "what is dropped is not changed",
		`steps: [{drop: true}, {when: "1 + 1", drop: true}]`:        "step 2: the expression",
		`steps: [{when: "now() > date('2020-01-01')", drop: true}]`: "the expression",
		`steps: [{set: {a: "keys(doc)"}}]`:                          "the expression",
		`steps: [{set: {a: "name"}}]`:                               "unknown name",
		`steps: [{remove: a..b}]`:                                   "is no path",
		`steps: [{rename: [a, b]}]`:                                 "rename takes pairs",
		`steps: [{set: {a: [1]}}]`:                                  "set takes pairs of texts",
	} {
		if _, err := transform.Parse([]byte(text)); !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := transform.Parse(make([]byte, transform.MaxText+1)); !fault.Is(err, fault.Usage) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"steps":[{"index":"a*","when":"doc.a > 1","set":{"b":"doc.a"},"rename":{"a":"c.d"},"remove":["x.y"]}]}`), []byte(`{"a":2,"x":[{"y":1}]}`))
	f.Add([]byte("steps:\n- {drop: true, when: id == routing}"), []byte(`{}`))
	f.Add([]byte("steps:\n- {set: {a.b.c: 'doc.a'}}\n- {rename: {a.b: c, a: a.b}}\n- remove: [a.b, c]"), []byte(`{"a":{"b":[{"c":1}]},"a.b":1}`))
	f.Fuzz(func(t *testing.T, text, source []byte) {
		steps, err := transform.Parse(text)
		if err != nil {
			return
		}
		first, second := apply(steps, string(source)), apply(steps, string(source))
		if first != second {
			t.Fatalf("%q is first %q and then %q", source, first, second)
		}
	})
}

func Example() {
	steps, err := transform.Parse([]byte(`
steps:
  - index: logs-*
    when: doc.level == "debug"
    drop: true
  - rename: {user.name: user.login}
    set: {total: doc.price * doc.count}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	changed, _, err := steps.For("orders").Apply([]byte(`{"user":{"name":"ann"},"price":2.5,"count":4}`), transform.Meta{ID: "1"}, nil)
	fmt.Println(string(changed), err)
	// Output: {"user":{"login":"ann"},"price":2.5,"count":4,"total":10} <nil>
}

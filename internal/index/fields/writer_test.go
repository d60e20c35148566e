package fields_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// written puts sources with the ids 0, 1, … into a segment.
func written(t tester, definition string, sources ...string) *store {
	t.Helper()
	s := &store{schema: schemaOf(t, definition)}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for i, source := range sources {
		if err := w.Add(s.schema, segment.Identity{ID: fmt.Sprint(i), SeqNo: int64(i)}, "", []byte(source)); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
	}
	s.seg = built(t, b)
	return s
}

// holds tells all that a segment holds of a field, in a line: terms with docs, often and
// places, then docs' numbers, then docs' lengths.
func (s *store) holds(name string) string {
	f := s.seg.Field(name)
	if f == nil {
		return "nothing"
	}
	var out []string
	for t := f.From(nil); t.Valid() && f.Spec().Postings != segment.NoPostings; t.Next() {
		text := fmt.Sprintf("%q:", t.Term())
		p := f.Postings(t.Entry(), f.Spec().Postings, nil)
		for doc := p.Next(); doc != segment.End; doc = p.Next() {
			text += fmt.Sprintf(" %d", doc)
			switch f.Spec().Postings {
			case segment.Frequencies:
				text += fmt.Sprintf("×%d", p.Frequency())
			case segment.Positions:
				text += fmt.Sprint(p.Positions(nil))
			}
		}
		out = append(out, text)
	}
	for doc := range segment.Doc(s.seg.Docs()) {
		if f.Numbers() != nil {
			if n := f.Numbers().All(nil, doc); len(n) > 0 {
				out = append(out, fmt.Sprintf("%d=%d", doc, n))
			}
		}
		if f.Ordinals() != nil && f.Spec().Postings == segment.NoPostings {
			for _, ord := range f.Ordinals().All(nil, doc) {
				out = append(out, fmt.Sprintf("%d=%q", doc, f.Term(nil, ord)))
			}
		}
		if lengths := f.Lengths(); lengths != nil && lengths[doc] > 0 {
			out = append(out, fmt.Sprintf("%d is %d long", doc, segment.Length(lengths[doc])))
		}
	}
	if len(out) == 0 {
		return "nothing but that it exists"
	}
	return strings.Join(out, "; ")
}

// TestTexts holds Lucene's rules of places and lengths.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ params, value, want string }{
		{``, `"One two one"`, `"one": 0[0 2]; "two": 0[1]; 0 is 3 long`},
		{``, `["a b","c"]`, `"a": 0[0]; "b": 0[1]; "c": 0[102]; 0 is 3 long`},
		{``, `["","a"]`, `"a": 0[100]; 0 is 1 long`},
		{``, `["a",5,true,1.50]`, `"1.50": 0[303]; "5": 0[101]; "a": 0[0]; "true": 0[202]; 0 is 4 long`},
		{`,"position_increment_gap":0`, `["a","b"]`, `"a": 0[0]; "b": 0[1]; 0 is 2 long`},
		{`,"position_increment_gap":3`, `["a","b"]`, `"a": 0[0]; "b": 0[4]; 0 is 2 long`},
		{`,"norms":false`, `"a a"`, `"a": 0[0 1]`},
		{`,"index_options":"freqs"`, `["a a","b"]`, `"a": 0×2; "b": 0×1; 0 is 3 long`},
		{`,"index_options":"docs"`, `["a a b","b"]`, `"a": 0; "b": 0; 0 is 2 long`}, // terms count once, as in Lucene
		{`,"index_options":"offsets"`, `"a b"`, `"a": 0[0]; "b": 0[1]; 0 is 2 long`},
		{`,"index":false`, `"a"`, `nothing`},
		{`,"index":false,"store":true`, `"a"`, `nothing but that it exists`},
		{``, `""`, `nothing but that it exists`},
		{``, `null`, `nothing`},
		{`,"analyzer":"keyword"`, `"One Two"`, `"One Two": 0[0]; 0 is 1 long`},
		{`,"analyzer":"stop"`, `"the fox"`, `"fox": 0[1]; 0 is 1 long`},
		{`,"analyzer":"stop"`, `["a fox","dog"]`, `"dog": 0[102]; "fox": 0[1]; 0 is 2 long`},
	} {
		s := written(t, `{"properties":{"f":{"type":"text"`+c.params+`}}}`, `{"f":`+c.value+`}`)
		if got := s.holds("f"); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.params, c.value, got, c.want)
		}
	}
}

// TestTypes holds what a segment has of a value of each type.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ definition, value, want string }{
		{`"keyword"`, `["b","a","b"]`, `"a": 0; "b": 0`},
		{`"keyword","normalizer":"lowercase"`, `"ÄB"`, `"äb": 0`},
		{`"keyword","index":false`, `["b","a","b"]`, `0="a"; 0="b"`},
		{`"keyword","index_options":"freqs","norms":true`, `["b","a","b"]`, `"a": 0×1; "b": 0×2; 0 is 3 long`},
		{`"keyword","ignore_above":2`, `["abc","ab"]`, `"ab": 0`},
		{`"keyword","null_value":"NULL"`, `null`, `"NULL": 0`},
		{`"keyword","index":false,"doc_values":false`, `"a"`, `nothing`},
		{`"wildcard"`, `"a b"`, `"a b": 0`},
		{`"constant_keyword","value":"x"`, `"x"`, `nothing`},
		{`"boolean"`, `[true,false,"true"]`, `"F": 0; "T": 0; 0=[0 1 1]`},
		{`"ip"`, `"10.0.0.1"`, `"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\n\x00\x00\x01": 0`},
		{`"long"`, `[3,-1,"2"]`, `0=[-1 2 3]`},
		{`"long","doc_values":false`, `3`, `nothing but that it exists`},
		{`"byte"`, `[1.9]`, `0=[1]`},
		{`"unsigned_long"`, `[0,18446744073709551615]`, `0=[-9223372036854775808 9223372036854775807]`},
		{`"scaled_float","scaling_factor":10`, `[1.26,-0.05]`, `0=[0 13]`},
		{`"double"`, `[1.5,-0.0,0,-1.5]`, `0=[-4609434218613702657 -1 0 4609434218613702656]`},
		{`"half_float"`, `1.1`, `0=[4607631019544150016]`},
		{`"date"`, `["1970-01-02",5]`, `0=[5 86400000]`},
		{`"date_nanos"`, `"1970-01-01T00:00:00.000000001Z"`, `0=[1]`},
		{`"geo_point"`, `{"lat":0,"lon":0}`, `0=[0]`},
		{`"geo_point"`, `{"lat":-90,"lon":180}`, `0=[-9223372034707292161]`},
		{`"integer_range"`, `{"gt":0,"lte":2}`, `"\x80\x00\x00\x00\x00\x00\x00\x01\x80\x00\x00\x00\x00\x00\x00\x02": 0`},
		{`"flat_object"`, `{"a":{"b":[1,"x"]},"c":null}`, `"a": 0; "b": 0`},
		{`"binary","doc_values":true`, `"AQI="`, `0="\x01\x02"`},
		{`"binary","store":true`, `"AQI="`, `nothing but that it exists`},
		{`"binary"`, `"AQI="`, `nothing`},
	} {
		s := written(t, `{"properties":{"f":{"type":`+c.definition+`}}}`, `{"f":`+c.value+`}`)
		if got := s.holds("f"); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.definition, c.value, got, c.want)
		}
	}
}

// TestNested: children come before their document, each with its own values.
func TestNested(t *testing.T) {
	const definition = `{"properties":{
		"all":{"type":"text"},"k":{"type":"keyword"},
		"n":{"type":"nested","properties":{"x":{"type":"long"},"t":{"type":"text","copy_to":["all","n.c"]},"c":{"type":"text"},
			"m":{"type":"nested","include_in_parent":true,"properties":{"y":{"type":"long","copy_to":"n.x"}}},
			"r":{"type":"nested","include_in_root":true,"properties":{"z":{"type":"long"}}}}}}}`
	s := written(t, definition,
		`{"all":"first","n":[{"x":1,"t":"one","m":[{"y":5},{"y":6}]},{"x":2,"r":{"z":9},"t":"two"}],"k":"after"}`,
		`{"k":"none"}`)
	// docs: 0 and 1 are m of the first n, 2 the first n, 3 r of the second, 4 the second, 5 and 6 the documents
	for name, want := range map[string]string{
		"_nested_path": `"n": 2 4; "n.m": 0 1; "n.r": 3`,
		"_id":          `"0": 5; "1": 6`,
		"n.x":          `2=[1 5 6]; 4=[2]`,
		"n.m.y":        `0=[5]; 1=[6]; 2=[5 6]`,
		"n.r.z":        `3=[9]; 5=[9]`,
		"n.t":          `"one": 2[0]; "two": 4[0]; 2 is 1 long; 4 is 1 long`,
		"n.c":          `"one": 2[0]; "two": 4[0]; 2 is 1 long; 4 is 1 long`,
		"all":          `"first": 5[0]; "one": 5[101]; "two": 5[202]; 5 is 3 long`,
		"k":            `"after": 5; "none": 6`,
		"_seq_no":      `5=[0]; 6=[1]`,
	} {
		if got := s.holds(name); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
	for path, want := range map[string]string{"n.m.y": "n.m", "n.m": "n", "n": "", "k": "", "n.x": "n"} {
		if got := s.schema.NestedAround(path); got != want {
			t.Errorf("%s lies in %q, want %q", path, got, want)
		}
	}
}

// TestUnreadable: a document that cannot be read is there with its identity alone.
func TestUnreadable(t *testing.T) {
	schema := schemaOf(t, `{"properties":{"k":{"type":"keyword"},"t":{"type":"text"},"n":{"type":"nested","properties":{"x":{"type":"long"}}}}}`)
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	s := &store{schema: schema}
	for i, c := range []struct{ source, err string }{
		{`{"k":"a","t":"x y"}`, ""},
		{`{"k":"b","t":"x","n":[{"x":1},5]}`, "mapper_parsing_exception: object mapping for [n] tried to parse field"},
		{`{"k":"c","t":"z"`, "mapper_parsing_exception: failed to parse"},
		{`{"k":"d","new":1}`, "illegal_state_exception: the mapping does not know all fields"},
		{``, "mapper_parsing_exception: failed to parse, document is empty"},
		{`{"k":"e","t":"x"}`, ""},
	} {
		err := w.Add(schema, segment.Identity{ID: fmt.Sprint(i), SeqNo: int64(i)}, fmt.Sprint("r", i), []byte(c.source))
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %s", c.source, err, c.err)
		}
	}
	s.seg = built(t, b)
	for name, want := range map[string]string{
		"_id":      `"0": 0; "1": 1; "2": 2; "3": 3; "4": 4; "5": 5`,
		"_routing": `"r0": 0; "r1": 1; "r2": 2; "r3": 3; "r4": 4; "r5": 5`,
		"k":        `"a": 0; "e": 5`,
		"t":        `"x": 0[0] 5[0]; "y": 0[1]; 0 is 2 long; 5 is 1 long`,
		"n.x":      `nothing`,
	} {
		if got := s.holds(name); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// TestGrowing: a mapping may grow, and change what is kept of a field, while a segment is
// built.
func TestGrowing(t *testing.T) {
	before := schemaOf(t, `{"properties":{"t":{"type":"text"}}}`)
	after := schemaOf(t, `{"properties":{"t":{"type":"text","fielddata":true,"norms":false},"k":{"type":"keyword"}}}`)
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	add := func(s *fields.Schema, id, source string) {
		if err := w.Add(s, segment.Identity{ID: id}, "", []byte(source)); err != nil {
			t.Fatal(err)
		}
	}
	add(before, "0", `{"t":"a b"}`)
	add(after, "1", `{"t":"b","k":"x"}`)
	s := &store{seg: built(t, b)}
	if got, want := s.holds("t"), `"a": 0[0]; "b": 0[1] 1[0]; 0 is 2 long; 1 is 1 long`; got != want || s.seg.Field("t").Ordinals() != nil {
		t.Errorf("the first schema of a segment counts: %s", got)
	}
	add(after, "2", `{"t":"c c","k":"x"}`)
	s.seg = built(t, b)
	if got, want := s.holds("t"), `"c": 0[0 1]`; got != want || s.seg.Field("t").Ordinals() == nil {
		t.Errorf("the next segment: %s", got)
	}
	if got := s.holds("k"); got != `"x": 0` {
		t.Errorf("k: %s", got)
	}
}

// TestIgnored: the document tells which fields had malformed values.
func TestIgnored(t *testing.T) {
	s := written(t, `{"properties":{"l":{"type":"long","ignore_malformed":true},"d":{"type":"date","ignore_malformed":true},
		"n":{"type":"nested","properties":{"i":{"type":"ip","ignore_malformed":true}}},"k":{"type":"keyword","ignore_above":1}}}`,
		`{"l":["x",1],"d":"x","n":{"i":"x"},"k":"long"}`)
	if got, want := s.holds("_ignored"), `"d": 1; "l": 1; "n.i": 1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSchema(t *testing.T) {
	s := schemaOf(t, `{"properties":{"a":{"properties":{"b":{"type":"keyword","fields":{"t":{"type":"text"}}},"c":{"type":"long"}}},
		"x":{"type":"alias","path":"a.b"},"f":{"type":"flat_object"},"n":{"type":"nested","properties":{"k":{"type":"keyword"}}}}}`)
	names := func(pattern string) string {
		var out []string
		for _, f := range s.Matching(pattern) {
			out = append(out, f.Path())
		}
		return strings.Join(out, " ")
	}
	for pattern, want := range map[string]string{"*": "a.b a.b.t a.c f n.k", "a.*": "a.b a.b.t a.c", "x": "a.b", "*b*": "a.b a.b.t", "none": "", "_*": ""} {
		if got := names(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	for path, want := range map[string]string{"x": "a.b keyword", "a": "", "n": "", "f.q.r": "f._valueAndPath flat_object", "_id": "_id _id", "a.b.t": "a.b.t text", "": ""} {
		f, ok := s.Field(path)
		if got := ""; ok {
			got = f.Name() + " " + f.Type()
			if got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is not found", path)
		}
	}
	if _, err := written(t, `{}`, `{}`).schema.Field("_source"); !err {
		t.Error("_source is not known")
	}
	if f, _ := s.Field("_source"); true {
		if _, err := f.Exact(fields.Value{Text: "x"}, 0); !exception.Is(err, exception.QueryShard) {
			t.Error(err)
		}
	}
}

// TestSearchAnalyzers: what takes texts of queries apart.
func TestSearchAnalyzers(t *testing.T) {
	s := schemaOf(t, `{"properties":{"k":{"type":"keyword"},"n":{"type":"keyword","normalizer":"lowercase"},
		"s":{"type":"keyword","normalizer":"lowercase","split_queries_on_whitespace":true},
		"t":{"type":"text","analyzer":"keyword","search_analyzer":"standard","search_quote_analyzer":"whitespace"},"l":{"type":"long"}}}`)
	for _, c := range []struct {
		path   string
		quoted bool
		want   string
	}{{"k", false, "One Two"}, {"n", false, "one two"}, {"s", false, "one|two"}, {"t", false, "one|two"}, {"t", true, "One|Two"}, {"l", true, "One Two"}} {
		f, _ := s.Field(c.path)
		var terms []string
		for _, token := range f.SearchAnalyzer(c.quoted).Analyze(nil, []byte("One Two")) {
			terms = append(terms, string(token.Term))
		}
		if got := strings.Join(terms, "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

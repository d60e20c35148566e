package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// indexOf is an index of one segment.
func indexOf(t *testing.T, number uint32, name, mappings string, docs ...string) search.Index {
	m, err := mapping.Parse([]byte(mappings), mapping.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	index := search.Index{Number: number, Name: name, UUID: "u" + name, Schema: fields.New(m, a)}
	b := segment.NewBuilder()
	w := fields.NewWriter(b)
	for i, doc := range docs {
		id := fmt.Sprint(name, i)
		if err := w.Add(index.Schema, segment.Identity{Key: routing.KeyOf(id, "", 1), ID: id, SeqNo: int64(i)}, "", []byte(doc)); err != nil {
			t.Fatal(err)
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

// TestOrdersOverSeveralIndices sorts by fields that have different types. Answers are those
// of OpenSearch 2.19.0, but for the first of those with the same values.
func TestOrdersOverSeveralIndices(t *testing.T) {
	a := indexOf(t, 1, "a", `{"properties":{"n":{"type":"long"},"k":{"type":"keyword"},"i":{"type":"integer"},"d":{"type":"date"},"f":{"type":"float"},"u":{"type":"unsigned_long"}}}`,
		`{"n":[7,2],"k":["a1","z1"],"i":1,"d":"2024-01-01","f":0.1,"u":18446744073709551611}`, `{"n":[21,3],"k":"a3","i":3,"d":"2024-01-03","f":0.3}`, `{}`)
	b := indexOf(t, 2, "b", `{"properties":{"n":{"type":"double"},"k":{"type":"long"},"i":{"type":"unsigned_long"},"d":{"type":"date_nanos"}}}`,
		`{"n":2.5,"k":3,"i":18446744073709551615,"d":"2024-01-02T00:00:00.123456789Z"}`)
	for _, c := range []struct{ body, want string }{
		{`{"sort":["n"]}`, "a0[2] b0[2.5] a1[3] a2[9223372036854775807]"},
		{`{"sort":["n"],"search_after":[2.5]}`, "a1[3] a2[9223372036854775807]"},
		{`{"sort":[{"n":"desc"}]}`, "a1[21] a0[7] b0[2.5] a2[-9223372036854775808]"},
		{`{"sort":["d"]}`, "a0[1704067200000] a1[1704240000000] b0[1704153600123456789] a2[9223372036854775807]"},
		{`{"sort":["k"]}`, "class_cast_exception: class java.lang.Long cannot be cast to class org.apache.lucene.util.BytesRef " +
			"(java.lang.Long is in module java.base of loader 'bootstrap'; org.apache.lucene.util.BytesRef is in unnamed module of loader 'app')"},
		{`{"sort":["i"]}`, "illegal_argument_exception: Can't do sort across indices, as a field has [unsigned_long] type in one index, and different type in another index!"},
		{`{"sort":["f"]}`, "query_shard_exception: No mapping found for [f] in order to sort on"},
		{`{"sort":[{"f":{"unmapped_type":"float"}}]}`, "a0[0.1] a1[0.3] a2[Infinity] b0[Infinity]"},
		{`{"sort":[{"u":{"unmapped_type":"unsigned_long","order":"desc","missing":"_first"}}]}`, "a2[18446744073709551615] a1[18446744073709551615] b0[18446744073709551615] a0[18446744073709551611]"},
		{`{"sort":["_index",{"_id":"desc"}]}`, "a2[a a2] a1[a a1] a0[a a0] b0[b b0]"},
		{`{"sort":["n"],"search_after":[5,6]}`, "illegal_argument_exception: search_after has 2 value(s) but sort has 1."},
		{`{"sort":["n"],"search_after":["abc"]}`, "illegal_argument_exception: Failed to parse search_after value for field [n]."},
		{`{"sort":["n"],"search_after":[null]}`, "null_pointer_exception: Cannot invoke \"java.lang.Long.longValue()\" because \"value\" is null"},
		{`{"sort":[{"f":{"unmapped_type":"floaty"}}]}`, "illegal_argument_exception: No mapper found for type [floaty]"},
		{`{"search_after":[1]}`, "illegal_argument_exception: Sort must contain at least one field."},
	} {
		if got := ordered([]search.Index{a, b}, c.body); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, c.want)
		}
	}
}

func ordered(indices []search.Index, body string) string {
	s, err := query.ReadSearch([]byte(body))
	if err != nil {
		return err.Error()
	}
	r := search.NewRequest()
	r.Sort = s.Sort
	if s.Query != nil {
		r.Query = s.Query
	}
	for _, raw := range s.After {
		r.After = append(r.After, after(string(raw)))
	}
	found, err := search.Run(context.Background(), indices, r)
	if err != nil {
		e := exception.From(err)
		return fmt.Sprintf("%s: %s", e.Type, e.Reason)
	}
	var out []string
	for i := range found.Hits {
		h := &found.Hits[i]
		var values []string
		for _, v := range h.Sort {
			switch v.Kind {
			case search.Textual:
				values = append(values, string(v.Text))
			case search.Fractional:
				values = append(values, fmt.Sprint(v.F))
			case search.Unsigned:
				values = append(values, fmt.Sprint(uint64(v.N)))
			default:
				values = append(values, fmt.Sprint(v.N))
			}
		}
		out = append(out, fmt.Sprintf("%s[%s]", h.ID, strings.Join(values, " ")))
	}
	return strings.Join(out, " ")
}

// after is a value of search_after by its JSON.
func after(text string) search.SortValue {
	var n int64
	var f float64
	switch {
	case text == "null":
		return search.SortValue{Null: true}
	case text[0] == '"':
		return search.SortValue{Kind: search.Textual, Text: []byte(strings.Trim(text, `"`))}
	case !strings.Contains(text, "."):
		fmt.Sscan(text, &n)
		return search.SortValue{N: n}
	}
	fmt.Sscan(text, &f)
	return search.SortValue{Kind: search.Fractional, F: f}
}

// TestSettingsOfAnIndex: what an index says of its searches, with the answers of
// OpenSearch 2.19.0.
func TestSettingsOfAnIndex(t *testing.T) {
	a := indexOf(t, 1, "a", `{"properties":{"t":{"type":"text"},"n":{"type":"long"},"k":{"type":"keyword"}}}`, `{"t":"fox","n":1,"k":"fox"}`)
	a.Limits, a.Lenient = search.Limits{Terms: 2, Regexp: 3}, true
	for _, c := range []struct{ body, want string }{
		{`{"query":{"query_string":{"query":"fox","fields":["n","t"]}}}`, "a0[]"},
		{`{"query":{"query_string":{"query":"fox","fields":["n","t"],"lenient":false}}}`, `query_shard_exception: failed to create query: For input string: "fox"`},
		{`{"query":{"simple_query_string":{"query":"fox","fields":["n","t"]}}}`, `query_shard_exception: failed to create query: For input string: "fox"`},
		{`{"query":{"match":{"n":"fox"}}}`, `query_shard_exception: failed to create query: For input string: "fox"`},
		{`{"query":{"terms":{"n":[1,2]}}}`, "a0[]"},
		{`{"query":{"terms":{"n":[1,2,3]}}}`, "query_shard_exception: failed to create query: The number of terms [3] used in the Terms Query request has exceeded the allowed maximum of [2]. " +
			"This maximum can be set by changing the [index.max_terms_count] index level setting."},
		{`{"query":{"regexp":{"k":"fo."}}}`, "a0[]"},
		{`{"query":{"regexp":{"k":"fo.*"}}}`, "query_shard_exception: failed to create query: The length of regex [4] used in the Regexp Query request has exceeded the allowed maximum of [3]. " +
			"This maximum can be set by changing the [index.max_regex_length] index level setting."},
	} {
		if got := ordered([]search.Index{a}, c.body); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, c.want)
		}
	}
}

// TestNumbersBeyondTheEnds: pages after what no number reaches, and boosts that are no
// numbers, with the answers of OpenSearch 2.19.0.
func TestNumbersBeyondTheEnds(t *testing.T) {
	a := indexOf(t, 1, "a", `{"properties":{"n":{"type":"long"},"k":{"type":"keyword"}}}`, `{"n":1,"k":"x"}`)
	const infinite = "query_shard_exception: failed to create query: boost must be a positive float, got Infinity"
	for _, c := range []struct{ body, want string }{
		{`{"sort":[{"n":"asc"}],"search_after":[1000000000000000000000000000000.0]}`, ""},
		{`{"sort":[{"n":"desc"}],"search_after":[1000000000000000000000000000000.0]}`, "a0[1]"},
		{`{"sort":[{"n":"asc"}],"search_after":[-1000000000000000000000000000000.0]}`, "a0[1]"},
		{`{"sort":[{"n":"desc"}],"search_after":[-1000000000000000000000000000000.0]}`, ""},
		{`{"sort":[{"n":"asc"}],"search_after":[9223372036854775808.0]}`, ""},
		{`{"query":{"term":{"k":{"value":"x","boost":1e39}}}}`, infinite},
		{`{"query":{"bool":{"filter":[{"term":{"k":{"value":"x","boost":"NaN"}}}]}}}`, "query_shard_exception: failed to create query: boost must be a positive float, got NaN"},
		{`{"query":{"match_all":{"boost":"Infinity"}}}`, infinite},
		{`{"query":{"constant_score":{"filter":{"match_all":{}},"boost":1e39}}}`, infinite},
		{`{"query":{"term":{"nobody":{"value":"x","boost":1e39}}}}`, ""},
		{`{"query":{"match_none":{"boost":1e39}}}`, ""},
	} {
		if got := ordered([]search.Index{a}, c.body); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, c.want)
		}
	}
}

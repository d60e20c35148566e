package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/exception"
)

func told(s Search, err error) string {
	if err != nil {
		e := exception.From(err)
		out := string(e.Type) + ": " + e.Reason
		for _, field := range e.Fields {
			out += fmt.Sprintf(" %s=%v", field.Name, field.Value)
		}
		for e = e.Cause; e != nil; e = e.Cause {
			out += " <- " + string(e.Type) + ": " + e.Reason
		}
		return out
	}
	out := fmt.Sprintf("%d+%d of %d", s.From, s.Size, s.TrackTotal)
	if s.IDs != nil {
		out += fmt.Sprintf(" ids %q", s.IDs)
	}
	for _, key := range s.Sort {
		out += " by " + key.Field + map[bool]string{true: " down"}[key.Descending]
	}
	if s.After != nil {
		out += fmt.Sprintf(" after %s", s.After)
	}
	if !s.Source.All() {
		out += fmt.Sprintf(" source %v %q %q", !s.Source.None, s.Source.Includes, s.Source.Excludes)
	}
	if s.Versions || s.SeqNoTerm {
		out += fmt.Sprintf(" versions %v %v", s.Versions, s.SeqNoTerm)
	}
	return out
}

// What is refused has the words of OpenSearch 2.19.0, but for "not supported".
func TestParse(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{``, "0+10 of 10000"},
		{`{}`, "0+10 of 10000"},
		{`{"query":{"match_all":{}},"from":3,"size":"2"}`, "3+2 of 10000"},
		{`{"query":{"match_all":{"boost":1.0}}}`, "0+10 of 10000"},
		{`{"query":{"ids":{"values":["1",2]}}}`, `0+10 of 10000 ids ["1" "2"]`},
		{`{"query":{"ids":{"values":"1"}}}`, `0+10 of 10000 ids ["1"]`},
		{`{"query":{"ids":{}}}`, `0+10 of 10000 ids []`},
		{`{"sort":"_id"}`, "0+10 of 10000 by _id"},
		{`{"sort":["_doc",{"_id":"desc"}]}`, "0+10 of 10000 by _doc by _id down"},
		{`{"sort":{"_id":{"order":"DESC","unmapped_type":"keyword"}}}`, "0+10 of 10000 by _id down"},
		{`{"sort":[{"_id":"ASC","_doc":"desc"}]}`, "0+10 of 10000 by _id by _doc down"},
		{`{"sort":["_score"]}`, "0+10 of 10000"},
		{`{"sort":[{}]}`, "0+10 of 10000"},
		{`{"search_after":["a\"b",1,null],"sort":"_id"}`, `0+10 of 10000 by _id after ["a\"b" 1 null]`},
		{`{"_source":false}`, "0+10 of 10000 source false [] []"},
		{`{"_source":["a","b.*"]}`, `0+10 of 10000 source true ["a" "b.*"] []`},
		{`{"_source":{"includes":"a","exclude":["b"]}}`, `0+10 of 10000 source true ["a"] ["b"]`},
		{`{"track_total_hits":true}`, "0+10 of -1"},
		{`{"track_total_hits":false}`, "0+10 of 0"},
		{`{"track_total_hits":"7"}`, "0+10 of 7"},
		{`{"version":true,"seq_no_primary_term":true}`, "0+10 of 10000 versions true true"},
		{`{"timeout":"1s","terminate_after":0,"explain":false,"aggs":{},"docvalue_fields":[]}`, "0+10 of 10000"},

		{`[]`, "parsing_exception: Expected [START_OBJECT] but found [START_ARRAY] line=1 col=1"},
		{`{"query":{}}`, "illegal_argument_exception: query malformed, empty clause found at [1:11]"},
		{`{"query":5}`, "parsing_exception: Unknown key for a VALUE_NUMBER in [query]. line=1 col=10"},
		{`{"query":{"foo":{}}}`, "parsing_exception: unknown query [foo] line=1 col=17 <- named_object_not_found_exception: [1:17] unknown field [foo]"},
		{`{"query":{"match":{"a":1}}}`, "parsing_exception: [match] query is not supported by this version of reshelve line=1 col=19"},
		{`{"query":{"match_all":{},"ids":{}}}`, "parsing_exception: [match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME] line=1 col=26"},
		{`{"query":{"match_all":{"foo":1}}}`, "parsing_exception: [1:24] [match_all] unknown field [foo] line=1 col=30 <- x_content_parse_exception: [1:24] [match_all] unknown field [foo]"},
		{`{"query":{"match_all":5}}`, "parsing_exception: [match_all] query malformed, no start_object after query name line=1 col=23"},
		{`{"query":{"ids":{"values":{}}}}`, "parsing_exception: [1:27] [ids] values doesn't support values of type: START_OBJECT line=1 col=27 <- x_content_parse_exception: [1:27] [ids] values doesn't support values of type: START_OBJECT"},
		{`{"foo":1}`, "parsing_exception: Unknown key for a VALUE_NUMBER in [foo]. line=1 col=8"},
		{`{"foo":{}}`, "parsing_exception: Unknown key for a START_OBJECT in [foo]. line=1 col=8"},
		{`{"aggs":{"a":{}}}`, "parsing_exception: [aggs] is not supported by this version of reshelve line=1 col=9"},
		{`{"from":-1}`, "illegal_argument_exception: [from] parameter cannot be negative, found [-1]"},
		{`{"size":-2}`, "illegal_argument_exception: [size] parameter cannot be negative, found [-2]"},
		{`{"size":"x"}`, `number_format_exception: For input string: "x"`},
		{`{"size":null}`, "parsing_exception: Unknown key for a VALUE_NULL in [size]. line=1 col=9"},
		{`{"version":"x"}`, "illegal_argument_exception: Failed to parse value [x] as only [true] or [false] are allowed."},
		{`{"sort":[5]}`, "illegal_argument_exception: malformed sort format, within the sort array, an object, or an actual string are allowed"},
		{`{"sort":["a"]}`, "parsing_exception: sorting by [a] is not supported by this version of reshelve line=1 col=10"},
		{`{"sort":[{"_id":"up"}]}`, "illegal_argument_exception: No enum constant org.opensearch.search.sort.SortOrder.UP"},
		{`{"sort":[{"_id":{"foo":"asc"}}]}`, "x_content_parse_exception: [1:18] [field_sort] unknown field [foo]"},
		{`{"search_after":[]}`, "illegal_argument_exception: Values must contains at least one value."},
		{`{"search_after":"1"}`, "parsing_exception: Unknown key for a VALUE_STRING in [search_after]. line=1 col=17"},
		{`{"search_after":[{}]}`, "parsing_exception: Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [START_OBJECT] inside search_after. line=1 col=18"},
		{`{"_source":5}`, "parsing_exception: Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [VALUE_NUMBER] line=1 col=12"},
		{`{"_source":{"foo":[]}}`, "parsing_exception: Unknown key for a START_ARRAY in [foo]. line=1 col=19"},
	} {
		if got := told(Parse([]byte(c.body))); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.body, got, c.want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for body, want := range map[string]string{
		``:                                   "0+10 of 10000",
		`{"query":{"ids":{"values":["1"]}}}`: `0+10 of 10000 ids ["1"]`,
		`{"query":{"match_all":{}},"x":1}`:   "parsing_exception: request does not support [x] line=1 col=27",
	} {
		if got := told(ParseCount([]byte(body))); got != want {
			t.Errorf("%s\ngives %s\nwant  %s", body, got, want)
		}
	}
}

func TestParseSort(t *testing.T) {
	keys, err := ParseSort("_id:desc,_doc")
	if got, want := fmt.Sprint(keys[0].Field, keys[0].Descending, keys[1].Field, keys[1].Descending, err), "_idtrue_docfalse <nil>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := ParseSort("a"); !exception.Is(err, exception.Parsing) {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{"size":10}`:                                "",
		`{"from":9999,"size":2}`:                     "Result window is too large",
		`{"search_after":[1]}`:                       "Sort must contain at least one field.",
		`{"search_after":[1,2],"sort":"_id"}`:        "search_after has 2 value(s) but sort has 1.",
		`{"search_after":[1],"sort":"_id","from":1}`: "`from` parameter must be set to 0",
	} {
		s, err := Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		refused := s.Check(10_000)
		if want == "" != (refused == nil) || refused != nil && !strings.HasPrefix(refused.Reason, want) {
			t.Errorf("%s: %v, want %s", body, refused, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"query":{"ids":{"values":["1",2]}},"sort":[{"_id":{"order":"desc"}},"_doc"],"search_after":["x",1],"from":0,"size":5}`,
		`{"_source":{"includes":["a"],"excludes":"b"},"track_total_hits":5,"aggs":{"a":{}},"version":true}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := Parse(body)
		if err != nil && exception.From(err).Status() == 500 {
			t.Errorf("%v is no fault of ours", err)
		}
		if err == nil && (s.From < 0 || s.Size < 0 || s.TrackTotal < -1) {
			t.Errorf("%+v", s)
		}
		_, _ = ParseCount(body)
	})
}

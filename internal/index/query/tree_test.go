package query

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/search"
)

// describe tells a tree: what is set of it, and the boosts that are not 1.
func describe(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if zone, ok := v.Interface().(*time.Location); ok {
			return zone.String()
		}
		return describe(v.Elem())
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, describe(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			field, name := v.Field(i), v.Type().Field(i).Name
			if common, ok := field.Interface().(search.Common); ok {
				if common.Boost != 1 {
					parts = append(parts, fmt.Sprintf("^%v", common.Boost))
				}
				if common.Name != "" {
					parts = append(parts, "#"+common.Name)
				}
				continue
			}
			switch {
			case field.IsZero():
			case field.Kind() == reflect.Bool:
				parts = append(parts, name)
			default:
				parts = append(parts, name+"="+describe(field))
			}
		}
		return v.Type().Name() + "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

func TestTrees(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"match_all":{}}`, "MatchAll{}"},
		{`{"match_all":{"boost":"2.5","_name":"n"}}`, "MatchAll{^2.5 #n}"},
		{`{"match_none":{}}`, "MatchNone{}"},
		{`{"ids":{"values":["1",2]}}`, "IDs{Values=[1 2]}"},
		{`{"exists":{"field":"a"}}`, "Exists{Field=a}"},
		{`{"term":{"a":5}}`, "Term{Field=a Value=Value{Kind=VALUE_NUMBER Text=5}}"},
		{`{"term":{"a":{"value":"x","case_insensitive":true,"boost":3}}}`, "Term{^3 Field=a Value=Value{Kind=VALUE_STRING Text=x} FoldCase}"},
		{`{"terms":{"a":["x",true,1.5],"boost":2}}`, "Terms{^2 Field=a Values=[Value{Kind=VALUE_STRING Text=x} Value{Kind=VALUE_BOOLEAN Text=true} Value{Kind=VALUE_NUMBER Text=1.5}]}"},
		{`{"terms":{"a":[]}}`, "Terms{Field=a}"},
		{`{"range":{"d":{"gte":"now/d","lt":5,"time_zone":"+01:00","format":"yyyy","relation":"WITHIN"}}}`,
			"Range{Field=d Asked=Asked{From=Bound{Value=Value{Kind=VALUE_STRING Text=now/d} Include} To=Bound{Value=Value{Kind=VALUE_NUMBER Text=5}} Format=yyyy Zone=+01:00 Relation=within}}"},
		{`{"range":{"d":{"include_lower":false,"from":1,"to":2}}}`, "Range{Field=d Asked=Asked{From=Bound{Value=Value{Kind=VALUE_NUMBER Text=1}} To=Bound{Value=Value{Kind=VALUE_NUMBER Text=2} Include}}}"},
		{`{"range":{"d":{"gt":1,"gte":null}}}`, "Range{Field=d}"},
		{`{"prefix":{"a":"x"}}`, "Prefix{Field=a Value=x}"},
		{`{"wildcard":{"a":{"wildcard":"x*","rewrite":"constant_score"}}}`, "Wildcard{Field=a Value=x* Rewrite=constant_score}"},
		{`{"regexp":{"a":{"value":"x.*","flags":"ALL|interval","max_determinized_states":5}}}`, "Regexp{Field=a Value=x.* Flags=ALL|interval MaxStates=5}"},
		{`{"fuzzy":{"a":"x"}}`, "Fuzzy{Field=a Value=Value{Kind=VALUE_STRING Text=x} Fuzziness=Fuzziness{Set Auto Low=3 High=6 Expansions=50 Transposing}}"},
		{`{"fuzzy":{"a":{"value":"x","fuzziness":1,"prefix_length":2}}}`, "Fuzzy{Field=a Value=Value{Kind=VALUE_STRING Text=x} Fuzziness=Fuzziness{Set Edits=1 Prefix=2 Expansions=50 Transposing}}"},
		{`{"match":{"a":"x"}}`, "Match{Field=a Text=Value{Kind=VALUE_STRING Text=x} Fuzziness=Fuzziness{Expansions=50 Transposing}}"},
		{`{"match":{"a":{"query":5,"operator":"AND","minimum_should_match":2,"fuzziness":"auto:1,4","zero_terms_query":"ALL","lenient":true,"auto_generate_synonyms_phrase_query":false,"analyzer":"stop"}}}`,
			"Match{Field=a Text=Value{Kind=VALUE_NUMBER Text=5} And MinimumShould=2 Analyzer=stop Fuzziness=Fuzziness{Set Auto Low=1 High=4 Expansions=50 Transposing} Lenient ZeroTermsAll NoSynonyms}"},
		{`{"match_bool_prefix":{"a":"x y"}}`, "Match{Field=a Text=Value{Kind=VALUE_STRING Text=x y} Fuzziness=Fuzziness{Expansions=50 Transposing} BoolPrefix}"},
		{`{"match_phrase":{"a":{"query":"x","slop":2}}}`, "MatchPhrase{Field=a Text=Value{Kind=VALUE_STRING Text=x} Slop=2}"},
		{`{"match_phrase_prefix":{"a":"x"}}`, "MatchPhrase{Field=a Text=Value{Kind=VALUE_STRING Text=x} Prefix Expansions=50}"},
		{`{"multi_match":{"query":"x","fields":["a","b^2","a^3"],"type":"phrase","tie_breaker":0.5,"slop":1}}`,
			"MultiMatch{Fields=[FieldBoost{Field=a Boost=3} FieldBoost{Field=b Boost=2}] Type=phrase TieBreaker=0.5 Match=Match{Text=Value{Kind=VALUE_STRING Text=x} Fuzziness=Fuzziness{Expansions=50 Transposing}} Slop=1 Expansions=50}"},
		{`{"query_string":{"query":"x","default_operator":"and","fields":["a"],"lenient":false,"enable_position_increments":false}}`,
			"QueryString{Query=x Fields=[FieldBoost{Field=a Boost=1}] And AllowLeadingWildcard Fuzziness=Fuzziness{Set Auto Low=3 High=6 Expansions=50 Transposing} Lenient=false MaxStates=10000 NoPositions}"},
		{`{"simple_query_string":{"query":"x","flags":5}}`, "SimpleQueryString{Query=x Flags=AND|OR Fuzziness=Fuzziness{Expansions=50 Transposing}}"},
		{`{"bool":{"must":{"match_all":{}},"filter":[{"exists":{"field":"a"}}],"mustNot":{"match_none":{}},"should":[],"minimum_should_match":"75%"}}`,
			"Bool{Must=[MatchAll{}] Filter=[Exists{Field=a}] MustNot=[MatchNone{}] MinimumShould=75% AdjustPureNegative}"},
		{`{"constant_score":{"filter":{"match_all":{}},"boost":2}}`, "ConstantScore{^2 Filter=MatchAll{}}"},
		{`{"dis_max":{"queries":[{"match_all":{}}],"tie_breaker":0.5}}`, "DisjunctionMax{Queries=[MatchAll{}] TieBreaker=0.5}"},
		{`{"boosting":{"positive":{"match_all":{}},"negative":{"match_none":{}},"negative_boost":0.5}}`, "Boosting{Positive=MatchAll{} Negative=MatchNone{} NegativeBoost=0.5}"},
		{`{"nested":{"path":"o","query":{"match_all":{}},"score_mode":"sum","inner_hits":{"size":2,"_source":false}}}`,
			"Nested{Path=o Query=MatchAll{} ScoreMode=sum Inner=Inner{Name=o Size=2 Request=Fetch{Source=SourceFilter{None} SourceSet}}}"},
		{`{"wrapper":{"query":"eyJtYXRjaF9hbGwiOnt9fQ=="}}`, "MatchAll{}"},
		{`{"function_score":{"query":{"match_none":{}},"functions":[{"filter":{"match_all":{}},"weight":2},{"random_score":{"seed":"ab","field":"f"}}],"score_mode":"sum","boost_mode":"replace","max_boost":3,"min_score":1}}`,
			"FunctionScore{Query=MatchNone{} Functions=[Function{Filter=MatchAll{} Weight=2} Function{Random=RandomScore{Seed=3105 Field=f}}] ScoreMode=sum BoostMode=replace MaxBoost=3 MinScore=1}"},
		{`{"function_score":{"random_score":{"seed":4294967296}}}`, "FunctionScore{Query=MatchAll{} Functions=[Function{Random=RandomScore{Seed=1}}] ScoreMode=multiply BoostMode=multiply}"},
		{`{"function_score":{"field_value_factor":{"field":"n","factor":2,"modifier":"LOG1P","missing":1}}}`,
			"FunctionScore{Query=MatchAll{} Functions=[Function{Factor=FieldFactor{Field=n Factor=2 Modifier=log1p Missing=1}}] ScoreMode=multiply BoostMode=multiply}"},
		{`{"function_score":{"gauss":{"d":{"origin":"now","scale":"10d","offset":"1d","decay":0.3},"multi_value_mode":"avg"}}}`,
			"FunctionScore{Query=MatchAll{} Functions=[Function{Decay=Decay{Shape=gauss Field=d Origin=now Scale=10d Offset=1d Decay=0.3 Mode=avg}}] ScoreMode=multiply BoostMode=multiply}"},
		{`{"geo_distance":{"distance":"2km","g":[2,1]}}`, "GeoDistance{Field=g Lat=1 Lon=2 Meters=2000}"},
		{`{"geo_distance":{"distance":2,"unit":"mi","g.lat":1,"g.lon":2}}`, "GeoDistance{Field=g Lat=1 Lon=2 Meters=3218.688}"},
		{`{"geo_bounding_box":{"g":{"top_left":"3,0","bottom_right":{"lat":0,"lon":3}}}}`, "GeoBox{Field=g Top=3 Right=3}"},
		{`{"geo_bounding_box":{"g":{"top_left":"s","bottom_right":"s"}}}`, "GeoBox{Field=g Top=45 Right=45}"},
	} {
		s, err := ReadSearch([]byte(`{"query":` + c.body + `}`))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got := describe(reflect.ValueOf(s.Query)); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.body, got, c.want)
		}
	}
}

func TestSearches(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{``, "Search{Size=10 TrackTotal=-2}"},
		{`{"from":1,"size":"2","track_total_hits":true,"min_score":1.5,"timeout":"2s","terminate_after":3}`, "Search{MinScore=1.5 From=1 Size=2 TrackTotal=2147483647 Timeout=2s TerminateAfter=3}"},
		{`{"sort":["a","_score",{"b":{"order":"desc","missing":"_first","mode":"MIN","unmapped_type":"long","numeric_type":"double"}}]}`,
			"Search{Sort=[Sort{Field=a} Sort{Field=_score Descending} Sort{Field=b Descending Missing=Value{Kind=VALUE_STRING Text=_first} Mode=min UnmappedType=long NumericType=double}] Size=10 TrackTotal=-2}"},
		{`{"sort":{"o.x":{"nested":{"path":"o","filter":{"match_all":{}},"max_children":2}}}}`, "Search{Sort=[Sort{Field=o.x Nested=NestedSort{Path=o Filter=MatchAll{} MaxChildren=2}}] Size=10 TrackTotal=-2}"},
		{`{"sort":{"_geo_distance":{"g":["1,2",[4,3]],"unit":"km","order":"desc"}}}`, "Search{Sort=[Sort{Field=g Descending Geo=GeoSort{Lat=[1 3] Lon=[2 4] Unit=km}}] Size=10 TrackTotal=-2}"},
		{`{"slice":{"field":"n","id":1,"max":4},"pit":{"id":"p","keep_alive":"1m"}}`, "Search{Size=10 TrackTotal=-2 Slice=Slice{Field=n ID=1 Max=4} PIT=PIT{ID=p KeepAlive=1m0s}}"},
		{`{"_source":["a"],"stored_fields":"_none_","docvalue_fields":["a",{"field":"b","format":"f"}],"fields":[{"field":"c"}],"version":true,"seq_no_primary_term":true,"explain":true}`,
			"Search{Size=10 TrackTotal=-2 Fetch=Fetch{Source=SourceFilter{Includes=[a]} SourceSet StoredFields=[_none_] DocvalueFields=[FieldFormat{Field=a} FieldFormat{Field=b Format=f}] Fields=[FieldFormat{Field=c}] Versions SeqNoTerm Explain}}"},
		{`{"highlight":{"pre_tags":"<b>","post_tags":["</b>"],"fields":{"t":{"type":"plain","fragment_size":5},"u":{}},"require_field_match":false,"encoder":"html"}}`,
			"Search{Size=10 TrackTotal=-2 Fetch=Fetch{Highlight=Highlight{Marking=Marking{PreTags=[<b>] PostTags=[</b>] FieldMatch=false} Encoder=html Fields=[HighlightField{Name=t Marking=Marking{Type=plain FragmentSize=5} FragmentOffset=-1} HighlightField{Name=u FragmentOffset=-1}]}}}"},
		{`{"rescore":[],"suggest":{},"script_fields":{},"collapse":{},"profile":false,"ext":{},"indices_boost":[],"stats":["a"]}`, "Search{Size=10 TrackTotal=-2}"},
	} {
		s, err := ReadSearch([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got := describe(reflect.ValueOf(s)); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.body, got, c.want)
		}
	}
	s, err := ReadSearch([]byte(`{"sort":"n","search_after":["a\"b",1,null,true]}`))
	if got := fmt.Sprintf("%s %v", s.After, err); got != `["a\"b" 1 null true] <nil>` {
		t.Error(got)
	}
}

// What the server does and this version does not is refused by its name.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"query":{"span_term":{"a":"x"}}}`, "[span_term] query"},
		{`{"query":{"bool":{"must":{"percolate":{}}}}}`, "[percolate] query"},
		{`{"query":{"function_score":{"script_score":{"script":"1"}}}}`, "[script_score] function"},
		{`{"query":{"terms":{"a":{"index":"i","id":"1","path":"p"}}}}`, "[terms] lookup of a document"},
		{`{"rescore":{"query":{}}}`, "[rescore]"},
		{`{"suggest":{"a":{}}}`, "[suggest]"},
		{`{"script_fields":{"a":{}}}`, "[script_fields]"},
		{`{"collapse":{"field":"a"}}`, "[collapse]"},
		{`{"indices_boost":[{"a":1}]}`, "[indices_boost]"},
		{`{"derived":{"a":{}}}`, "[derived]"},
		{`{"profile":true}`, "[profile]"},
		{`{"terminate_after":-1}`, "[terminate_after] below 0"},
		{`{"search_pipeline":"a"}`, "[search_pipeline]"},
		{`{"sort":{"_script":{}}}`, "sorting by [_script]"},
	} {
		_, err := ReadSearch([]byte(c.body))
		if want := c.want + " is not supported by this version of reshelve"; err == nil || !strings.Contains(tell(err), want) || !strings.HasPrefix(tell(err), "400 ") {
			t.Errorf("%s: %v, want %s", c.body, err, want)
		}
	}
}

package query

import (
	"net/url"
	"reflect"
	"testing"
)

// What is refused has the words of OpenSearch 2.19.0, but for an unknown direction.
func TestReadURL(t *testing.T) {
	const plain = "Search{Size=10 TrackTotal=-2}"
	for _, c := range []struct{ url, want string }{
		{"", plain},
		{"df=k", plain},
		{"q=hello", "Search{Query=QueryString{Query=hello AllowLeadingWildcard Fuzziness=Fuzziness{Set Auto Low=3 High=6 Expansions=50 Transposing} MaxStates=10000} Size=10 TrackTotal=-2}"},
		{"q=a&df=k&default_operator=and&analyze_wildcard&lenient=true&analyzer=simple",
			"Search{Query=QueryString{Query=a DefaultField=k And Analyzer=simple AllowLeadingWildcard AnalyzeWildcard Fuzziness=Fuzziness{Set Auto Low=3 High=6 Expansions=50 Transposing} Lenient=true MaxStates=10000} Size=10 TrackTotal=-2}"},
		{"from=1&size=0&terminate_after=5&timeout=1m", "Search{From=1 TrackTotal=-2 Timeout=1m0s TerminateAfter=5}"},
		{"explain&version=&seq_no_primary_term=true&track_scores=true", "Search{Size=10 TrackTotal=-2 Fetch=Fetch{Versions SeqNoTerm Explain TrackScores}}"},
		{"track_total_hits=true", "Search{Size=10 TrackTotal=2147483647}"},
		{"track_total_hits=false", "Search{Size=10 TrackTotal=-1}"},
		{"track_total_hits=7", "Search{Size=10 TrackTotal=7}"},
		{"sort=k:desc,n,_score", "Search{Sort=[Sort{Field=k Descending} Sort{Field=n} Sort{Field=_score Descending}] Size=10 TrackTotal=-2}"},
		{"sort=", plain},
		{"stored_fields=a,b&docvalue_fields=n", "Search{Size=10 TrackTotal=-2 Fetch=Fetch{StoredFields=[a b] DocvalueFields=[FieldFormat{Field=n}]}}"},
		{"_source=false", "Search{Size=10 TrackTotal=-2 Fetch=Fetch{Source=SourceFilter{None} SourceSet}}"},
		{"_source=a,b&_source_excludes=c", "Search{Size=10 TrackTotal=-2 Fetch=Fetch{Source=SourceFilter{Includes=[a b] Excludes=[c]} SourceSet}}"},
		{"search_type=dfs_query_then_fetch", plain},

		{"q=a&default_operator=xor", "400 illegal_argument_exception: No enum constant org.opensearch.index.query.Operator.XOR"},
		{"q=a&analyze_wildcard=x", "400 illegal_argument_exception: Failed to parse value [x] as only [true] or [false] are allowed."},
		{"size=x", `400 illegal_argument_exception: Failed to parse int parameter [size] with value [x] <- number_format_exception: For input string: "x"`},
		{"size=", `400 illegal_argument_exception: Failed to parse int parameter [size] with value [] <- number_format_exception: For input string: ""`},
		{"size=-1", "400 illegal_argument_exception: [size] parameter cannot be negative, found [-1]"},
		{"from=99999999999", `400 illegal_argument_exception: Failed to parse int parameter [from] with value [99999999999] <- number_format_exception: For input string: "99999999999"`},
		{"version=x", "400 illegal_argument_exception: Failed to parse value [x] as only [true] or [false] are allowed."},
		{"track_total_hits=-2", "400 illegal_argument_exception: [track_total_hits] parameter must be positive or equals to -1, got -2"},
		{"terminate_after=-1", "400 illegal_argument_exception: terminateAfter must be > 0"},
		{"timeout=x", "400 illegal_argument_exception: failed to parse setting [timeout] with value [x] as a time value: unit is missing or unrecognized"},
		{"stored_fields=_none_,a", "400 illegal_argument_exception: cannot combine _none_ with other fields"},
		{"search_type=query_and_fetch", "400 illegal_argument_exception: Unsupported search type [query_and_fetch]"},
		{"search_type=foo", "400 illegal_argument_exception: No search type for [foo]"},
		{"request_cache=true&preference=_local&batched_reduce_size=2&phase_took=false&cancel_after_time_interval=1s", "Search{Size=10 TrackTotal=-2 Cached}"},
		{"preference=abc", plain},
		{"preference=_prefer_nodes:a,b", plain},

		{"preference=_x", "400 illegal_argument_exception: no Preference for [_x]"},
		{"preference=_shards:0", "400 illegal_argument_exception: [preference] of [_shards] is not supported by this version of reshelve"}, // the server looks into no other shard
		{"request_cache=x", "400 illegal_argument_exception: Failed to parse value [x] as only [true] or [false] are allowed."},
		{"batched_reduce_size=1", "400 illegal_argument_exception: batchedReduceSize must be >= 2"},
		{"max_concurrent_shard_requests=0", "400 illegal_argument_exception: maxConcurrentShardRequests must be >= 1"},
		{"pre_filter_shard_size=0", "400 illegal_argument_exception: preFilterShardSize must be >= 1"},
		{"pre_filter_shard_size=x", `400 illegal_argument_exception: Failed to parse int parameter [pre_filter_shard_size] with value [x] <- number_format_exception: For input string: "x"`},
		{"cancel_after_time_interval=x", "400 illegal_argument_exception: failed to parse setting [cancel_after_time_interval] with value [x] as a time value: unit is missing or unrecognized"},
		{"phase_took=true", "400 illegal_argument_exception: [phase_took] is not supported by this version of reshelve"},
		{"sort=k:foo", "400 illegal_argument_exception: No enum constant org.opensearch.search.sort.SortOrder.FOO"},
	} {
		values, err := url.ParseQuery(c.url)
		if err != nil {
			t.Fatal(err)
		}
		s := New()
		err = s.ReadURL(func(name string) (string, bool) { return values.Get(name), values.Has(name) })
		got := describe(reflect.ValueOf(s))
		if err != nil {
			got = tell(err)
		}
		if got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.url, got, c.want)
		}
	}
}

package query

import (
	"testing"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// FuzzAggregations: reading aggregations never panics, and what was read can be put to
// work. (Answers are compared with those of a real server in package aggregate.)
func FuzzAggregations(f *testing.F) {
	for _, seed := range []string{
		`{"x":{"terms":{"field":"k","size":3,"order":[{"_count":"asc"},{"y.avg":"desc"}],"include":"a.*","missing":"z"},"aggs":{"y":{"stats":{"field":"l"}}}}}`,
		`{"x":{"terms":{"field":"k","include":{"partition":0,"num_partitions":2},"exclude":["a"]}}}`,
		`{"x":{"date_histogram":{"field":"d","calendar_interval":"month","time_zone":"Europe/Berlin","offset":"-1d","extended_bounds":{"min":"2020","max":5}}}}`,
		`{"x":{"histogram":{"field":"l","interval":0.5,"hard_bounds":{"min":null}},"meta":{"a":[1,2.0,{"b":null}]}}}`,
		`{"x":{"range":{"field":"l","ranges":[{"from":1,"to":"2"},{"key":"k"}]}},"y":{"ip_range":{"field":"i","ranges":[{"mask":"::/3"}]}}}`,
		`{"x":{"filters":{"other_bucket_key":"o","filters":{"a":{"term":{"k":"v"}}}}},"y":{"filter":{"match_all":{}}}}`,
		`{"x":{"nested":{"path":"n"},"aggs":{"y":{"reverse_nested":{}}}},"g":{"global":{}},"m":{"missing":{"field":"f"}}}`,
		`{"x":{"composite":{"size":2,"after":{"a":1,"b":null},"sources":[{"a":{"terms":{"field":"k"}}},{"b":{"date_histogram":{"field":"d","fixed_interval":"1d","missing_bucket":true}}}]}}}`,
		`{"x":{"percentiles":{"field":"l","percents":[1,"2"],"tdigest":{"compression":5}}},"y":{"cardinality":{"field":"l","precision_threshold":10}}}`,
		`{"x":{"top_hits":{"size":1,"sort":["_doc"],"_source":false}},"y":{"weighted_avg":{"value":{"field":"a"},"weight":{"field":"b","missing":1}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		search, err := ReadSearch(append(append([]byte(`{"aggs":`), body...), '}'))
		if err != nil {
			if exception.From(err).Type == exception.Unknown {
				t.Errorf("%v has no type", err)
			}
			return
		}
		if _, err := aggregate.New(search.Aggs, aggregate.Options{}); err != nil && exception.From(err).Type == exception.Unknown {
			t.Errorf("%v has no type", err)
		}
	})
}

// TestMetaIsTold: what the server tells of meta (OpenSearch 2.19.0).
func TestMetaIsTold(t *testing.T) {
	for given, want := range map[string]string{
		`{"alpha":1,"beta1":2,"zeta":3}`:                           `{"zeta":3,"beta1":2,"alpha":1}`,
		`{"a":1e5,"b":[1,2.50,"x",null,{"alpha":true,"zeta":""}]}`: `{"a":100000.0,"b":[1,2.5,"x",null,{"zeta":"","alpha":true}]}`,
	} {
		search, err := ReadSearch([]byte(`{"aggs":{"x":{"global":{},"meta":` + given + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(search.Aggs[0].Meta); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

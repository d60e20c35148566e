package aggregate_test

import (
	"fmt"
	"testing"

	"github.com/reshelve/reshelve/internal/index/search"
)

// TestTopHits: which hits, with which scores and sort values, OpenSearch 2.19.0 has of the
// same documents.
func TestTopHits(t *testing.T) {
	d := &described{name: "hits", mappings: `{"properties":{"k":{"type":"keyword"},"l":{"type":"long"},"d":{"type":"double"}}}`}
	for i := range 12 {
		d.docs = append(d.docs, fmt.Sprintf(`{"k":"%c","l":%d,"d":%v}`, "kab"[i%3], i*7%11, float64(i)/4))
	}
	for _, tc := range []struct{ asked, a, k, b string }{
		{
			`{"size":2,"sort":[{"l":"desc"}]}`,
			`{"total":4,"hits":[{"id":"1","sort":7},{"id":"4","sort":6}]}`,
			`{"total":3,"hits":[{"id":"3","sort":10},{"id":"6","sort":9}]}`, `{"total":1,"hits":[{"id":"2","sort":3}]}`,
		},
		{
			`{"size":2,"from":1,"sort":[{"l":"asc"}]}`,
			`{"total":4,"hits":[{"id":"7","sort":5},{"id":"4","sort":6}]}`,
			`{"total":3,"hits":[{"id":"6","sort":9},{"id":"3","sort":10}]}`, `{"total":1,"hits":[]}`,
		},
		{
			`{"size":1,"sort":[{"d":"desc"},{"l":"desc"}],"track_scores":true}`,
			`{"total":4,"hits":[{"id":"10","score":1,"sort":0,"sort":4}]}`,
			`{"total":3,"hits":[{"id":"9","score":1,"sort":0,"sort":8}]}`, `{"total":1,"hits":[{"id":"2","score":1,"sort":0,"sort":3}]}`,
		},
		{
			`{"size":1,"sort":[{"_score":"desc"},{"l":"desc"}]}`,
			`{"total":4,"hits":[{"id":"1","sort":0,"sort":7}]}`,
			`{"total":3,"hits":[{"id":"3","sort":0,"sort":10}]}`, `{"total":1,"hits":[{"id":"2","sort":0,"sort":3}]}`,
		},
	} {
		want := fmt.Sprintf(`200 {"sterms#x":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"a","doc_count":4,"top_hits#t":{"hits":%s}},`+
			`{"key":"k","doc_count":3,"top_hits#t":{"hits":%s}},{"key":"b","doc_count":1,"top_hits#t":{"hits":%s}}]}}`, tc.a, tc.k, tc.b)
		for _, l := range layouts {
			got := ask([]search.Index{d.index(t, 0, l)}, `{"query":{"range":{"l":{"gte":3}}},"aggs":{"x":{"terms":{"field":"k"},"aggs":{"t":{"top_hits":`+tc.asked+`}}}}}`)
			if got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", l.name, tc.asked, got, want)
			}
		}
	}
}

// TestTopHitsOfObjects: below nested, hits are objects; which ones, the conversations of
// package gateway have from the server.
func TestTopHitsOfObjects(t *testing.T) {
	d := &described{name: "objects", mappings: `{"properties":{"n":{"type":"nested","properties":{"x":{"type":"long"}}}}}`, docs: []string{`{"n":[{"x":3},{"x":1},{"x":2}]}`, `{}`, `{"n":{"x":2}}`}}
	for _, l := range layouts {
		indices := []search.Index{d.index(t, 0, l)}
		const aggs = `{"aggs":{"x":{"nested":{"path":"n"},"aggs":{"y":{"top_hits":{"size":3,"sort":["n.x"]}},"r":{"reverse_nested":{},"aggs":{"y":{"top_hits":{"sort":["_id"]}}}}}}}}`
		const want = `200 {"nested#x":{"doc_count":4,"reverse_nested#r":{"doc_count":2,"top_hits#y":{"hits":{"total":2,"hits":[{"id":"0","sort":0},{"id":"2","sort":0}]}}},` +
			`"top_hits#y":{"hits":{"path":"n","total":4,"hits":[{"id":"0","sort":1},{"id":"0","sort":2},{"id":"2","sort":2}]}}}}`
		if got := ask(indices, aggs); got != want {
			t.Errorf("%s\n got %s\nwant %s", l.name, got, want)
		}
	}
}

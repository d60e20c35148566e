package aggregate_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
)

// TestAllDocsOfAView: what is known without looking at docs is what they say.
func TestAllDocsOfAView(t *testing.T) {
	d := &described{name: "plain", mappings: `{"properties":{"k":{"type":"keyword"},"c":{"type":"keyword","index":false},"l":{"type":"long"},"ip":{"type":"ip"},"t":{"type":"text","fielddata":true}}}`}
	d.docs = strings.Fields(`{"k":"a","l":1,"t":"x"} {"k":["b","a"],"c":"q","ip":"::1"} {"l":2,"c":["p","q"]} {"k":"c","ip":["1.1.1.1","::1"]} {"k":["a","b","c"],"t":"y"} {}`)
	for _, l := range []layout{{"one segment", 100, false, 0}, {"segments of two", 2, false, 0}, {"with deletes", 4, true, 0}, {"without lexica", 2, false, 1}} {
		indices := []search.Index{d.index(t, 0, l)}
		for _, aggs := range []string{
			`{"x":{"terms":{"field":"k"}}}`, `{"x":{"terms":{"field":"k","missing":"b"}}}`, `{"x":{"terms":{"field":"k","missing":"zz"}}}`,
			`{"x":{"terms":{"field":"k","exclude":"b"}}}`, `{"x":{"terms":{"field":"k","min_doc_count":0}}}`, `{"x":{"terms":{"field":"c"}}}`,
			`{"x":{"terms":{"field":"ip"}},"y":{"max":{"field":"l"}}}`, `{"x":{"terms":{"field":"t"}}}`, `{"x":{"terms":{"field":"_id"}}}`,
			`{"x":{"terms":{"field":"nobody","missing":"n"}}}`, `{"x":{"terms":{"field":"k"},"aggs":{"y":{"terms":{"field":"ip"}}}}}`,
		} {
			whole := ask(indices, `{"aggs":`+aggs+`}`)
			told := ask(indices, `{"query":{"bool":{"must_not":[{"term":{"k":"nobody"}}]}},"aggs":`+aggs+`}`)
			if whole != told || !strings.HasPrefix(whole, "200") {
				t.Errorf("%s: %s\nwhole %s\n told %s", l.name, aggs, whole, told)
			}
		}
	}
}

// TestTermsOfDeletedDocs: terms that only hidden documents have are not told, not even
// where all are.
func TestTermsOfDeletedDocs(t *testing.T) {
	d := &described{name: "deleted", mappings: `{"properties":{"k":{"type":"keyword"},"l":{"type":"long"}}}`, docs: []string{`{"k":"gone","l":9}`, `{"k":"a","l":1}`, `{"k":"b","l":2}`}}
	index := d.index(t, 0, layouts[0])
	view := &index.Sources[0].Views[0]
	view.Hidden = segment.NewBits(view.Docs())
	view.Hidden.Set(0)
	got := ask([]search.Index{index}, `{"query":{"term":{"k":"a"}},"aggs":{"x":{"terms":{"field":"k","min_doc_count":0}},"y":{"terms":{"field":"l","min_doc_count":0}},"g":{"global":{}}}}`)
	const want = `200 {"global#g":{"doc_count":2},` +
		`"sterms#x":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"a","doc_count":1},{"key":"b","doc_count":0}]},` +
		`"lterms#y":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1,"doc_count":1},{"key":2,"doc_count":0}]}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

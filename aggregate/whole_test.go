package aggregate_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/search"
)

// TestAllDocsOfAView: what is known without looking at docs is what they say.
func TestAllDocsOfAView(t *testing.T) {
	d := &described{name: "plain", mappings: `{"properties":{"k":{"type":"keyword"},"c":{"type":"keyword","index":false},"l":{"type":"long"},"ip":{"type":"ip"},"t":{"type":"text","fielddata":true}}}`}
	d.docs = strings.Fields(`{"k":"a","l":1,"t":"x"} {"k":["b","a"],"c":"q","ip":"::1"} {"l":2,"c":["p","q"]} {"k":"c","ip":["1.1.1.1","::1"]} {"k":["a","b","c"],"t":"y"} {}`)
	for _, l := range []layout{{"one segment", 100, false}, {"segments of two", 2, false}, {"with deletes", 4, true}} {
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

package store_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store"
)

// TestNoWayAroundAFilter: where OpenSearch 2.19.0 answers through an alias's filter alone,
// by name, pattern or date, so does this store, and nowhere else.
func TestNoWayAroundAFilter(t *testing.T) {
	ctx := t.Context()
	s := newTalker(t).store
	for name, aliases := range map[string]string{
		"i": `{"f-1":{"filter":{"term":{"a":1}}},"f-2026.11.21":{"filter":{"term":{"a":1}}},"open":{},"f-null":{"filter":null}}`, "j": `{"f-1":{}}`,
	} {
		if _, err := s.CreateIndex(ctx, name, []byte(`{"aliases":`+aliases+`}`)); err != nil {
			t.Fatal(err)
		}
		w := []document.Write{{Target: name, ID: "1", Source: []byte(`{"a":2}`), Condition: document.Always}}
		if err := s.Write(ctx, w, document.AtOnce)[0].Err; err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		expression string
		documents  int64
	}{
		{"f-1", 1}, {"f-*", 2}, {"f-1*", 1}, {"f-2*", 0}, {"<f-{now/d}>", 0}, {"f-*,-f-null", 2}, {"j,f-2*", 1},
		{"i,f-1", 2}, {"f-1,i*", 2}, {"f-1,open", 2}, {"*,f-1", 2}, {"_all", 2}, {"*", 2}, {"j", 1}, {"i", 1}, {"f-null", 1},
	} {
		total, _, err := s.Count(ctx, store.Where{Expression: expression(strings.Split(tc.expression, ","), searched)}, nil)
		if err != nil || total != tc.documents {
			t.Errorf("%s: %d documents, %v, want %d", tc.expression, total, err, tc.documents)
		}
	}
}

package aggregate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// TestBucketsAreBoundedWhileTheyAreMade: one document with many values is a billion
// buckets three levels deep, of which ten would be told. They are refused before they are
// there, and so are many aggregations that stand side by side.
func TestBucketsAreBoundedWhileTheyAreMade(t *testing.T) {
	var numbers, words, ranges, filters []string
	for i := range 1000 {
		numbers, words = append(numbers, fmt.Sprint(i)), append(words, fmt.Sprintf(`"w%d"`, i))
		ranges, filters = append(ranges, fmt.Sprintf(`{"from":%d}`, i)), append(filters, `{"match_none":{}}`)
	}
	filters[999] = `{"match_all":{}}`
	d := &described{
		name:     "many",
		mappings: `{"properties":{"k":{"type":"keyword"},"l":{"type":"long"}}}`,
		docs:     []string{fmt.Sprintf(`{"k":[%s],"l":[%s]}`, strings.Join(words, ","), strings.Join(numbers, ","))},
	}
	indices := []search.Index{d.index(t, 0, layouts[0])}
	for name, kind := range map[string]string{
		"terms of texts":   `"terms":{"field":"k"}`,
		"terms of numbers": `"terms":{"field":"l"}`,
		"histogram":        `"histogram":{"field":"l","interval":1}`,
		"range":            `"range":{"field":"l","ranges":[` + strings.Join(ranges, ",") + `]}`,
		"filters":          `"filters":{"filters":[` + strings.Join(filters, ",") + `]}`,
	} {
		body := `{"aggs":{"a":{` + kind + `,"aggs":{"b":{` + kind + `,"aggs":{"c":{` + kind + `}}}}}}}`
		refused(t, name, indices, body)
	}
	for _, kind := range []string{`"terms":{"field":"k"}`, `"cardinality":{"field":"k"}`, `"max":{"field":"l"}`, `"filter":{"match_all":{}}`} {
		var wide []string
		for i := range 1000 {
			wide = append(wide, fmt.Sprintf(`"a%d":{%s}`, i, kind))
		}
		refused(t, kind, indices, `{"aggs":{`+strings.Join(wide, ",")+`}}`)
	}
}

// TestRangesHaveNoMoreBucketsThanThereIsRoomFor: one range may touch as many as there are
// numbers, or, without an end, as there is time. A server with little memory says the same.
func TestRangesHaveNoMoreBucketsThanThereIsRoomFor(t *testing.T) {
	d := &described{
		name:     "ranges",
		mappings: `{"properties":{"d":{"type":"date_range"},"e":{"type":"date_range"},"l":{"type":"long_range"},"f":{"type":"double_range"}}}`,
		docs: []string{`{"d":{"gte":"2020-01-01"},"e":{"gte":"1970-01-01","lt":"2020-01-01"},"l":{"gte":1},"f":{"gte":1}}`,
			`{"d":{"lt":"2020-01-01"},"f":{"lte":1e300,"gte":0}}`},
	}
	indices := []search.Index{d.index(t, 0, layouts[0])}
	for _, kind := range []string{`"date_histogram":{"field":"d","calendar_interval":"year"}`, `"date_histogram":{"field":"d","fixed_interval":"1d","offset":"6h"}`,
		`"date_histogram":{"field":"e","fixed_interval":"1ms"}`, `"histogram":{"field":"l","interval":1}`, `"histogram":{"field":"f","interval":1}`,
		`"histogram":{"field":"f","interval":1,"hard_bounds":{"min":1e200}}`} {
		refused(t, kind, indices, `{"aggs":{"a":{`+kind+`}}}`)
		refused(t, kind, indices, `{"aggs":{"a":{"filter":{"match_all":{}},"aggs":{"a":{`+kind+`}}}}}`)
	}
}

// refused asks with room for 4 MiB of buckets.
func refused(t *testing.T, name string, indices []search.Index, body string) {
	t.Helper()
	c, err := collect(indices, body, aggregate.Options{Memory: 4 << 20})
	if err == nil {
		_, err = c.AppendJSON(nil, true, appendFound)
	}
	if e := exception.From(err); e == nil || e.Type != exception.CircuitBreaking {
		t.Errorf("%s: %v", name, err)
	}
}

// TestACompositeEndsWhenNobodyWaits: a document with a hundred thousand values in each of
// three sources is a million billion keys.
func TestACompositeEndsWhenNobodyWaits(t *testing.T) {
	var numbers []string
	for i := range 100_000 {
		numbers = append(numbers, fmt.Sprint(i))
	}
	d := &described{name: "many", mappings: `{"properties":{"l":{"type":"long"}}}`, docs: []string{`{"l":[` + strings.Join(numbers, ",") + `]}`}}
	const source = `{"terms":{"field":"l"}}`
	s, err := query.ReadSearch([]byte(`{"aggs":{"x":{"composite":{"sources":[{"a":` + source + `},{"b":` + source + `},{"c":` + source + `}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := aggregate.New(s.Aggs, aggregate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := search.NewRequest()
	r.Collectors = []search.Collector{c}
	ctx, end := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer end()
	if _, err = search.Run(ctx, []search.Index{d.index(t, 0, layouts[0])}, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

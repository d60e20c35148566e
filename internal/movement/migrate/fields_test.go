package migrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestFieldsAreCountedAsServersDo: the numbers are those at which OpenSearch 2.19.0 refuses a
// limit that is one lower.
func TestFieldsAreCountedAsServersDo(t *testing.T) {
	body := `{"settings":{"index.mapping.total_fields.limit":"8","index.mapping.depth.limit":"4"},"mappings":{"properties":{
		"title":{"type":"text","fields":{"raw":{"type":"keyword"}}},
		"other":{"type":"alias","path":"title"},
		"author":{"properties":{"name":{"type":"keyword"},"born":{"type":"object","properties":{"year":{"type":"short"}}}}},
		"loans":{"type":"nested","properties":{"parts":{"type":"nested"}}}}}}`
	size, limits, err := migrate.FieldsOf(json.RawMessage(body))
	if err != nil || size != (migrate.Fields{Fields: 9, Depth: 3, Nested: 2}) || limits != (migrate.Fields{Fields: 8, Depth: 4, Nested: 50}) {
		t.Fatalf("%+v of %+v, %v", size, limits, err)
	}
	over := size.Over(limits)
	if len(over) != 1 || !strings.Contains(over[0], "9 of total fields, and the limit index.mapping.total_fields.limit is 8") {
		t.Errorf("%q", over)
	}
}

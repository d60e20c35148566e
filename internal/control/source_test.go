package control

import (
	"strings"
	"testing"
)

func TestStoredFieldsAreThoseThatTheMappingStores(t *testing.T) {
	for _, tc := range []struct{ mappings, want string }{
		{``, "_id _routing"},
		{`{"properties":{"title":{"type":"text"}}}`, "_id _routing"},
		{`{"properties":{"year":{"type":"long","store":true},"title":{"type":"text","store":false,"fields":{"raw":{"store":"true"}}},
		   "author":{"properties":{"name":{"store":true}}}}}`, "_id _routing author.name title.raw year"},
		{`{"properties":{"store":{"type":"keyword"}}}`, "_id _routing"},
	} {
		if got := strings.Join(storedFields([]byte(tc.mappings)), " "); got != tc.want {
			t.Errorf("%s: %s", tc.mappings, got)
		}
	}
}

func TestNestedFieldsAreFoundAtAnyDepth(t *testing.T) {
	for mappings, want := range map[string]bool{
		``: false,
		`{"properties":{"nested":{"type":"text"}}}`:                       false,
		`{"properties":{"a":{"properties":{"b":{ "type" : "nested" }}}}}`: true,
	} {
		if got := hasNested([]byte(mappings)); got != want {
			t.Errorf("%s: %v", mappings, got)
		}
	}
}

package fields

import (
	"testing"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
)

// TestCheck refuses what would be analyzed otherwise than the mapping says.
func TestCheck(t *testing.T) {
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for body, fits := range map[string]bool{
		`{"properties":{"t":{"type":"text"},"k":{"type":"keyword","normalizer":"lowercase"}}}`:                                       true,
		`{"properties":{"t":{"type":"text","analyzer":"english","search_analyzer":"standard"}}}`:                                     true,
		`{"properties":{"o":{"properties":{"t":{"type":"keyword","fields":{"thai":{"type":"text","analyzer":"thai"}}}}}}}`:           false,
		`{"properties":{"t":{"type":"text","search_analyzer":"thai","analyzer":"standard"}}}`:                                        false,
		`{"properties":{"n":{"type":"nested","properties":{"t":{"type":"text","search_quote_analyzer":"thai","analyzer":"stop"}}}}}`: false,
	} {
		m, err := mapping.Parse([]byte(body), mapping.DefaultLimits)
		if err != nil {
			t.Fatal(body, err)
		}
		if err := New(m, a).Check(); (err == nil) != fits {
			t.Errorf("%s: %v", body, err)
		}
	}
}

package exception_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"refresh", "routing", "version", "version_type", "pretty", ""}
	for unknown, want := range map[string]string{
		"refrsh": "did you mean [refresh]?", "versio": "did you mean any of [version, version_type]?", "prety": "did you mean [pretty]?",
		"zzz": "", "": "", "routing": "did you mean [routing]?", strings.Repeat("routing", 1000): "",
	} {
		if got := exception.DidYouMean(unknown, slices.Values(known), 0.4); got != want {
			t.Errorf("%.20s: %q, want %q", unknown, got, want)
		}
	}
}

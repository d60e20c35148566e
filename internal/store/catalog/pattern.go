package catalog

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// overlapAny reports whether some name matches a pattern of each list.
func overlapAny(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if wildcard.Overlap(x, y) {
				return true
			}
		}
	}
	return false
}

// isGlobal reports whether one of the patterns matches every name.
func isGlobal(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p != "" && strings.Trim(p, "*") == "" })
}

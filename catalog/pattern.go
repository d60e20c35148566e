package catalog

import (
	"slices"
	"strings"
)

// overlap reports whether some name matches both patterns.
func overlap(a, b string) bool {
	// row[j]: whether what follows of a and b[j:] have a common name, for one place in a
	// after the other, from the end.
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		next := slices.Clone(row) // of i+1
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*':
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && next[j]
			default:
				row[j] = i < len(a) && j < len(b) && a[i] == b[j] && next[j+1]
			}
		}
	}
	return row[0]
}

// overlapAny reports whether some name matches a pattern of each list.
func overlapAny(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if overlap(x, y) {
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

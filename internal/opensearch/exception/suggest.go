package exception

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// DidYouMean proposes the known names that are like an unknown one, the likest first:
// "did you mean [a]?", "did you mean any of [a, b]?", or "" when there is none. Likeness
// is the share of the longer name, in bytes, that needs no edit (Levenshtein); names
// must be more alike than least.
func DidYouMean(unknown string, known iter.Seq[string], least float64) string {
	type near struct {
		name  string
		alike float64
	}
	var nears []near
	for name := range known {
		longer := float64(max(len(unknown), len(name)))
		if 1-float64(max(len(unknown)-len(name), len(name)-len(unknown)))/longer <= least {
			continue // their lengths differ too much already: this bounds the work, too
		}
		if alike := 1 - float64(edits(unknown, name))/longer; alike > least {
			nears = append(nears, near{name, alike})
		}
	}
	slices.SortFunc(nears, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.alike, a.alike), cmp.Compare(a.name, b.name))
	})
	switch len(nears) {
	case 0:
		return ""
	case 1:
		return "did you mean [" + nears[0].name + "]?"
	}
	names := make([]string, len(nears))
	for i, n := range nears {
		names[i] = n.name
	}
	return "did you mean any of [" + strings.Join(names, ", ") + "]?"
}

// edits is the Levenshtein distance of two texts, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

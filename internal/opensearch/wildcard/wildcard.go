// Package wildcard matches names against patterns in which * stands for any
// characters, none included, and everything else for itself. Indices, fields,
// templates, settings and columns are all named so.
//
// # Invariants
//
//  1. Match takes time in proportion to pattern × text at the most, and allocates nothing.
//  2. Bytes are compared, not letters: case counts.
//
// Absent on purpose: lists of patterns and what a leading minus in them means
// (package catalog), and paths of names between dots (package query).
package wildcard

import (
	"slices"
	"strings"
)

// Match reports whether text is what the pattern says.
func Match(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		var part string
		part, rest, wild = strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
}

// MatchAny reports whether text is what one of the patterns says.
func MatchAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, text) })
}

// Overlap reports whether some text matches both patterns.
func Overlap(a, b string) bool {
	// row[j]: whether what follows of a and b[j:] have a common text, for one place in a
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

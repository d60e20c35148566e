package gateway

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// isPattern reports whether a name is meant as a pattern.
func isPattern(name string) bool { return strings.Contains(name, "*") }

// chosen reports whether a list of names and patterns means name: the list is
// read from left to right, and after its first pattern a leading "-" takes away.
func chosen(list []string, name string) bool {
	if len(list) == 0 {
		return true
	}
	found, wild := false, false
	for _, entry := range list {
		wild = wild || isPattern(entry) || entry == "_all"
		switch {
		case wild && strings.HasPrefix(entry, "-"):
			found = found && entry != "-_all" && !wildcard.Match(entry[1:], name)
		case entry == "_all" || wildcard.Match(entry, name):
			found = true
		}
	}
	return found
}

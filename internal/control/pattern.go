package control

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// selectIndices returns those of the names that fit at least one pattern, in
// the order of their bytes; without patterns all of them. A pattern that fits
// none is NotFound, so that a misspelt name is not an empty answer.
func selectIndices(names, patterns []string) ([]string, error) {
	names = slices.Sorted(slices.Values(names))
	if len(patterns) == 0 {
		return names, nil
	}
	chosen := map[string]bool{}
	for _, pattern := range patterns {
		found := false
		for _, name := range names {
			if wildcard.Match(pattern, name) {
				chosen[name], found = true, true
			}
		}
		if !found {
			err := fault.New(fault.NotFound, "no index of the snapshot fits %q", pattern)
			return nil, fault.WithNext(err, "it holds %s", listed(names))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !chosen[name] }), nil
}

// listed is a short text of names.
func listed(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "no index"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

package control

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/fault"
)

// matches tells whether name fits pattern, in which each * stands for any run of
// characters, the empty one too.
func matches(pattern, name string) bool {
	head, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}

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
			if matches(pattern, name) {
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

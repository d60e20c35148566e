package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Reach is how an expression reaches one index, when it does so through aliases alone:
// with a filter or a routing value of theirs, a part of it is meant. An index that is
// meant by its own name too, or by an alias without, is reached whole.
type Reach struct {
	Filters []json.RawMessage // a document must meet one of them; none: any document
	Routing []string          // only the shards of these routing values; none: all
}

// reached collects a Reach.
type reached struct {
	Reach
	unfiltered, unrouted bool
}

// Reach tells of each of the indices that an expression means how it reaches it; those
// that it reaches whole are left out. nowMillis is the time for date math.
func (c Catalog) Reach(e Expression, indices []string, nowMillis int64) (map[string]Reach, error) {
	names, err := dated(e.Names, nowMillis)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	r := resolver{c, e.Options}
	met := map[string]*reached{}
	for _, name := range names {
		matches := []string{name}
		if !r.seen(name) && isPattern(name) {
			matches = slices.DeleteFunc(r.matches(name), func(match string) bool { return len(r.behind(match, name)) == 0 })
		}
		if name == "_all" {
			matches = slices.Collect(maps.Keys(r.Indices))
		}
		for _, match := range matches {
			for _, index := range c.indicesOf(match) {
				if met[index] == nil {
					met[index] = &reached{}
				}
				met[index].through(c.Aliases[match][index])
			}
		}
	}
	reach := map[string]Reach{}
	for _, index := range indices {
		if m := met[index]; m != nil && (len(m.Filters) > 0 && !m.unfiltered || len(m.Routing) > 0 && !m.unrouted) {
			reach[index] = m.part()
		}
	}
	return reach, nil
}

// through adds an alias, or the index itself: an alias without anything.
func (m *reached) through(a Alias) {
	if a.filters() {
		m.Filters = append(m.Filters, a.Filter)
	} else {
		m.unfiltered = true
	}
	if a.SearchRouting != "" {
		m.Routing = append(m.Routing, strings.Split(a.SearchRouting, ",")...)
	} else {
		m.unrouted = true
	}
}

// part leaves out what one of the ways does not ask for.
func (m *reached) part() Reach {
	r := m.Reach
	if m.unfiltered {
		r.Filters = nil
	}
	if m.unrouted {
		r.Routing = nil
	}
	return r
}

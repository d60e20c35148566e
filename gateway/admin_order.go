package gateway

import (
	"maps"
	"slices"
	"unicode/utf16"
)

// serverOrder is the order in which the server goes through the keys of a map:
// by buckets of its language's hash map, whose table has at least `table` places
// (a power of two) and grows beyond three quarters of them. Clients that show
// answers as they come then show them as they did.
//
// The hash of a string is the documented one of java.lang.String (31·h + c over
// the UTF-16 code units); the spread of its high half and the growth of the table
// are those of java.util.HashMap. Keys of one bucket stay in sorted order, which is
// theirs wherever the server builds the map out of a sorted one.
func serverOrder[V any](m map[string]V, table int) []string {
	keys := slices.Sorted(maps.Keys(m))
	for 4*len(keys) > 3*table {
		table *= 2
	}
	slices.SortStableFunc(keys, func(a, b string) int { return bucket(a, table) - bucket(b, table) })
	return keys
}

// usualTable is the table of a map that was made without a size.
const usualTable = 16

// smallTable is the table of a map of settings.
const smallTable = 2

// copiedTable is the table of a map that was made as a copy of another.
func copiedTable(size int) int {
	table := 1
	for 3*table < 4*size+3 {
		table *= 2
	}
	return table
}

func bucket(key string, table int) int {
	var h uint32
	for _, unit := range utf16.Encode([]rune(key)) {
		h = 31*h + uint32(unit)
	}
	h ^= h >> 16
	return int(h) & (table - 1)
}

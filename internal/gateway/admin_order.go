package gateway

import (
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// serverOrder is the order in which the server goes through the keys of a map:
// by buckets of its language's hash map, whose table has at least `table` places
// (a power of two) and grows beyond three quarters of them. Clients that show
// answers as they come then show them as they did.
//
// See package java for the order. Keys of one place stay sorted, which is theirs wherever
// the server builds the map out of a sorted one.
func serverOrder[V any](m map[string]V, table int) []string {
	return hashOrder(slices.Sorted(maps.Keys(m)), table)
}

// hashOrder is serverOrder of keys that were put into the map one after the other.
func hashOrder(keys []string, table int) []string {
	for 4*len(keys) > 3*table {
		table *= 2
	}
	slices.SortStableFunc(keys, func(a, b string) int { return java.Bucket(a, table) - java.Bucket(b, table) })
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

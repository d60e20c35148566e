package catalog

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// New is the catalog of a store that holds nothing yet. Cluster is left for the
// store to fill: it needs chance.
func New() Catalog {
	return Catalog{NextIndex: 1}.filled()
}

// filled is c with empty maps in the place of nil ones, so that edits and
// comparisons need not tell them apart.
func (c Catalog) filled() Catalog {
	fill(&c.Indices)
	fill(&c.Aliases)
	fill(&c.Streams)
	fill(&c.Legacy)
	fill(&c.Composable)
	fill(&c.Components)
	fill(&c.Settings)
	return c
}

func fill[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}

// Encode is the JSON form, as it is stored.
func (c Catalog) Encode() []byte {
	data, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("catalog: %v", err)) // it holds checked JSON, numbers and strings
	}
	return data
}

// Decode reads the JSON form and checks the package's invariants; what breaks
// one is fault.Corrupt.
func Decode(data []byte) (Catalog, error) {
	var c Catalog
	if err := json.Unmarshal(data, &c); err != nil {
		return Catalog{}, fault.At(fault.New(fault.Corrupt, "%w", err), "catalog")
	}
	c = c.filled()
	return c, c.Check()
}

// Check reports what breaks invariants 1 and 3, as fault.Corrupt.
func (c Catalog) Check() error {
	damaged := func(format string, args ...any) error {
		return fault.At(fault.New(fault.Corrupt, format, args...), "catalog")
	}
	numbers := map[uint32]string{}
	for name, entry := range c.Indices {
		if other, twice := numbers[entry.Number]; twice || entry.Number >= c.NextIndex {
			return damaged("index %s has number %d, which is not given out (next is %d) or belongs to %q", name, entry.Number, c.NextIndex, other)
		}
		numbers[entry.Number] = name
		if stream, ok := c.Streams[entry.Stream]; entry.Stream != "" && (!ok || !slices.Contains(stream.Indices, name)) {
			return damaged("index %s says that it backs data stream %s, which does not name it", name, entry.Stream)
		}
	}
	for name, stream := range c.Streams {
		if _, ok := c.Indices[name]; ok {
			return damaged("%s is an index and a data stream", name)
		}
		if len(stream.Indices) == 0 {
			return damaged("data stream %s has no backing index", name)
		}
		for _, index := range stream.Indices {
			if c.Indices[index].Stream != name {
				return damaged("data stream %s names index %s, which does not back it", name, index)
			}
		}
	}
	for alias, targets := range c.Aliases {
		_, index := c.Indices[alias]
		_, stream := c.Streams[alias]
		if index || stream || len(targets) == 0 {
			return damaged("alias %s is an index or a data stream too, or points at nothing", alias)
		}
		for target := range targets {
			if _, ok := c.Indices[target]; !ok {
				return damaged("alias %s points at %s, which is no index", alias, target)
			}
		}
	}
	return nil
}

package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// WithIndex is the catalog with a new index and its aliases. The entry's number
// must be NextIndex.
func (c Catalog) WithIndex(name string, entry Entry, aliases map[string]Alias) (Catalog, error) {
	if err := c.Available(name); err != nil {
		return c, err
	}
	next := c.cloneAliases()
	next.Indices = maps.Clone(c.Indices)
	next.Indices[name] = entry
	next.NextIndex = max(c.NextIndex, entry.Number+1)
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if alias != name { // told by consistent, as the server does
			if err := c.checkAlias(alias, aliases[alias]); err != nil {
				return c, err
			}
		}
		next.addAlias(alias, name, aliases[alias])
	}
	return next, next.consistent()
}

// WithoutIndices is the catalog without indices and what points at them. The index
// that a data stream writes to is refused.
func (c Catalog) WithoutIndices(names []string) (Catalog, error) {
	next := c.cloneAliases()
	next.Indices, next.Streams = maps.Clone(c.Indices), maps.Clone(c.Streams)
	for _, name := range names {
		if stream, ok := next.Streams[next.Indices[name].Stream]; ok {
			last := len(stream.Indices) - 1
			if stream.Indices[last] == name {
				return c, illegal("index [%s] is the write index for data stream [%s] and cannot be deleted", name, next.Indices[name].Stream)
			}
			stream.Indices = slices.DeleteFunc(slices.Clone(stream.Indices), func(n string) bool { return n == name })
			next.Streams[next.Indices[name].Stream] = stream
		}
		delete(next.Indices, name)
		for alias := range c.Aliases {
			next.removeAlias(alias, name)
		}
	}
	return next, nil
}

// WithClosed is the catalog with indices that are closed, or opened, and the names
// of those for which that is a change.
func (c Catalog) WithClosed(names []string, closed bool) (Catalog, []string, error) {
	var writers, changed []string
	next := c
	next.Indices = maps.Clone(c.Indices)
	for _, name := range names {
		entry := c.Indices[name]
		if stream, ok := c.Streams[entry.Stream]; ok && closed && stream.Indices[len(stream.Indices)-1] == name {
			writers = append(writers, name)
		}
		if entry.Closed != closed {
			entry.Closed = closed
			next.Indices[name] = entry
			changed = append(changed, name)
		}
	}
	if len(writers) > 0 {
		return c, nil, illegal("cannot close the following data stream write indices [%s]", strings.Join(writers, ", "))
	}
	return next, changed, nil
}

// WithHidden is the catalog with what the settings of an index say of being hidden.
func (c Catalog) WithHidden(name string, hidden bool) Catalog {
	entry, ok := c.Indices[name]
	if !ok || entry.Hidden == hidden {
		return c
	}
	next := c
	next.Indices = maps.Clone(c.Indices)
	entry.Hidden = hidden
	next.Indices[name] = entry
	return next
}

// streamExists is the exception about a data stream that is there already.
func streamExists(name string) *exception.Error {
	return exception.New(exception.ResourceAlreadyExists, "data_stream [%s] already exists", name)
}

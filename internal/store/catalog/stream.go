package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// actionInvalid is the exception about a request that says too little.
func actionInvalid(why string) *exception.Error {
	return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: %s;", why)
}

// Backing is what the next index behind a data stream is made of.
type Backing struct {
	Stream string // the data stream
	Index  string // the name of the new index
	Creation
	after Stream // the data stream, once the index is behind it
}

// NewStream is what a data stream of the name begins with.
func (c Catalog) NewStream(name string) (Backing, error) {
	if _, exists := c.Streams[name]; exists {
		return Backing{}, streamExists(name)
	}
	if err := checkStreamName(name); err != nil {
		return Backing{}, err
	}
	t, ok := c.composableFor(name, false)
	switch {
	case !ok:
		return Backing{}, illegal("no matching index template found for data stream [%s]", name)
	case !t.stream:
		return Backing{}, illegal("matching index template [%s] for data stream [%s] has no data stream template", t.name, name)
	}
	return c.backing(name, t, Stream{Timestamp: t.timestamp, Template: t.name})
}

// NextBacking is what the next index of a data stream is made of.
func (c Catalog) NextBacking(name string) (Backing, error) {
	t, ok := c.composableFor(name, false)
	if !ok || !t.stream {
		return Backing{}, illegal("no matching index template found for data stream [%s]", name)
	}
	return c.backing(name, t, c.Streams[name])
}

func (c Catalog) backing(name string, t composable, stream Stream) (Backing, error) {
	stream.Generation++
	index := fmt.Sprintf("%s%s-%06d", backing, name, stream.Generation)
	if err := c.Available(index); err != nil {
		return Backing{}, err
	}
	hidden := Request{settings: edits{{name: "index.hidden", value: "true"}}}
	b := Backing{Stream: name, Index: index, Creation: c.composeWith(t, index, name, hidden)}
	b.Aliases = map[string]Alias{}
	stream.Indices = append(slices.Clone(stream.Indices), index)
	b.after = stream
	return b, b.complete(index)
}

// WithBacking is the catalog after the index of b has been made.
func (c Catalog) WithBacking(b Backing, entry Entry) (Catalog, error) {
	entry.Stream, entry.Hidden = b.Stream, true
	if _, taken := c.Indices[b.Stream]; taken {
		return c, exception.New(exception.IllegalState,
			"index, alias, and data stream names need to be unique, but the following duplicates were found [data stream [%s] conflicts with index]", b.Stream)
	}
	if _, taken := c.Aliases[b.Stream]; taken {
		return c, exception.New(exception.IllegalState,
			"index, alias, and data stream names need to be unique, but the following duplicates were found [data stream [%s] conflicts with alias]", b.Stream)
	}
	next, err := c.WithIndex(b.Index, entry, nil)
	if err != nil {
		return c, err
	}
	next.Streams = maps.Clone(c.Streams)
	next.Streams[b.Stream] = b.after
	return next, nil
}

// StreamsNamed are the data streams that names and patterns mean, sorted.
func (c Catalog) StreamsNamed(patterns []string) []string {
	var names []string
	for name := range c.Streams {
		if slices.ContainsFunc(patterns, func(p string) bool { return p == "_all" || wildcard.Match(p, name) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// WithoutStreams is the catalog without data streams and the indices behind them, which
// are returned. A name that nobody has is passed over, as on the server.
func (c Catalog) WithoutStreams(patterns []string) (Catalog, []string, error) {
	next := c
	next.Streams, next.Indices = maps.Clone(c.Streams), maps.Clone(c.Indices)
	var removed []string
	for _, name := range c.StreamsNamed(patterns) {
		for _, index := range c.Streams[name].Indices {
			delete(next.Indices, index)
			removed = append(removed, index)
		}
		delete(next.Streams, name)
	}
	return next, removed, nil
}

// IsStreamName reports whether what is made for a write to the name is a data stream, by
// the templates.
func (c Catalog) IsStreamName(name string) bool {
	t, ok := c.composableFor(name, false)
	return ok && t.stream
}

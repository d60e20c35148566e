package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const shardsParams = expressionParams + "preference routing local"

var resolveRoutes = []route{
	{"GET", "/_resolve/index/{name}", "expand_wildcards", (*call).resolve},
	{"GET POST", "/_search_shards", shardsParams, (*call).searchShards},
	{"GET POST", "/{index}/_search_shards", shardsParams, (*call).searchShards},
}

// resolve tells what names mean: indices, aliases and data streams.
func (c *call) resolve() error {
	e := catalog.Expression{Names: c.names("name"), Options: openOnes}
	if err := c.expand(&e.Options); err != nil {
		return err
	}
	e.Options.IgnoreUnavailable = true
	found, err := c.s.store.Status(c.ctx(), e)
	if err != nil {
		return err
	}
	known := c.s.store.Catalog()
	return c.answer(http.StatusOK, object{
		{"indices", resolvedIndices(e.Names, found)},
		{"aliases", resolvedAliases(e.Names, known)},
		{"data_streams", resolvedStreams(e.Names, known)},
	})
}

// resolvedIndices shows the indices that names mean by themselves: not those
// behind an alias or a data stream.
func resolvedIndices(names []string, found []catalog.Status) array {
	indices := array{}
	for _, s := range found {
		if !chosen(names, s.Name) || s.Entry.Stream != "" && names == nil {
			continue
		}
		o := object{{"name", s.Name}}
		if len(s.Aliases) > 0 {
			o.add("aliases", sortedNames(s.Aliases))
		}
		o.add("attributes", attributes(s))
		if s.Entry.Stream != "" {
			o.add("data_stream", s.Entry.Stream)
		}
		indices = append(indices, o)
	}
	return indices
}

// attributes are words about an index, sorted.
func attributes(s catalog.Status) []string {
	words := []string{"open"}
	if s.Entry.Closed {
		words[0] = "closed"
	}
	if s.Entry.Hidden {
		words = append(words, "hidden")
	}
	slices.Sort(words)
	return words
}

func resolvedAliases(names []string, known catalog.Catalog) array {
	aliases := array{}
	for _, name := range sortedNames(known.Aliases) {
		if chosen(names, name) {
			aliases = append(aliases, object{{"name", name}, {"indices", sortedNames(known.Aliases[name])}})
		}
	}
	return aliases
}

func resolvedStreams(names []string, known catalog.Catalog) array {
	streams := array{}
	for _, name := range sortedNames(known.Streams) {
		if chosen(names, name) {
			s := known.Streams[name]
			streams = append(streams, object{{"name", name}, {"backing_indices", s.Indices}, {"timestamp_field", s.Timestamp}})
		}
	}
	return streams
}

// searchShards tells which shards a search with this routing would visit.
func (c *call) searchShards() error {
	if _, err := c.boolean("local", false); err != nil {
		return err
	}
	if body, err := c.content(); err != nil || len(body) > 0 && string(body) != "{}" {
		return cmp.Or(err, error(exception.New(exception.IllegalArgument, "_search_shards takes no body: slices are not supported")))
	}
	options := openOnes
	options.IgnoreUnavailable = true
	e, err := c.expression("index", options)
	if err != nil {
		return err
	}
	found, err := c.s.store.RoutedStatus(c.ctx(), e, c.text("routing", ""))
	if err == nil {
		err = showable(found)
	}
	if err != nil {
		return err
	}
	nodes := object{}
	if len(found) > 0 {
		nodes = c.nodeSummary()
	}
	shards := array{}
	for _, s := range found {
		for i := range s.Shards {
			shards = append(shards, array{c.shardRouting(s, shardNumber(s, i))})
		}
	}
	return c.answer(http.StatusOK, object{
		{"nodes", nodes},
		{"indices", eachIndex(found, func(s catalog.Status) object { return throughAliases(s, e.Names) })},
		{"shards", shards},
	})
}

// throughAliases tells by which aliases an index was asked for, and what their
// filters let through together: nothing is filtered when it was named itself too.
func throughAliases(s catalog.Status, names []string) object {
	o := object{}
	direct := len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return wildcard.Match(name, s.Name) })
	var asked []string
	var filters array
	for _, name := range sortedNames(s.Aliases) {
		if len(names) == 0 || !slices.ContainsFunc(names, func(n string) bool { return wildcard.Match(n, name) && !strings.HasPrefix(n, "-") }) {
			continue
		}
		asked = append(asked, name)
		if filter := s.Aliases[name].Filter; len(filter) > 0 {
			filters = append(filters, filter)
		} else {
			direct = true
		}
	}
	if len(asked) == 0 {
		return o
	}
	o.add("aliases", asked)
	switch {
	case direct:
	case len(filters) == 1:
		o.add("filter", filters[0])
	default:
		o.add("filter", object{{"bool", object{{"should", filters}, {"adjust_pure_negative", true}, {"boost", 1.0}}}})
	}
	return o
}

// shardRouting is where one shard is.
func (c *call) shardRouting(s catalog.Status, number int) object {
	return object{
		{"state", "STARTED"}, {"primary", true}, {"node", c.s.nodeID()}, {"relocating_node", nil}, {"shard", number},
		{"index", s.Name}, {"allocation_id", object{{"id", identity(s.UUID, number)}}},
	}
}

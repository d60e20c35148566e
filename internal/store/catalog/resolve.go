package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// noIndices is the exception about an expression that means nothing.
func noIndices(names []string, kind string) *exception.Error {
	var id any = names
	if len(names) == 1 {
		id = names[0]
	}
	return exception.New(exception.IndexNotFound, "no such index [null]").With("resource.id", id).With("resource.type", kind)
}

func aliasNamed(name string) *exception.Error {
	return exception.New(exception.IllegalArgument,
		"The provided expression [%s] matches an alias, specify the corresponding concrete indices instead.", name)
}

// resolver is one call of Resolve.
type resolver struct {
	Catalog
	Options
}

// Resolve is the names of the indices that an expression means, sorted. nowMillis is the
// time for date math, in milliseconds since 1970.
func (c Catalog) Resolve(e Expression, nowMillis int64) ([]string, error) {
	r := resolver{c, e.Options}
	if r.ForbidClosed && r.ExpandClosed && !r.ExpandOpen {
		return nil, exception.New(exception.IllegalArgument, "To expand [CLOSE] wildcard, please set forbid_closed_indices to `false`")
	}
	asked := e.Names
	if len(asked) == 0 {
		asked = []string{"_all"}
	}
	names, err := dated(asked, nowMillis)
	if err != nil {
		return nil, err
	}
	if r.ExpandOpen || r.ExpandClosed {
		if names, err = r.expand(names); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && r.NoIndicesIsError {
		return nil, noIndices(asked, "index_expression")
	}
	failing := !r.IgnoreUnavailable
	if len(asked) == 1 {
		failing = r.NoIndicesIsError
	}
	found, err := r.concrete(names, failing)
	if err == nil && len(found) == 0 && r.NoIndicesIsError {
		err = noIndices(asked, "index_expression")
	}
	return found, err
}

// filters reports whether the alias shows a part of its index only.
func (a Alias) filters() bool { return len(a.Filter) > 0 && string(a.Filter) != "null" }

// dated replaces names of the form <…> by what they mean now.
func dated(names []string, nowMillis int64) ([]string, error) {
	out := slices.Clone(names)
	for i, name := range names {
		if len(name) > 2 && name[0] == '<' && name[len(name)-1] == '>' {
			resolved, err := date.ResolveName(name, nowMillis)
			if err != nil {
				return nil, err
			}
			out[i] = resolved
		}
	}
	return out, nil
}

// Dated is the name of an index as it is now: a name of the form <…> holds date math.
func Dated(name string, nowMillis int64) (string, error) {
	names, err := dated([]string{name}, nowMillis)
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// seen reports whether the options allow to address the name at all.
func (r resolver) seen(name string) bool {
	if _, ok := r.Indices[name]; ok {
		return true
	}
	if _, ok := r.Aliases[name]; ok {
		return !r.ForbidAliases
	}
	_, ok := r.Streams[name]
	return ok && !r.NoStreams
}

// expand replaces patterns by names and takes exclusions away.
func (r resolver) expand(names []string) ([]string, error) {
	if len(names) == 1 && (names[0] == "_all" || names[0] == "*") {
		return r.everything(), nil
	}
	found := map[string]bool{}
	wild := false // a pattern came before: - means exclusion
	for _, name := range names {
		if name == "" {
			return nil, exception.NoSuchIndex(name)
		}
		if name[0] == '_' {
			return nil, invalidIndexName(name, "must not start with '_'.")
		}
		if r.seen(name) {
			found[name] = true
			continue
		}
		add := true
		if wild && name[0] == '-' {
			add, name = false, name[1:]
		}
		if !isPattern(name) {
			if err := r.absent(name); err != nil {
				return nil, err
			}
			mark(found, name, add)
			continue
		}
		wild = true
		matches := r.matches(name)
		if len(matches) == 0 && r.NoIndicesIsError {
			return nil, exception.NoSuchIndex(name)
		}
		for _, match := range matches {
			for _, index := range r.behind(match, name) {
				mark(found, index, add)
			}
		}
	}
	if len(found) == 0 && r.NoIndicesIsError {
		return nil, noIndices(names, "index_or_alias")
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func mark(names map[string]bool, name string, add bool) {
	if add {
		names[name] = true
	} else {
		delete(names, name)
	}
}

// absent is what to say of a plain name that is not seen, or that is excluded.
func (r resolver) absent(name string) error {
	if r.IgnoreUnavailable || r.seen(name) {
		return nil
	}
	if _, ok := r.Aliases[name]; ok {
		return aliasNamed(name)
	}
	return exception.NoSuchIndex(name)
}

// matches are the indices, aliases and data streams that a pattern matches.
func (r resolver) matches(pattern string) []string {
	var names []string
	for _, all := range []func(func(string) bool){maps.Keys(r.Indices), maps.Keys(r.Aliases), maps.Keys(r.Streams)} {
		for name := range all {
			if wildcard.Match(pattern, name) && r.seen(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// behind are the indices that a match of a pattern means, of the states that it
// is to mean.
func (r resolver) behind(name, pattern string) []string {
	if r.hidden(name) && !r.ExpandHidden && (name[0] != '.' || pattern[0] != '.') {
		return nil
	}
	return slices.DeleteFunc(r.indicesOf(name), func(index string) bool { return !r.open(r.Indices[index]) })
}

// open reports whether patterns mean the state that an index is in.
func (r resolver) open(entry Entry) bool {
	if entry.Closed {
		return r.ExpandClosed
	}
	return r.ExpandOpen
}

// hidden reports whether patterns pass over the name.
func (c Catalog) hidden(name string) bool {
	for _, alias := range c.Aliases[name] {
		return alias.Hidden != nil && *alias.Hidden // the same for all of its indices
	}
	return c.Indices[name].Hidden
}

// indicesOf are the indices behind an index, an alias or a data stream; sorted,
// but those of a stream oldest first.
func (c Catalog) indicesOf(name string) []string {
	if _, ok := c.Indices[name]; ok {
		return []string{name}
	}
	if stream, ok := c.Streams[name]; ok {
		return slices.Clone(stream.Indices)
	}
	return slices.Sorted(maps.Keys(c.Aliases[name]))
}

// Behind are the indices behind an index, an alias or a data stream; none when nobody has
// the name.
func (c Catalog) Behind(name string) []string { return c.indicesOf(name) }

// everything is what no name, _all and * mean.
func (r resolver) everything() []string {
	var names []string
	for name, entry := range r.Indices {
		if r.open(entry) && (r.ExpandHidden || !entry.Hidden) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// concrete are the indices behind names that hold no patterns any more.
func (r resolver) concrete(names []string, failing bool) ([]string, error) {
	found := map[string]bool{}
	for _, name := range names {
		if !r.seen(name) {
			_, stream := r.Streams[name]
			_, alias := r.Aliases[name]
			switch {
			case stream || !failing:
			case alias:
				return nil, aliasNamed(name)
			default:
				return nil, exception.NoSuchTarget(name)
			}
			continue
		}
		for _, index := range r.indicesOf(name) {
			if entry := r.Indices[index]; entry.Closed && r.ForbidClosed {
				if !r.IgnoreUnavailable {
					return nil, exception.Closed(index, entry.UUID)
				}
				continue
			}
			found[index] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// WriteTarget is the index that a write to name goes to, with the properties of the
// alias when name is one: the index itself, an alias's write index, a data stream's
// newest index. Exists tells whether anybody has the name.
func (c Catalog) WriteTarget(name string) (index string, alias Alias, exists bool, err error) {
	if _, ok := c.Indices[name]; ok {
		return name, Alias{}, true, nil
	}
	if stream, ok := c.Streams[name]; ok {
		return stream.Indices[len(stream.Indices)-1], Alias{}, true, nil
	}
	targets, ok := c.Aliases[name]
	if !ok {
		return "", Alias{}, false, nil
	}
	index = writeIndex(targets)
	if index == "" {
		return "", Alias{}, true, exception.New(exception.IllegalArgument, "no write index is defined for alias [%s]."+
			" The write index may be explicitly disabled using is_write_index=false or the alias points to multiple indices"+
			" without one being designated as a write index", name)
	}
	return index, targets[index], true, nil
}

// writeIndex is the index of an alias that is written to: the one that says so, or
// the only one unless it says no. "" when there is none.
func writeIndex(targets map[string]Alias) string {
	for index, alias := range targets {
		if alias.WriteIndex != nil && *alias.WriteIndex {
			return index
		}
		if len(targets) == 1 && alias.WriteIndex == nil {
			return index
		}
	}
	return ""
}

// WriteIndices are the indices that an expression's names are written to, sorted.
func (c Catalog) WriteIndices(e Expression, nowMillis int64) ([]string, error) {
	names, err := dated(e.Names, nowMillis)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range names {
		if strings.Contains(name, "*") || name == "_all" {
			indices, err := c.Resolve(Expression{Names: []string{name}, Options: e.Options}, nowMillis)
			if err != nil {
				return nil, err
			}
			for _, index := range indices {
				found[index] = true
			}
			continue
		}
		index, _, exists, err := c.WriteTarget(name)
		switch {
		case err != nil:
			return nil, err
		case exists:
			found[index] = true
		case !e.Options.IgnoreUnavailable:
			return nil, exception.NoSuchIndex(name)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// aliasTargets says how the indices of alias actions are resolved.
var aliasTargets = Options{NoIndicesIsError: true, ExpandOpen: true, ForbidAliases: true, NoStreams: true}

// Indices are the indices that the actions change, sorted; they must exist. Those
// of backing indices are refused.
func (actions AliasActions) Indices(c Catalog, nowMillis int64) ([]string, error) {
	found := map[string]bool{}
	for _, a := range actions {
		indices, err := a.targets(c, nowMillis)
		if err != nil {
			return nil, err
		}
		for _, index := range indices {
			found[index] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (a aliasAction) targets(c Catalog, nowMillis int64) ([]string, error) {
	indices, err := c.Resolve(Expression{Names: a.indices, Options: aliasTargets}, nowMillis)
	if err != nil {
		return nil, err
	}
	for _, index := range indices {
		if stream := c.Indices[index].Stream; stream != "" && a.do != "remove_index" {
			return nil, illegal("The provided expressions [%s] match a backing index belonging to data stream [%s]. Data streams and their backing indices don't support aliases.",
				strings.Join(a.indices, ","), stream)
		}
	}
	return indices, nil
}

// ChangeAliases applies actions together: indices that they remove are gone first, and
// are returned beside the new catalog. What is removed is looked up before anything is
// added, as on the server.
func (c Catalog) ChangeAliases(actions AliasActions, nowMillis int64) (Catalog, []string, error) {
	planned, removed, err := c.planAliases(actions, nowMillis)
	if err != nil {
		return c, nil, err
	}
	next, err := c.WithoutIndices(removed)
	if err != nil {
		return c, nil, err
	}
	next = next.cloneAliases()
	for _, a := range planned {
		if _, ok := next.Indices[a.index]; !ok {
			return c, nil, exception.NoSuchIndex(a.index)
		}
		if a.remove {
			next.removeAlias(a.name, a.index)
			continue
		}
		if err := next.checkAlias(a.name, a.alias); err != nil {
			return c, nil, err
		}
		next.addAlias(a.name, a.index, a.alias)
	}
	return next, removed, next.consistent()
}

// planned is one alias of one index that comes or goes.
type planned struct {
	index, name string
	alias       Alias
	remove      bool
}

func (c Catalog) planAliases(actions AliasActions, nowMillis int64) (plan []planned, removed []string, err error) {
	var missing []string
	lenient := false
	for _, a := range actions {
		indices, err := a.targets(c, nowMillis)
		if err != nil {
			return nil, nil, err
		}
		lenient = lenient || a.mustExist != nil && !*a.mustExist
		before := len(plan)
		for _, index := range indices {
			switch a.do {
			case "remove_index":
				removed = append(removed, index)
			case "add":
				for _, name := range a.aliases {
					plan = append(plan, planned{index: index, name: name, alias: a.alias})
				}
			case "remove":
				for _, name := range c.aliasesOf(index, a.aliases) {
					plan = append(plan, planned{index: index, name: name, remove: true})
				}
			}
		}
		if a.do == "remove" && len(plan) == before {
			if a.mustExist != nil && *a.mustExist {
				return nil, nil, aliasesMissing(a.aliases)
			}
			missing = append(missing, a.aliases...)
		}
	}
	if len(plan) == 0 && len(removed) == 0 && !lenient {
		return nil, nil, aliasesMissing(missing)
	}
	return plan, removed, nil
}

func aliasesMissing(names []string) error {
	var id any = names
	if len(names) == 1 {
		id = names[0]
	}
	return exception.New(exception.AliasesNotFound, "aliases [%s] missing", strings.Join(names, ", ")).
		With("resource.id", id).With("resource.type", "aliases")
}

// aliasesOf are the aliases of an index that match one of the patterns, sorted. _all
// matches all; a pattern with - takes away.
func (c Catalog) aliasesOf(index string, patterns []string) []string {
	var names []string
	for name, targets := range c.Aliases {
		if _, ok := targets[index]; !ok {
			continue
		}
		matched := false
		for i, p := range patterns {
			if rest, ok := strings.CutPrefix(p, "-"); ok && i > 0 {
				matched = matched && !wildcard.Match(rest, name)
			} else {
				matched = matched || p == "_all" || wildcard.Match(p, name)
			}
		}
		if matched {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// AliasesOf are the aliases of one index.
func (c Catalog) AliasesOf(index string) map[string]Alias {
	out := map[string]Alias{}
	for name, targets := range c.Aliases {
		if alias, ok := targets[index]; ok {
			out[name] = alias
		}
	}
	return out
}

// checkAlias refuses a name that cannot be an alias's or that an index has, and
// properties that cannot be.
func (c Catalog) checkAlias(name string, alias Alias) error {
	if entry, taken := c.Indices[name]; taken {
		return exception.New(exception.InvalidAliasName, "Invalid alias name [%s], an index exists with the same name as the alias", name).
			With("index", name).With("index_uuid", entry.UUID)
	}
	if err := checkAliasName(name); err != nil {
		return err
	}
	if strings.Contains(alias.IndexRouting, ",") {
		return illegal("alias [%s] has several index routing values associated with it", name)
	}
	return nil
}

// cloneAliases is c with aliases that may be changed.
func (c Catalog) cloneAliases() Catalog {
	aliases := make(map[string]map[string]Alias, len(c.Aliases))
	for name, targets := range c.Aliases {
		aliases[name] = maps.Clone(targets)
	}
	c.Aliases = aliases
	return c
}

func (c Catalog) addAlias(name, index string, alias Alias) {
	if c.Aliases[name] == nil {
		c.Aliases[name] = map[string]Alias{}
	}
	c.Aliases[name][index] = alias
}

func (c Catalog) removeAlias(name, index string) {
	delete(c.Aliases[name], index)
	if len(c.Aliases[name]) == 0 {
		delete(c.Aliases, name)
	}
}

// consistent refuses what no edit may end with: a name with two meanings, an alias with
// two write indices, an alias that is hidden for some of its indices.
func (c Catalog) consistent() error {
	for _, name := range slices.Sorted(maps.Keys(c.Aliases)) {
		targets := c.Aliases[name]
		if err := c.unique(name, targets); err != nil {
			return err
		}
		var writers, hidden, shown []string
		for _, index := range slices.Sorted(maps.Keys(targets)) {
			alias := targets[index]
			if alias.WriteIndex != nil && *alias.WriteIndex {
				writers = append(writers, index)
			}
			if alias.Hidden != nil && *alias.Hidden {
				hidden = append(hidden, index)
			} else {
				shown = append(shown, index)
			}
		}
		if len(writers) > 1 {
			return exception.New(exception.IllegalState, "alias [%s] has more than one write index [%s]", name, strings.Join(writers, ","))
		}
		if len(hidden) > 0 && len(shown) > 0 {
			return exception.New(exception.IllegalState, "alias [%s] has is_hidden set to true on indices [%s] but does not have is_hidden set to true on indices [%s];"+
				" alias must have the same is_hidden setting on all indices", name, strings.Join(hidden, ","), strings.Join(shown, ","))
		}
	}
	return nil
}

// unique refuses an alias whose name an index or a data stream has.
func (c Catalog) unique(name string, targets map[string]Alias) error {
	what := ""
	if _, ok := c.Indices[name]; ok {
		what = "index"
	} else if _, ok := c.Streams[name]; ok {
		what = "data stream"
	} else {
		return nil
	}
	var of []string
	for _, index := range slices.Sorted(maps.Keys(targets)) {
		of = append(of, "["+index+"/"+c.Indices[index].UUID+"]")
	}
	return exception.New(exception.IllegalState,
		"index, alias, and data stream names need to be unique, but the following duplicates were found [%s (alias of %s) conflicts with %s]",
		name, strings.Join(of, ", "), what)
}

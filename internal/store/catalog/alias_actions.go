package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// AliasActions are changes of aliases that are made together.
type AliasActions []aliasAction

// aliasAction is one of them.
type aliasAction struct {
	do        string // "add", "remove" or "remove_index"
	indices   []string
	aliases   []string
	alias     Alias
	mustExist *bool
}

// ParseAliasActions reads a body {"actions":[{"add":{…}},…]}.
func ParseAliasActions(body []byte) (AliasActions, error) {
	n, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, bodyRequired()
	}
	var actions AliasActions
	err = readFields("aliases", n, map[string]field{
		"actions": {[]token.Kind{token.Array, token.Object}, func(list *node) error {
			items := list.items
			if list.isObject() {
				items = []*node{list}
			}
			for _, item := range items {
				action, err := parseAliasAction(item)
				if err != nil {
					return err
				}
				actions = append(actions, action)
			}
			for _, action := range actions {
				if err := action.complete(); err != nil {
					return misread{exception.From(err), list.end}
				}
			}
			return nil
		}},
	})
	if err == nil && len(actions) == 0 {
		err = illegal("No action specified")
	}
	return actions, plain(err)
}

// plain is the exception of a misread.
func plain(err error) error {
	var m misread
	if errors.As(err, &m) {
		return m.cause
	}
	return err
}

func parseAliasAction(n *node) (action aliasAction, err error) {
	verb := func(do string, routed bool) field {
		return field{nullable, func(inner *node) error {
			if action.do != "" {
				return illegal("Too many operations declared on operation entry")
			}
			action.do = do
			if inner.kind == token.Null {
				return nil
			}
			return readFields(do, inner, action.fields(routed))
		}}
	}
	err = readFields("alias_action", n, map[string]field{
		"add": verb("add", true), "remove": verb("remove", false), "remove_index": verb("remove_index", false),
	})
	if err == nil && action.do == "" {
		return action, illegal("At least one action must be specified")
	}
	return action, err
}

// fields are the members of an action.
func (a *aliasAction) fields(adding bool) map[string]field {
	fields := map[string]field{
		"index":   {texts, a.names("index", "indices", &a.indices)},
		"indices": {lists, a.names("indices", "index", &a.indices)},
	}
	if a.do == "remove_index" {
		return fields
	}
	fields["alias"] = field{texts, a.names("alias", "aliases", &a.aliases)}
	fields["aliases"] = field{lists, a.names("aliases", "alias", &a.aliases)}
	if !adding {
		fields["must_exist"] = field{booleans, optionalBool(&a.mustExist)}
		return fields
	}
	for name, f := range a.alias.fields() {
		fields[name] = f
	}
	return fields
}

// names reads one name or many, under one of two keys.
func (a *aliasAction) names(key, other string, target *[]string) func(n *node) error {
	return func(n *node) error {
		if *target != nil {
			single, many := key, other
			if len(single) > len(many) {
				single, many = many, single
			}
			return illegal("Only one of [%s] and [%s] is supported", single, many)
		}
		*target = n.strings()
		if len(*target) == 0 {
			return illegal("[%s] can't be empty", key)
		}
		for _, name := range *target {
			if name == "" {
				return illegal("[%s] can't be empty string", key)
			}
		}
		return nil
	}
}

// complete refuses an action that says too little.
func (a *aliasAction) complete() error {
	if a.indices == nil {
		return illegal("One of [index] or [indices] is required")
	}
	if a.aliases == nil && a.do != "remove_index" {
		return illegal("One of [alias] or [aliases] is required")
	}
	return nil
}

// fields are the properties of an alias as a body gives them.
func (a *Alias) fields() map[string]field {
	return map[string]field{
		"filter": {nullable, func(n *node) error {
			a.Filter = nil
			if len(n.members) > 0 {
				a.Filter = json.RawMessage(n.json())
			}
			return nil
		}},
		"routing": {scalars, func(n *node) error { // what is told of one of them counts more, wherever it stands
			a.IndexRouting, a.SearchRouting = cmp.Or(a.IndexRouting, n.text), cmp.Or(a.SearchRouting, n.text)
			return nil
		}},
		"index_routing":  {scalars, into(&a.IndexRouting)},
		"search_routing": {scalars, into(&a.SearchRouting)},
		"is_write_index": {[]token.Kind{token.True, token.False, token.String, token.Null}, optionalBool(&a.WriteIndex)},
		"is_hidden":      {[]token.Kind{token.True, token.False, token.String, token.Null}, optionalBool(&a.Hidden)},
	}
}

// PutAliasActions is the one action of a request that adds an alias to indices; the
// body, which may be empty, holds its properties.
func PutAliasActions(indices []string, alias string, body []byte) (AliasActions, error) {
	n, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	a := aliasAction{do: "add", indices: indices, aliases: []string{alias}}
	if n != nil && !n.isObject() {
		return nil, illegal("unknown token [%s]", n.kind)
	}
	if n != nil {
		fields := a.alias.fields()
		fields["alias"] = field{texts, func(n *node) error { a.aliases = []string{n.text}; return nil }}
		fields["index"] = field{texts, func(n *node) error { a.indices = strings.Split(n.text, ","); return nil }}
		for _, m := range n.members {
			f, ok := fields[m.name]
			if !ok || !slices.Contains(f.kinds, m.value.kind) {
				return nil, illegal("unknown field [%s]", m.name)
			}
			if err := f.read(m.value); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case len(a.indices) == 0:
		return nil, illegal("[indices] can't be empty")
	case len(a.aliases) == 0 || a.aliases[0] == "":
		return nil, illegal("[alias] can't be empty string")
	}
	return AliasActions{a}, nil
}

// DeleteAliasActions is the one action of a request that takes aliases, patterns
// among them, from indices.
func DeleteAliasActions(indices, aliases []string) AliasActions {
	return AliasActions{{do: "remove", indices: indices, aliases: aliases}}
}

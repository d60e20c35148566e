package catalog

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// RenderSettings is the JSON object of settings, as the server shows them:
// nested by the parts of their names, or flat. Only those whose names match one
// of the patterns are in it; without patterns all are.
func RenderSettings(settings map[string]string, flat bool, patterns ...string) []byte {
	all := make(edits, 0, len(settings))
	for name, value := range settings {
		if len(patterns) == 0 || matchAny(patterns, name) {
			all = append(all, edit{name: name, value: value})
		}
	}
	return all.sorted().render(flat)
}

// render is the JSON object of settings, sorted; those that are reset are null.
func (all edits) render(flat bool) []byte {
	root := &branch{}
	for _, e := range all {
		path := []string{e.name}
		if !flat {
			path = strings.SplitN(e.name, ".", deepest)
		}
		root.put(path, e)
	}
	return root.append(nil)
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == "_all" || wildcard.Match(p, name) })
}

// Defaults are the settings of an index that are not set, with the values that hold then.
func Defaults(settings map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range known {
		if _, set := settings[prefix+s.name]; !set && s.change != private {
			out[prefix+s.name] = s.fallback
		}
	}
	return out
}

// deepest is how many objects a setting's name is rendered as: one that is made of
// dots must not become a tree that no parser reads.
const deepest = 40

// branch is an object of settings that is being rendered.
type branch struct {
	names  []string // sorted, as they came
	leaves map[string]edit
	under  map[string]*branch
}

// put sets a setting. One that is above others ("index.merge.policy" beside
// "index.merge.policy.floor_segment") keeps its place, and those keep dots in
// their names.
func (b *branch) put(path []string, value edit) {
	if len(path) > 1 {
		if _, leaf := b.leaves[path[0]]; leaf {
			path = []string{strings.Join(path, ".")}
		}
	}
	if len(path) == 1 {
		fill(&b.leaves)
		b.leaves[path[0]] = value
		b.names = append(b.names, path[0])
		return
	}
	fill(&b.under)
	if b.under[path[0]] == nil {
		b.under[path[0]] = &branch{}
		b.names = append(b.names, path[0])
	}
	b.under[path[0]].put(path[1:], value)
}

func (b *branch) append(out []byte) []byte {
	out = append(out, '{')
	for i, name := range b.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(token.AppendString(out, name), ':')
		if under := b.under[name]; under != nil {
			out = under.append(out)
			continue
		}
		leaf := b.leaves[name]
		list, isList := asList(leaf.value)
		switch {
		case leaf.reset:
			out = append(out, "null"...)
			continue
		case !isList:
			out = token.AppendString(out, leaf.value)
			continue
		}
		out = append(out, '[')
		for i, item := range list {
			if i > 0 {
				out = append(out, ',')
			}
			out = token.AppendString(out, item)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

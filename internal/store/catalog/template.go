package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// Templates are kept as the server shows them, settings nested. What is read here
// is what was written here, and so is right but for damage.

// Merge merges mappings, the first first, by the rules of templates, and renders the
// result as the object under "mappings". They are for an index with these settings, by
// their full names: its limits and its analyzers.
type Merge func(settings map[string]string, mappings []json.RawMessage) ([]byte, error)

// stored reads a stored template.
func stored(raw json.RawMessage) *node {
	n, err := parseBody(raw)
	if err != nil || n == nil {
		return &node{}
	}
	return n
}

// render is the object of the sections that are there. All of them are with full.
func (r Request) render(full bool) []byte {
	var parts [][]byte
	if full || r.settings != nil {
		parts = append(parts, append([]byte(`"settings":`), r.settings.render(false)...))
	}
	if full || r.mappings != nil {
		mappings := r.mappings
		if mappings == nil {
			mappings = json.RawMessage("{}")
		}
		parts = append(parts, append([]byte(`"mappings":`), mappings...))
	}
	if full || r.aliases != nil {
		parts = append(parts, append([]byte(`"aliases":`), renderAliases(r.aliases)...))
	}
	return bytes.Join(parts, []byte(","))
}

func renderAliases(aliases map[string]Alias) []byte {
	if aliases == nil {
		return []byte("{}")
	}
	data, err := json.Marshal(aliases)
	if err != nil {
		panic(fmt.Sprintf("catalog: %v", err)) // filters were rendered by this package
	}
	return data
}

// FlatTemplate is a stored template, of any sort, with its settings flat.
func FlatTemplate(raw json.RawMessage) json.RawMessage {
	n := stored(raw)
	for _, section := range []*node{n, n.get("template")} {
		if section == nil {
			continue
		}
		for i, m := range section.members {
			if m.name == "settings" && m.value.isObject() {
				flat, _ := parseBody(flatten(m.value).render(true))
				section.members[i].value = flat
			}
		}
	}
	return n.json()
}

// templateFaults says what is wrong with the name and the patterns of a template.
func templateFaults(name string, patterns []string) []string {
	var why []string
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	add(strings.Contains(name, " "), "name must not contain a space")
	add(strings.Contains(name, ","), "name must not contain a ','")
	add(strings.Contains(name, "#"), "name must not contain a '#'")
	add(strings.HasPrefix(name, "_"), "name must not start with '_'")
	add(strings.ToLower(name) != name, "name must be lower cased")
	for _, p := range patterns {
		add(strings.Contains(p, " "), "index_patterns [%s] must not contain a space", p)
		add(strings.Contains(p, ","), "index_pattern [%s] must not contain a ','", p)
		add(strings.Contains(p, "#"), "index_pattern [%s] must not contain a '#'", p)
		add(strings.Contains(p, ":"), "index_pattern [%s] must not contain a ':'", p)
		add(strings.HasPrefix(p, "_"), "index_pattern [%s] must not start with '_'", p)
		add(strings.ContainsAny(p, strings.ReplaceAll(forbidden, "*", "")), "index_pattern [%s] must not contain the following characters %s", p, forbiddenPrinted)
	}
	return why
}

// checkTemplate refuses a template whose name, patterns or settings cannot be.
func checkTemplate(name string, patterns []string, r Request) error {
	why := templateFaults(name, patterns)
	if err := r.settings.check(); err != nil {
		why = append(why, err.Reason)
		if strings.HasPrefix(err.Reason, "unknown setting") {
			name, _, _ := strings.Cut(strings.TrimPrefix(err.Reason, "unknown setting ["), "]")
			why = append(why, "expected ["+name+"] to be private but it was not")
		}
	}
	if err := r.settings.checkSupported(); err != nil {
		why = append(why, exception.From(err).Reason)
	}
	for _, e := range r.settings {
		if s, ok := find(e.name); ok && s.change == private {
			why = append(why, "private index setting ["+e.name+"] can not be set explicitly")
		}
		if e.name == "index.hidden" && isGlobal(patterns) {
			why = append(why, "global templates may not specify the setting index.hidden")
		}
	}
	if len(why) > 0 {
		return invalidTemplate(name, validationFailed(why))
	}
	return r.checkAliases(patterns)
}

// checkAliases refuses aliases of a template that cannot be.
func (r Request) checkAliases(patterns []string) error {
	for _, name := range slices.Sorted(maps.Keys(r.aliases)) {
		if err := checkAliasName(strings.ReplaceAll(name, "{index}", "index")); err != nil {
			return err
		}
		if slices.Contains(patterns, name) {
			return illegal("alias [%s] cannot be the same as any pattern in [%s]", name, strings.Join(patterns, ", "))
		}
	}
	return nil
}

func invalidTemplate(name, why string) *exception.Error {
	return exception.New(exception.InvalidIndexTemplate, "index_template [%s] invalid, cause [%s]", name, why)
}

func templateMissing(name string) *exception.Error {
	return exception.New(exception.IndexTemplateMissing, "index_template [%s] missing", name)
}

// matching are the names of templates that a name or pattern means, sorted. A name
// that nobody has, and a pattern other than * that means nothing, is refused.
func matching(all map[string]json.RawMessage, pattern string) ([]string, error) {
	var names []string
	for name := range all {
		if wildcard.Match(pattern, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && pattern != "*" {
		return nil, templateMissing(pattern)
	}
	slices.Sort(names)
	return names, nil
}

// without is a map less some names.
func without(all map[string]json.RawMessage, names []string) map[string]json.RawMessage {
	out := maps.Clone(all)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// with is a map with one value more.
func with(all map[string]json.RawMessage, name string, raw []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(raw) {
		return nil, fault.New(fault.Bug, "template %s was rendered as what is no JSON", name)
	}
	out := maps.Clone(all)
	out[name] = raw
	return out, nil
}

package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// legacy is a legacy template (_template), read.
type legacy struct {
	name     string
	order    int64
	version  *int64
	patterns []string
	Request
}

// WithLegacy is the catalog with a legacy template. Merge checks its mappings.
func (c Catalog) WithLegacy(name string, body []byte, create bool, merge Merge) (Catalog, error) {
	n, err := requireMap(body)
	if err != nil {
		return c, err
	}
	t := legacy{name: name}
	if err := untyped(n.get("mappings")); err != nil {
		return c, err
	}
	if err := t.read(n); err != nil {
		return c, err
	}
	if len(t.patterns) == 0 {
		return c, exception.New(exception.ActionRequestValidation, "Validation Failed: 1: index patterns are missing;")
	}
	if err := t.settings.check(); err != nil {
		return c, err
	}
	if _, exists := c.Legacy[name]; exists && create {
		return c, illegal("index_template [%s] already exists", name)
	}
	if err := checkTemplate(name, t.patterns, t.Request); err != nil {
		return c, err
	}
	if t.mappings != nil {
		if _, err := merge(t.settings.onto(map[string]string{}), []json.RawMessage{t.mappings}); err != nil {
			return c, err
		}
	}
	next := c
	next.Legacy, err = with(c.Legacy, name, t.json())
	return next, err
}

// read takes the members of a body, or of a stored template.
func (t *legacy) read(n *node) error {
	for _, m := range n.members {
		v := m.value
		switch m.name {
		case "template":
			if v.isString() {
				t.patterns = []string{v.text}
			}
		case "index_patterns":
			if !v.isString() && !v.isArray() {
				return illegal("Malformed [template] value, should be a string or a list of strings")
			}
			t.patterns = v.strings()
		case "order":
			order, err := strconv.ParseInt(v.text, 10, 32)
			if err != nil && v.kind == token.Float {
				return illegal("%s is not an integer value", v.text)
			}
			if err != nil {
				return exception.NotNumber(v.text)
			}
			t.order = order
		case "version":
			version, err := strconv.ParseInt(v.text, 10, 32)
			if err != nil || v.kind != token.Integer {
				return illegal("Malformed [version] value, should be an integer")
			}
			t.version = &version
		case "settings":
			if !v.isObject() {
				return illegal("Malformed [settings] section, should include an inner object")
			}
		case "mappings", "aliases":
		default:
			return exception.New(exception.OpenSearchParse, "unknown key [%s] in the template ", m.name)
		}
	}
	return t.Request.read(n)
}

// json is the template as it is stored and shown.
func (t *legacy) json() []byte {
	var b bytes.Buffer
	b.WriteString(`{"order":` + strconv.FormatInt(t.order, 10))
	if t.version != nil {
		b.WriteString(`,"version":` + strconv.FormatInt(*t.version, 10))
	}
	b.WriteString(`,"index_patterns":`)
	b.Write(stringList(t.patterns))
	b.WriteByte(',')
	b.Write(t.render(true))
	b.WriteByte('}')
	return b.Bytes()
}

func stringList(list []string) []byte {
	out := []byte{'['}
	for i, item := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = token.AppendString(out, item)
	}
	return append(out, ']')
}

// WithoutLegacy is the catalog without the legacy templates that a name or pattern
// means.
func (c Catalog) WithoutLegacy(pattern string) (Catalog, error) {
	names, err := matching(c.Legacy, pattern)
	if err != nil {
		return c, err
	}
	next := c
	next.Legacy = without(c.Legacy, names)
	return next, nil
}

// legacyFor are the legacy templates of an index, the highest order first. An index that
// is hidden, by what is asked or by a template, gets no template for all names.
func (c Catalog) legacyFor(index string, hidden string) []legacy {
	var all []legacy
	for name, raw := range c.Legacy {
		t := legacy{name: name}
		_ = t.read(stored(raw)) // it was read before it was stored
		if wildcard.MatchAny(t.patterns, index) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b legacy) int { return cmp.Or(cmp.Compare(b.order, a.order), cmp.Compare(a.name, b.name)) })
	for _, t := range all {
		if hidden == "" {
			hidden = t.settings.values()["index.hidden"]
		}
	}
	if hidden == "true" {
		all = slices.DeleteFunc(all, func(t legacy) bool { return isGlobal(t.patterns) })
	}
	return all
}

// composeLegacy is what an index becomes by legacy templates: the request first, then
// higher orders before lower.
func (c Catalog) composeLegacy(index string, r Request) Creation {
	templates := c.legacyFor(index, r.settings.values()["index.hidden"])
	creation := Creation{Settings: map[string]string{}, Aliases: map[string]Alias{}}
	maps.Copy(creation.Aliases, r.aliases)
	mappings := &node{kind: token.Object}
	if r.mappings != nil {
		mappings = stored(r.mappings)
	}
	for _, t := range templates {
		addAliases(creation.Aliases, t.aliases, index)
		if t.mappings != nil {
			mergeDefaults(mappings, stored(t.mappings))
		}
	}
	for _, t := range slices.Backward(templates) {
		creation.Settings = t.settings.onto(creation.Settings)
	}
	creation.Settings = r.settings.onto(creation.Settings)
	if len(mappings.members) > 0 {
		creation.Mappings = []json.RawMessage{mappings.json()}
	}
	return creation
}

// onto are settings changed by edits.
func (all edits) onto(settings map[string]string) map[string]string {
	out := maps.Clone(settings)
	for _, e := range all {
		if e.reset {
			delete(out, e.name)
		} else {
			out[e.name] = e.value
		}
	}
	return out
}

// addAliases adds the aliases of a template that are not there yet; {index} in a
// name is the index's.
func addAliases(to, from map[string]Alias, index string) {
	for name, alias := range from {
		name = strings.ReplaceAll(name, "{index}", index)
		if _, ok := to[name]; !ok {
			to[name] = alias
		}
	}
}

// mergeDefaults puts into an object what another has and it has not, objects member
// by member. Lists of one-member objects, such as dynamic templates, are joined:
// those of content stay first, and their names are not repeated.
func mergeDefaults(content, defaults *node) {
	for _, m := range defaults.members {
		mine := content.get(m.name)
		switch {
		case mine == nil:
			content.members = append(content.members, m)
		case mine.isObject() && m.value.isObject():
			mergeDefaults(mine, m.value)
		case isNamedList(mine) && isNamedList(m.value):
			for _, item := range m.value.items {
				if !slices.ContainsFunc(mine.items, func(i *node) bool { return i.members[0].name == item.members[0].name }) {
					mine.items = append(mine.items, item)
				}
			}
		}
	}
}

func isNamedList(n *node) bool {
	return n.isArray() && !slices.ContainsFunc(n.items, func(i *node) bool { return len(i.members) != 1 })
}

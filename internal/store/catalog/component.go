package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// component is a component template, read; also the common part of composable ones.
type component struct {
	templated bool // "template" is there
	Request
	version *int64
	meta    json.RawMessage
}

// fields are the members of a component template's body.
func (t *component) fields() map[string]field {
	return map[string]field{
		"template": {objects, func(n *node) error { return t.readTemplate(n) }},
		"version":  {scalars, wholeNumber(&t.version)},
		"_meta": {objects, func(n *node) error {
			t.meta = n.json()
			return nil
		}},
	}
}

// readTemplate reads the object under "template".
func (t *component) readTemplate(n *node) error {
	t.templated = true
	pass := func(*node) error { return nil }
	err := readFields("template", n, map[string]field{
		"settings": {objects, pass}, "aliases": {objects, pass},
		"mappings": {[]token.Kind{token.Object, token.String}, pass},
	})
	if err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return t.read(n)
}

// wholeNumber reads a number, or a text that holds one.
func wholeNumber(target **int64) func(n *node) error {
	return func(n *node) error {
		value, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			f, err := strconv.ParseFloat(n.text, 64)
			if err != nil || f < -1<<62 || f > 1<<62 {
				return illegal("For input string: \"%s\"", n.text)
			}
			value = int64(f)
		}
		*target = &value
		return nil
	}
}

// tail are the members behind "template", with a comma before each.
func (t *component) tail() []byte {
	var b bytes.Buffer
	if t.version != nil {
		b.WriteString(`,"version":` + strconv.FormatInt(*t.version, 10))
	}
	if t.meta != nil {
		b.WriteString(`,"_meta":`)
		b.Write(t.meta)
	}
	return b.Bytes()
}

// json is a component template as it is stored and shown.
func (t *component) json() []byte {
	return slices.Concat([]byte(`{"template":{`), t.render(false), []byte{'}'}, t.tail(), []byte{'}'})
}

func readComponent(raw json.RawMessage) component {
	var t component
	n := stored(raw)
	_ = t.read(n.get("template")) // it was read before it was stored
	return t
}

// WithComponent is the catalog with a component template. Merge checks its mappings,
// and those of every template that uses it.
func (c Catalog) WithComponent(name string, body []byte, create bool, merge Merge) (Catalog, error) {
	n, err := requireFields("component_template", body)
	if err != nil {
		return c, err
	}
	var t component
	if err := readFields("component_template", n, t.fields()); err != nil {
		return c, plain(err)
	}
	if !t.templated {
		return c, illegal("Required [template]")
	}
	if err := t.settings.check(); err != nil {
		return c, err
	}
	if _, exists := c.Components[name]; exists && create {
		return c, illegal("component template [%s] already exists", name)
	}
	if err := checkTemplate(name, nil, t.Request); err != nil {
		return c, err
	}
	if t.mappings != nil {
		if _, err := merge(t.settings.onto(map[string]string{}), []json.RawMessage{t.mappings}); err != nil {
			return c, err
		}
	}
	next := c
	if next.Components, err = with(c.Components, name, t.json()); err != nil {
		return c, err
	}
	return next, next.checkUsers(name, merge)
}

// checkUsers refuses a component that breaks a template which uses it.
func (c Catalog) checkUsers(component string, merge Merge) error {
	for _, user := range c.usersOf([]string{component}) {
		if err := c.checkComposition(user, merge); err != nil {
			return illegal("updating component template [%s] results in invalid composable template [%s] after templates are merged", component, user).
				CausedBy(exception.From(err))
		}
	}
	return nil
}

// usersOf are the composable templates that use a component, sorted.
func (c Catalog) usersOf(components []string) []string {
	var users []string
	for _, name := range slices.Sorted(maps.Keys(c.Composable)) {
		t := readComposable(name, c.Composable[name])
		if slices.ContainsFunc(t.composedOf, func(part string) bool { return slices.Contains(components, part) }) {
			users = append(users, name)
		}
	}
	return users
}

// WithoutComponents is the catalog without the component templates that a name or
// pattern means, unless one is in use.
func (c Catalog) WithoutComponents(pattern string) (Catalog, error) {
	names, err := matching(c.Components, pattern)
	if err != nil {
		return c, err
	}
	if users := c.usersOf(names); len(users) > 0 {
		var used []string
		for _, name := range names {
			if len(c.usersOf([]string{name})) > 0 {
				used = append(used, name)
			}
		}
		return c, illegal("component templates [%s] cannot be removed as they are still in use by index templates [%s]",
			strings.Join(used, ", "), strings.Join(users, ", "))
	}
	next := c
	next.Components = without(c.Components, names)
	return next, nil
}

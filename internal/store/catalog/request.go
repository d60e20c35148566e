package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Request is the body of a request that makes an index: settings, mappings and
// aliases, read but not yet held against templates.
type Request struct {
	settings edits
	mappings json.RawMessage // nil: none
	aliases  map[string]Alias
}

// ParseRequest reads the body of a request that creates an index. It may be empty.
// Settings that nobody knows are refused.
func ParseRequest(body []byte) (Request, error) {
	var r Request
	n, err := parseBody(body)
	if err == nil && n == nil {
		return r, nil
	}
	if n, err = requireMap(body); err != nil {
		return r, err
	}
	for _, m := range n.members {
		if !isSection(m.name) {
			return r, exception.New(exception.OpenSearchParse, "unknown key [%s] for create index", m.name)
		}
	}
	if s := n.get("settings"); s != nil && !s.isObject() {
		return r, exception.New(exception.OpenSearchParse, "key [settings] must be an object")
	}
	if err := untyped(n.get("mappings")); err != nil {
		return r, err
	}
	if err := r.read(n); err != nil {
		return r, err
	}
	return r, r.checkSettings()
}

func isSection(name string) bool {
	return name == "settings" || name == "mappings" || name == "aliases"
}

// read takes the three sections out of an object; other members are passed over.
func (r *Request) read(n *node) (err error) {
	if s := n.get("settings"); s.isObject() {
		r.settings = flatten(s)
	}
	if r.mappings, err = readMappings(n.get("mappings")); err != nil {
		return err
	}
	r.aliases, err = readAliases(n.get("aliases"))
	return err
}

// Check refuses settings of a new index that nobody knows, or that only the server
// sets.
func (r Request) Check() error { return r.checkSettings() }

// CheckBody refuses a body that is not there.
func CheckBody(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return bodyRequired()
	}
	return nil
}

// checkSettings refuses settings of a new index that nobody knows, or that only
// the server sets.
func (r Request) checkSettings() error {
	if err := r.settings.check(); err != nil {
		return err
	}
	if err := r.settings.checkPrivate(); err != nil {
		return err
	}
	return r.settings.checkSupported()
}

// untyped refuses mappings that are under the name of a type.
func untyped(mappings *node) error {
	if mappings.isObject() && len(mappings.members) == 1 && mappings.members[0].name == "_doc" && mappings.members[0].value.isObject() {
		return illegal("The mapping definition cannot be nested under a type")
	}
	return nil
}

// readMappings is the object under "mappings".
func readMappings(n *node) (json.RawMessage, error) {
	switch {
	case n == nil || n.kind == token.Null:
		return nil, nil
	case !n.isObject():
		return nil, notMap(n)
	case len(n.members) == 0:
		return nil, nil
	}
	return n.json(), nil
}

// notMap is what the server says where it wants an object and got something else.
func notMap(n *node) *exception.Error {
	class := map[token.Kind]string{
		token.Array: "java.util.ArrayList", token.String: "java.lang.String", token.Integer: "java.lang.Integer",
		token.Float: "java.lang.Double", token.True: "java.lang.Boolean", token.False: "java.lang.Boolean",
	}[n.kind]
	return exception.New(exception.ClassCast,
		"class %s cannot be cast to class java.util.Map (%s and java.util.Map are in module java.base of loader 'bootstrap')", class, class)
}

// readAliases is the object under "aliases", name by name. Members of an alias that
// nobody knows are passed over, as the server does here.
func readAliases(n *node) (map[string]Alias, error) {
	switch {
	case n == nil || n.kind == token.Null:
		return nil, nil
	case !n.isObject():
		return nil, notMap(n)
	}
	aliases := map[string]Alias{}
	for _, m := range n.members {
		if !m.value.isObject() {
			return nil, illegal("No alias is specified")
		}
		var alias Alias
		fields := alias.fields()
		for _, property := range m.value.members {
			if f, ok := fields[property.name]; ok && property.value.kind != token.Null && fits(f, property.value) {
				if err := f.read(property.value); err != nil {
					return nil, err
				}
			}
		}
		aliases[m.name] = alias
	}
	return aliases, nil
}

func fits(f field, n *node) bool {
	for _, kind := range f.kinds {
		if kind == n.kind {
			return true
		}
	}
	return false
}

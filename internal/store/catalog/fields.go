package catalog

import (
	"errors"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// field is how one member of an object is read.
type field struct {
	kinds []token.Kind // that it may be
	read  func(n *node) error
}

// Kinds that fields may have, as the server's parsers declare them.
var (
	texts    = []token.Kind{token.String}
	lists    = []token.Kind{token.String, token.Array}
	scalars  = []token.Kind{token.String, token.Integer, token.Float}
	booleans = []token.Kind{token.True, token.False, token.String}
	objects  = []token.Kind{token.Object}
	nullable = []token.Kind{token.Object, token.Null}
)

// misread is an error while a body is read, and the place that the server's parser
// had come to: it is told again by every object around.
type misread struct {
	cause *exception.Error
	at    place
}

func (m misread) Error() string { return m.cause.Error() }

// Unwrap gives the exception.
func (m misread) Unwrap() error { return m.cause }

// readFields reads the members of n. Name is how errors call the object.
func readFields(name string, n *node, fields map[string]field) error {
	if !n.isObject() {
		return misread{exception.New(exception.XContentParse, "%s [%s] Expected START_OBJECT but was: %s", n.at, name, n.kind), n.at}
	}
	for _, m := range n.members {
		f, ok := fields[m.name]
		if !ok {
			err := exception.New(exception.XContentParse, "%s [%s] unknown field [%s]%s", m.at, name, m.name, suggested(m.name, fields))
			return misread{err, m.value.at}
		}
		if !slices.Contains(f.kinds, m.value.kind) {
			err := exception.New(exception.XContentParse, "%s [%s] %s doesn't support values of type: %s", m.value.at, name, m.name, m.value.kind)
			return misread{err, m.value.at}
		}
		if err := f.read(m.value); err != nil {
			return within(name, m, err)
		}
	}
	return nil
}

// within tells that a member of the object could not be read.
func within(name string, m member, err error) error {
	var inner misread
	if !errors.As(err, &inner) {
		at := m.value.at
		if !m.value.kind.IsScalar() {
			at = m.value.end
		}
		inner = misread{exception.From(err), at}
	}
	return misread{exception.New(exception.XContentParse, "%s [%s] failed to parse field [%s]", inner.at, name, m.name).CausedBy(inner.cause), inner.at}
}

// suggested names the fields that an unknown one may have been meant for.
func suggested(name string, fields map[string]field) string {
	if proposed := exception.DidYouMean(name, maps.Keys(fields), 0.5); proposed != "" {
		return " " + proposed
	}
	return ""
}

// into reads a string.
func into(target *string) func(n *node) error {
	return func(n *node) error {
		*target = n.text
		return nil
	}
}

// optionalBool reads a boolean that may be absent.
func optionalBool(target **bool) func(n *node) error {
	return func(n *node) error {
		if n.text != "true" && n.text != "false" {
			return boolean("", n.text)
		}
		value := n.text == "true"
		*target = &value
		return nil
	}
}

// strings are the items of a list, or a single string.
func (n *node) strings() []string {
	if !n.isArray() {
		return []string{n.text}
	}
	list := []string{}
	for _, item := range n.items {
		list = append(list, item.text)
	}
	return list
}

// requireFields reads a body that must be there and whose members are read by name:
// broken JSON is told as part of the object.
func requireFields(name string, body []byte) (*node, error) {
	n, err := parseBody(body)
	if err != nil {
		return nil, exception.New(exception.XContentParse, "[1:1] [%s] failed to parse object", name).CausedBy(exception.From(err))
	}
	if n == nil {
		return nil, bodyRequired()
	}
	return n, nil
}

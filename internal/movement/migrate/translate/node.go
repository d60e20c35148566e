package translate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// node is a JSON value that can be changed. What is not changed is written as it was read.
type node struct {
	kind    token.Kind
	raw     []byte // as it was read
	members []member
	items   []*node
	changed bool // here, not only below
}

type member struct {
	key   string
	value *node
}

// parse reads one JSON value. Depth and memory are bounded by package token and the input.
func parse(data []byte) (*node, error) {
	if !json.Valid(data) { // package token takes comments too
		return nil, fault.New(fault.Corrupt, "the metadata are not JSON")
	}
	r := token.New(data)
	kind, err := r.Next()
	if err != nil {
		return nil, fault.New(fault.Corrupt, "metadata: %w", err)
	}
	n, err := read(r, data, kind)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "metadata: %w", err)
	}
	if kind, err = r.Next(); err != nil || kind != token.End {
		return nil, fault.New(fault.Corrupt, "metadata: something follows the value")
	}
	return n, nil
}

// read reads the value whose first token has come.
func read(r *token.Reader, data []byte, kind token.Kind) (*node, error) {
	n := &node{kind: kind}
	start := r.Offset()
	switch kind {
	case token.Object:
		for {
			next, err := r.Next()
			if err != nil {
				return nil, err
			}
			if next == token.ObjectEnd {
				break
			}
			key := string(r.Text())
			if next, err = r.Next(); err != nil {
				return nil, err
			}
			value, err := read(r, data, next)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key, value})
		}
	case token.Array:
		for {
			next, err := r.Next()
			if err != nil {
				return nil, err
			}
			if next == token.ArrayEnd {
				break
			}
			item, err := read(r, data, next)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	default:
		n.raw = data[start : start+len(r.Text())]
		if kind == token.String {
			n.raw = quoted(data[start:])
		}
		return n, nil
	}
	n.raw = data[start : r.Offset()+1]
	return n, nil
}

// quoted is the string that data begins with, quotes included.
func quoted(data []byte) []byte {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return data[:i+1]
		}
	}
	return data
}

// append writes the value; changed tells whether it differs from what was read.
func (n *node) append(b []byte) (out []byte, changed bool) {
	start := len(b)
	changed = n.changed
	switch n.kind {
	case token.Object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(token.AppendString(b, m.key), ':')
			var below bool
			b, below = m.value.append(b)
			changed = changed || below
		}
		b = append(b, '}')
	case token.Array:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			var below bool
			b, below = item.append(b)
			changed = changed || below
		}
		b = append(b, ']')
	default:
		return append(b, n.raw...), changed
	}
	if !changed {
		b = append(b[:start], n.raw...)
	}
	return b, changed
}

func (n *node) json() []byte {
	b, _ := n.append(nil)
	return b
}

func textNode(text string) *node {
	return &node{kind: token.String, raw: token.AppendString(nil, text), changed: true}
}

func boolNode(on bool) *node {
	if on {
		return &node{kind: token.True, raw: []byte("true"), changed: true}
	}
	return &node{kind: token.False, raw: []byte("false"), changed: true}
}

func listNode(texts []string) *node {
	n := &node{kind: token.Array, changed: true}
	for _, text := range texts {
		n.items = append(n.items, textNode(text))
	}
	return n
}

func newObject(members ...member) *node {
	return &node{kind: token.Object, members: members, changed: true}
}

// literal is a value that is known to be JSON.
func literal(kind token.Kind, json string) *node {
	return &node{kind: kind, raw: []byte(json), changed: true}
}

func (n *node) isObject() bool { return n != nil && n.kind == token.Object }

func (n *node) isList() bool { return n != nil && n.kind == token.Array }

// text is a scalar as text: strings without their quotes.
func (n *node) text() string {
	if n == nil || !n.kind.IsScalar() {
		return ""
	}
	if n.kind != token.String {
		return string(n.raw)
	}
	if bytes.IndexByte(n.raw, '\\') < 0 {
		return string(n.raw[1 : len(n.raw)-1])
	}
	r := token.New(n.raw)
	if _, err := r.Next(); err != nil {
		return ""
	}
	return string(r.Text())
}

// texts are the scalars of a list, or the one scalar.
func (n *node) texts() []string {
	if !n.isList() {
		if n == nil || n.kind == token.Null {
			return nil
		}
		return []string{n.text()}
	}
	texts := []string{}
	for _, item := range n.items {
		texts = append(texts, item.text())
	}
	return texts
}

func (n *node) index(key string) int {
	return slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
}

// at is the value of a key, or nil.
func (n *node) at(key string) *node {
	if n == nil {
		return nil
	}
	if i := n.index(key); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// set changes a key, or adds it at the end.
func (n *node) set(key string, value *node) {
	n.changed = true
	if i := n.index(key); i >= 0 {
		n.members[i].value = value
		return
	}
	n.members = append(n.members, member{key, value})
}

// take removes a key and gives its value, nil when there was none.
func (n *node) take(key string) *node {
	i := n.index(key)
	if i < 0 {
		return nil
	}
	value := n.members[i].value
	n.members = slices.Delete(n.members, i, i+1)
	n.changed = true
	return value
}

// rename gives a key another name, in its place, unless that is taken.
func (n *node) rename(from, to string) {
	switch i := n.index(from); {
	case i < 0:
	case n.index(to) >= 0:
		n.take(from)
	default:
		n.members[i].key = to
		n.changed = true
	}
}

// become makes the value another object.
func (n *node) become(members ...member) {
	n.kind, n.members, n.items, n.changed = token.Object, members, nil, true
}

// lenient reads what Elasticsearch up to 5 took for a boolean.
func lenient(text string) (on, ok bool) {
	switch strings.ToLower(text) {
	case "false", "0", "off", "no":
		return false, true
	case "true", "1", "on", "yes":
		return true, true
	}
	return false, false
}

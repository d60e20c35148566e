package catalog

import (
	"bytes"
	"fmt"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// node is a value of a parsed body, with the place where it began: errors name it.
type node struct {
	kind    token.Kind // Object, Array or a scalar
	at      place
	end     place  // of the closing bracket
	text    string // of a string, unescaped; of a number or word, as written
	members []member
	items   []*node
}

// member is one member of an object.
type member struct {
	name  string
	at    place // of the name
	value *node
}

// place is a position in a body, counted from 1.
type place struct{ line, column int }

func (p place) String() string { return fmt.Sprintf("[%d:%d]", p.line, p.column) }

// isObject and isArray say what n is; neither of a nil node.
func (n *node) isObject() bool { return n != nil && n.kind == token.Object }
func (n *node) isArray() bool  { return n != nil && n.kind == token.Array }
func (n *node) isString() bool { return n != nil && n.kind == token.String }

// get is the member's value, nil when there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// json is n as JSON without blanks, members in their order.
func (n *node) json() []byte { return n.append(nil) }

func (n *node) append(out []byte) []byte {
	switch n.kind {
	case token.Object:
		out = append(out, '{')
		for i, m := range n.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(token.AppendString(out, m.name), ':')
			out = m.value.append(out)
		}
		return append(out, '}')
	case token.Array:
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.append(out)
		}
		return append(out, ']')
	case token.String:
		return token.AppendString(out, n.text)
	}
	return append(out, n.text...)
}

// parser turns a body into nodes.
type parser struct {
	body   []byte
	reader *token.Reader
	line   int // of the offset seen so far
	seen   int // offset up to which lines are counted
	start  int // offset of that line
}

// parseBody reads one JSON value, and nothing behind it. An empty body is nil,
// without error.
func parseBody(body []byte) (*node, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	p := &parser{body: body, reader: token.New(body), line: 1}
	kind, err := p.reader.Next()
	if err != nil || kind == token.End { // a body of comments
		return nil, err
	}
	return p.value(kind)
}

// place is the line and column of the last token.
func (p *parser) place() place {
	for ; p.seen < p.reader.Offset(); p.seen++ {
		if p.body[p.seen] == '\n' {
			p.line++
			p.start = p.seen + 1
		}
	}
	return place{p.line, p.seen - p.start + 1}
}

// value is the value that begins with a token of the kind, which was just read.
func (p *parser) value(kind token.Kind) (*node, error) {
	n := &node{kind: kind, at: p.place()}
	if kind.IsScalar() {
		n.text = string(p.reader.Text())
		return n, nil
	}
	for {
		kind, err := p.reader.Next()
		switch {
		case err != nil:
			return nil, err
		case kind == token.ObjectEnd || kind == token.ArrayEnd:
			n.end = p.place()
			return n, nil
		case kind == token.Key:
			m := member{name: string(p.reader.Text()), at: p.place()}
			if kind, err = p.reader.Next(); err != nil {
				return nil, err
			}
			if m.value, err = p.value(kind); err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		default:
			item, err := p.value(kind)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	}
}

// beginsObject reports whether a body begins with a brace: what else it may be is not
// even looked at where the server guesses the format by it.
func beginsObject(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '{'
}

// requireBody reads a body that must be there.
func requireBody(body []byte) (*node, error) {
	n, err := parseBody(body)
	if err == nil && n == nil {
		err = bodyRequired()
	}
	return n, err
}

func bodyRequired() *exception.Error {
	return exception.New(exception.OpenSearchParse, "request body is required")
}

// requireMap reads a body that must be there and be an object, as endpoints do that
// turn it into a map before they look at it.
func requireMap(body []byte) (*node, error) {
	if len(bytes.TrimSpace(body)) > 0 && !beginsObject(body) {
		return nil, exception.NotContent().WithStatus(500)
	}
	n, err := requireBody(body)
	if err != nil && !exception.Is(err, exception.OpenSearchParse) {
		return nil, exception.New(exception.OpenSearchParse, "Failed to parse content to map").CausedBy(exception.From(err))
	}
	return n, err
}

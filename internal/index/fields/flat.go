package fields

import (
	"bytes"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// A flat_object f is three fields of a segment: f has the keys above scalars as terms,
// each part between dots of its own, f._value the texts of all scalars, f._valueAndPath
// "f.key.key=text".

func flatSpec(*mapping.Field) segment.Spec { return segment.Spec{Postings: segment.Docs} }

// below is what is found under a path of keys.
func (f *Field) below(path string) *Field {
	b := *f
	b.path = f.path + "." + path
	b.under = b.path
	b.name = f.path + "._valueAndPath"
	return &b
}

// flatColumns are the fields of a segment for one flat_object.
type flatColumns struct {
	values, pairs *segment.FieldBuilder
	reader        token.Reader
	path          []byte
}

// putFlat takes the object apart. It was read before: errors end it early.
func putFlat(c *column, v *mapping.Value) {
	r := &c.flat.reader
	r.Reset(v.Bytes)
	c.flat.path = append(c.flat.path[:0], c.field.path...)
	if kind, err := r.Next(); err != nil || kind != token.Object {
		return
	}
	c.flatObject()
}

// flatObject reads the rest of an object whose path is c.flat.path.
func (c *column) flatObject() bool {
	r := &c.flat.reader
	for {
		kind, err := r.Next()
		if err != nil || kind == token.ObjectEnd {
			return err == nil
		}
		length := len(c.flat.path)
		c.flat.path = append(append(c.flat.path, '.'), r.Text()...)
		if kind, err = r.Next(); err != nil || !c.flatValue(kind) {
			return false
		}
		c.flat.path = c.flat.path[:length]
	}
}

// flatValue reads what begins with a token of this kind.
func (c *column) flatValue(kind token.Kind) bool {
	r := &c.flat.reader
	switch kind {
	case token.Object:
		return c.flatObject()
	case token.Array:
		for {
			kind, err := r.Next()
			if err != nil || kind == token.ArrayEnd {
				return err == nil
			}
			if !c.flatValue(kind) {
				return false
			}
		}
	case token.Null:
		return true
	}
	text := r.Text()
	c.scratch = append(append(append(c.scratch[:0], c.flat.path...), '='), text...)
	if len(c.scratch) > longestTerm {
		c.out.Exists()
		return true
	}
	c.flat.values.Term(text)
	c.flat.pairs.Term(c.scratch)
	for key := range bytes.SplitSeq(c.flat.path[len(c.field.path)+1:], []byte(".")) {
		c.out.Term(key)
	}
	return true
}

func exactFlat(f *Field, v Value, _ int64) (Match, error) {
	return one(append([]byte(f.Prefix()), v.String()...)), nil
}

func flatWithin(f *Field, a Asked, _ int64) (Match, error) {
	return f.between(f.Prefix(), a.From, a.To), nil
}

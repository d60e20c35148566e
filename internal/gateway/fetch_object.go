package gateway

import (
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// onlyObject is a source that has no more than one nested object, where it is; nil when it
// is not there.
func onlyObject(source []byte, steps []search.Step) []byte {
	object := source
	var open, closed []byte
	for _, s := range steps {
		if object = objectAt(object, s); object == nil {
			return nil
		}
		open = append(appendString(append(open, '{'), s.Field), ':')
		closed = append(closed, '}')
	}
	return append(append(open, object...), closed...)
}

// objectAt is one of the objects that an object holds under a name; nil when it is not
// there.
func objectAt(object []byte, s search.Step) []byte {
	r := token.New(object)
	if kind, err := r.Next(); err != nil || kind != token.Object {
		return nil
	}
	left := s.Offset
	for {
		kind, err := r.Next()
		if err != nil || kind == token.ObjectEnd {
			return nil
		}
		named := string(r.Text()) == s.Field
		if kind, err = r.Next(); err != nil {
			return nil
		}
		if !named {
			if _, err := r.Whole(kind); err != nil {
				return nil
			}
			continue
		}
		if found := countDown(r, kind, &left); found != nil {
			return found
		}
	}
}

// countDown looks for an object in a value, in arrays too; left is how many come before
// it.
func countDown(r *token.Reader, kind token.Kind, left *int) []byte {
	switch kind {
	case token.Object:
		object, err := r.Whole(kind)
		if err != nil {
			return nil
		}
		if *left == 0 {
			return object
		}
		*left--
	case token.Array:
		for {
			kind, err := r.Next()
			if err != nil || kind == token.ArrayEnd {
				return nil
			}
			if found := countDown(r, kind, left); found != nil {
				return found
			}
		}
	}
	return nil
}

// appendObject appends the object that a source has, as the server writes objects that it
// has read; an empty one when nothing of it is left.
func appendObject(dst, source []byte, steps []search.Step) []byte {
	for _, s := range steps {
		if source = objectAt(source, search.Step{Field: s.Field}); source == nil {
			return append(dst, "{}"...)
		}
	}
	r := token.New(source)
	before := len(dst)
	kind, err := r.Next()
	if err == nil {
		dst, err = appendRead(dst, r, kind)
	}
	if err != nil {
		return append(dst[:before], "{}"...)
	}
	return dst
}

// appendRead appends a value whose first token has been read, members in the order of the
// server's maps.
func appendRead(dst []byte, r *token.Reader, kind token.Kind) (_ []byte, err error) {
	switch kind {
	case token.Object:
		return appendReadObject(dst, r)
	case token.Array:
		dst = append(dst, '[')
		for n := 0; ; n++ {
			if kind, err = r.Next(); err != nil || kind == token.ArrayEnd {
				return append(dst, ']'), err
			}
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendRead(dst, r, kind); err != nil {
				return dst, err
			}
		}
	case token.String:
		return token.AppendString(dst, r.Text()), nil
	case token.Float:
		if f, err := strconv.ParseFloat(string(r.Text()), 64); err == nil {
			return java.AppendReal(dst, f, 64), nil
		}
	}
	value, err := r.Whole(kind)
	return append(dst, value...), err
}

// appendReadObject appends an object whose bracket has been read.
func appendReadObject(dst []byte, r *token.Reader) ([]byte, error) {
	type member struct {
		name string
		json []byte
	}
	var members []member
	for {
		kind, err := r.Next()
		if err != nil {
			return dst, err
		}
		if kind == token.ObjectEnd {
			break
		}
		one := member{name: string(r.Text())}
		if kind, err = r.Next(); err == nil {
			one.json, err = appendRead(nil, r, kind)
		}
		if err != nil {
			return dst, err
		}
		members = append(members, one)
	}
	table := usualTable
	for 4*len(members) > 3*table {
		table *= 2
	}
	slices.SortStableFunc(members, func(a, b member) int { return java.Bucket(a.name, table) - java.Bucket(b.name, table) })
	dst = append(dst, '{')
	for i, one := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendString(dst, one.name), ':'), one.json...)
	}
	return append(dst, '}'), nil
}

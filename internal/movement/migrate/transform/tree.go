package transform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reshelve/reshelve/internal/fault"
)

// value is a part of a document: taken apart into members or elements only where a step has
// to look inside.
type value struct {
	raw     []byte // as it was written, when it was not taken apart
	kind    kind
	members []member
	items   []*value
}

type kind uint8

const (
	asWritten kind = iota
	object
	array
)

type member struct {
	name  string // as it is meant
	raw   []byte // as it was written, with quotes
	value *value
}

// open takes a value apart, if it is an object or an array.
func (v *value) open() error {
	if v.kind != asWritten || len(v.raw) == 0 || v.raw[0] != '{' && v.raw[0] != '[' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v.raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	start, err := d.ReadToken()
	if err != nil {
		return noJSON(err)
	}
	isObject := start.Kind() == '{'
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		var m member
		if isObject {
			raw, err := d.ReadValue()
			if err != nil {
				return noJSON(err)
			}
			m.raw = slices.Clone(raw)
			name, err := jsontext.AppendUnquote(nil, raw)
			if err != nil && name == nil {
				return noJSON(err)
			}
			m.name = string(name)
		}
		raw, err := d.ReadValue()
		if err != nil {
			return noJSON(err)
		}
		m.value = &value{raw: slices.Clone(raw)}
		if isObject {
			v.members = append(v.members, m)
		} else {
			v.items = append(v.items, m.value)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return noJSON(err)
	}
	v.kind = array
	if isObject {
		v.kind = object
	}
	return nil
}

func noJSON(err error) error {
	return fault.New(fault.Refused, "the source is no JSON: %w", err)
}

// appendTo appends the value as it is now.
func (v *value) appendTo(dst []byte) []byte {
	switch v.kind {
	case object:
		dst = append(dst, '{')
		for i := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			m := &v.members[i]
			dst = m.value.appendTo(append(append(dst, m.raw...), ':'))
		}
		return append(dst, '}')
	case array:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendTo(dst)
		}
		return append(dst, ']')
	}
	return append(dst, v.raw...)
}

// find is the first member with name; -1: none.
func (v *value) find(name string) int {
	return slices.IndexFunc(v.members, func(m member) bool { return m.name == name })
}

// holders calls do for each object that holds, or with the last name alone may hold, the end
// of a path: do gets the object and the name of the member there. A path ends at once where an
// object has a member with all that is left of it as its name.
func (v *value) holders(p path, do func(o *value, name string) error) error {
	if err := v.open(); err != nil {
		return err
	}
	if v.kind == array {
		for _, item := range v.items {
			if err := item.holders(p, do); err != nil {
				return err
			}
		}
		return nil
	}
	if v.kind != object {
		return nil
	}
	if whole := p.String(); len(p) == 1 || v.find(whole) >= 0 {
		return do(v, whole)
	}
	for i := range v.members {
		if v.members[i].name == p[0] {
			if err := v.members[i].value.holders(p[1:], do); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes the members at a path away, and tells whether there were any.
func (v *value) remove(p path) (found bool, err error) {
	err = v.holders(p, func(o *value, name string) error {
		before := len(o.members)
		o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.name == name })
		found = found || len(o.members) < before
		return nil
	})
	return found, err
}

// set puts a value at a path; the objects that lead there are made. What stands there is
// replaced, in its place.
func (v *value) set(p path, to *value) error {
	if err := v.open(); err != nil {
		return err
	}
	switch v.kind {
	case array:
		for _, item := range v.items {
			if err := item.set(p, to); err != nil {
				return err
			}
		}
		return nil
	case asWritten:
		return fault.New(fault.Refused, "%q cannot be put into %.40q, which is no object", p.String(), v.raw)
	}
	if whole := p.String(); len(p) == 1 || v.find(whole) >= 0 {
		v.put(whole, to)
		return nil
	}
	at := v.find(p[0])
	if at < 0 || string(v.members[at].value.raw) == "null" && v.members[at].value.kind == asWritten {
		v.put(p[0], &value{kind: object})
		at = v.find(p[0])
	}
	return v.members[at].value.set(p[1:], to)
}

// put sets a member of an object; of several with its name one is left.
func (v *value) put(name string, to *value) {
	to = to.copy()
	at := v.find(name)
	if at < 0 {
		raw, _ := jsontext.AppendQuote(nil, name) // what is no UTF-8 in it becomes the sign for that
		v.members = append(v.members, member{name, raw, to})
		return
	}
	v.members[at].value = to
	rest := slices.DeleteFunc(v.members[at+1:], func(m member) bool { return m.name == name })
	v.members = v.members[:at+1+len(rest)]
}

// copy is the value by itself: what is done to one of the two is not done to the other.
func (v *value) copy() *value { return &value{raw: v.appendTo(nil)} }

// rename moves what stands at one path to another. Where both have the same parents it keeps
// its place, in each object of an array; else it must stand in one place, outside of arrays.
func (v *value) rename(from, to path) (moved bool, err error) {
	if slices.Equal(from[:len(from)-1], to[:len(to)-1]) {
		err = v.holders(from, func(o *value, name string) error {
			at := o.find(name)
			if at < 0 {
				return nil
			}
			it := o.members[at].value
			last := to[len(to)-1]
			if strings.Contains(name, ".") { // it stood there with its path as its name
				last = strings.TrimSuffix(name, from[len(from)-1]) + last
			}
			if name == last {
				return nil
			}
			o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.name == last })
			at = o.find(name)
			raw, _ := jsontext.AppendQuote(nil, last)
			o.members[at] = member{last, raw, it}
			o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.name == name })
			moved = true
			return nil
		})
		return moved, err
	}
	var found []*value
	err = v.holders(from, func(o *value, name string) error {
		if at := o.find(name); at >= 0 {
			found = append(found, o.members[at].value)
		}
		return nil
	})
	switch {
	case err != nil || len(found) == 0:
		return false, err
	case len(found) > 1:
		return false, fault.New(fault.Refused, "%q is in %d places, and there is one to move it to: %q", from.String(), len(found), to.String())
	}
	if _, err := v.remove(from); err != nil {
		return false, err
	}
	return true, v.set(to, found[0])
}

// plain is a source as expressions see it: objects are maps, whole numbers that fit are int,
// and others float64.
func plain(source []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		return nil, noJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Refused, "the source is more than one JSON value")
	}
	for name, v := range doc {
		doc[name] = numbers(v)
	}
	return doc, nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64() // beyond all numbers: infinite
		return f
	case map[string]any:
		for name := range v {
			v[name] = numbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

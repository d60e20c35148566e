package mapping

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// A definition is read into a tree first: nil, bool, string, number, []any and
// *object. Its objects are walked in the order in which the server walks its hash
// maps, since that decides which of two mistakes is told and how _meta is rendered.

// number is a number's literal.
type number string

// object is a JSON object. Parsers of definitions take keys away as they read
// them; what is left was unknown.
type object struct {
	keys []string
	at   map[string]any
}

// parseTree reads one JSON object.
func parseTree(data []byte) (*object, error) {
	if !startsObject(data) {
		return nil, exception.NotContent().WithStatus(500)
	}
	r := json.New(data)
	kind, err := r.Next()
	if err != nil {
		return nil, malformedTree(err)
	}
	root, err := readTree(r, kind)
	if err == nil {
		kind, err = r.Next()
	}
	if err != nil {
		return nil, malformedTree(err)
	}
	if kind != json.End {
		return nil, exception.New(exception.IllegalArgument, "Malformed content, found extra data after parsing: %s", kind)
	}
	return root.(*object), nil
}

func malformedTree(err error) error {
	return exception.New(exception.OpenSearchParse, "Failed to parse content to map").CausedBy(exception.From(err))
}

// readTree reads the value that begins with a token of this kind.
func readTree(r *json.Reader, kind json.Kind) (any, error) {
	switch kind {
	case json.Object:
		return readObject(r)
	case json.Array:
		list := []any{}
		for {
			kind, err := r.Next()
			if err != nil || kind == json.ArrayEnd {
				return list, err
			}
			value, err := readTree(r, kind)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
	case json.String:
		return string(r.Text()), nil
	case json.Integer, json.Float:
		return number(r.Text()), nil
	case json.True, json.False:
		return kind == json.True, nil
	}
	return nil, nil
}

func readObject(r *json.Reader) (any, error) {
	o := &object{at: map[string]any{}}
	for {
		kind, err := r.Next()
		if err != nil {
			return nil, err
		}
		if kind == json.ObjectEnd {
			o.keys = hashOrder(o.keys)
			return o, nil
		}
		key := string(r.Text())
		if kind, err = r.Next(); err != nil {
			return nil, err
		}
		value, err := readTree(r, kind)
		if err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
		o.at[key] = value
	}
}

// take removes a key and returns its value.
func (o *object) take(key string) (value any, ok bool) {
	value, ok = o.at[key]
	delete(o.at, key)
	return value, ok
}

// each calls f for the keys that are left, until it fails.
func (o *object) each(f func(key string, value any) error) error {
	for _, key := range o.keys {
		if value, ok := o.at[key]; ok {
			if err := f(key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// clone copies the object, so that a parser may take keys from the copy. Values
// are shared.
func (o *object) clone() *object {
	c := &object{keys: o.keys, at: make(map[string]any, len(o.at))}
	for key, value := range o.at {
		c.at[key] = value
	}
	return c
}

// remaining tells what was not known: " [a : 1] [b : {c=2}]".
func (o *object) remaining() string {
	var b strings.Builder
	o.each(func(key string, value any) error { //nolint:errcheck // it never fails
		b.WriteString(" [" + key + " : " + javaText(value) + "]")
		return nil
	})
	return b.String()
}

// hashOrder is the order in which a hash map of the server gives the keys: by
// bucket, of as many as the keys need at 3/4 full, then as they were put in.
func hashOrder(keys []string) []string {
	buckets := 16
	for len(keys)*4 > buckets*3 {
		buckets *= 2
	}
	counts := make([]int, buckets+1)
	at := make([]int, len(keys))
	for i, key := range keys {
		at[i] = java.Bucket(key, buckets)
		counts[at[i]+1]++
	}
	for i := range buckets {
		counts[i+1] += counts[i]
	}
	ordered := make([]string, len(keys))
	for i, key := range keys {
		ordered[counts[at[i]]] = key
		counts[at[i]]++
	}
	return ordered
}

// appendTree renders a value as JSON, objects in their own order.
func appendTree(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case string:
		return json.AppendString(b, v)
	case number:
		return append(b, v.text()...)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTree(b, item)
		}
		return append(b, ']')
	case *object:
		b = append(b, '{')
		first := true
		for _, key := range v.keys {
			if item, ok := v.at[key]; ok {
				b = appendKey(b, key, &first)
				b = appendTree(b, item)
			}
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// appendKey renders a key and its colon, with a comma before all but the first.
func appendKey(b []byte, key string, first *bool) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return append(json.AppendString(b, key), ':')
}

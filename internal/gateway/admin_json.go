package gateway

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// object is a JSON object whose members keep their order, as the server's do.
type object []member

type member struct {
	name  string
	value any // object, array, nil, a string, bool, int, int64, uint32, float64, []string or json.RawMessage
}

// array is a JSON array of the values that a member may have.
type array []any

// add appends a member.
func (o *object) add(name string, value any) { *o = append(*o, member{name, value}) }

// appendJSON appends a value compactly.
func appendJSON(dst []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		dst = append(dst, '{')
		for i, m := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(append(appendString(dst, m.name), ':'), m.value)
		}
		return append(dst, '}')
	case array:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, element)
		}
		return append(dst, ']')
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(java.AppendReal(append(dst, '"'), v, 64), '"')
		}
		return java.AppendReal(dst, v, 64)
	case json.RawMessage:
		return appendCompact(dst, v)
	}
	return appendField(dst, value)
}

// appendCompact appends JSON text without its blanks; what is not JSON is null.
func appendCompact(dst []byte, text []byte) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return append(dst, "null"...)
	}
	return append(dst, compact.Bytes()...)
}

// inServerOrder reads an object and puts its members into the server's order.
func inServerOrder(text []byte) (object, error) {
	members, err := readObject(text)
	if err != nil {
		return nil, err
	}
	byName := map[string]any{}
	for _, m := range members {
		byName[m.name] = m.value
	}
	o := object{}
	for _, name := range serverOrder(byName, usualTable) {
		o.add(name, byName[name])
	}
	return o, nil
}

// answer answers with a value.
func (c *call) answer(status int, value any) error {
	c.out = appendJSON(c.out[:0], value)
	return c.send(status)
}

// acknowledge answers that an administrative change is done.
func (c *call) acknowledge() error { return c.answer(200, object{{"acknowledged", true}}) }

// shardCounts is the "_shards" of an answer: how many copies there should be,
// and how many did their part.
func shardCounts(total, successful int) object {
	return object{{"total", total}, {"successful", successful}, {"failed", 0}}
}

// readObject takes a JSON object apart, one level deep, keeping its order. Values
// are of type json.RawMessage.
func readObject(text []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fault.New(fault.Corrupt, "not a JSON object: %.60q", text)
	}
	members := object{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, fault.Wrap(fault.Corrupt, err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err)
		}
		members.add(name.(string), value)
	}
	return members, nil
}

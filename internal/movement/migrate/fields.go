package migrate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Fields are the sizes of a mapping that servers limit.
type Fields struct {
	Fields int // fields, objects, aliases of fields, and fields of fields
	Depth  int // of objects; the document itself is 1
	Nested int // objects of type nested
}

// The limits' settings, and their defaults on the targets.
const (
	limitFields = "index.mapping.total_fields.limit"
	limitDepth  = "index.mapping.depth.limit"
	limitNested = "index.mapping.nested_fields.limit"
)

// FieldsOf measures the mapping of a body that makes an index, and reads the limits that its
// settings name, else the least that targets have by default. It is fault.Corrupt when the
// body is no JSON.
func FieldsOf(body json.RawMessage) (size, limits Fields, err error) {
	var parts struct {
		Settings map[string]any `json:"settings"`
		Mappings property       `json:"mappings"`
	}
	if err := json.Unmarshal(body, &parts); err != nil {
		return size, limits, fault.New(fault.Corrupt, "the body of an index is not understood: %w", err)
	}
	size.Depth = 1
	size.add(&parts.Mappings, 1)
	limits = Fields{Fields: limit(parts.Settings, limitFields, 1000), Depth: limit(parts.Settings, limitDepth, 20), Nested: limit(parts.Settings, limitNested, 50)}
	return size, limits, nil
}

// property is a field of a mapping, or the mapping.
type property struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Fields     map[string]property `json:"fields"`
}

func (f *Fields) add(p *property, depth int) {
	for name := range p.Properties {
		child := p.Properties[name]
		below := depth
		if child.Type == "" || child.Type == "object" || child.Type == "nested" {
			below++
			f.Depth = max(f.Depth, below)
		}
		if child.Type == "nested" {
			f.Nested++
		}
		f.Fields += 1 + len(child.Fields)
		f.add(&child, below)
	}
}

func limit(settings map[string]any, name string, otherwise int) int {
	if n, err := strconv.Atoi(fmt.Sprint(settings[name])); err == nil {
		return n
	}
	return otherwise
}

// Over are the limits that a mapping is above, in words.
func (f Fields) Over(limits Fields) (over []string) {
	for _, l := range []struct {
		name       string
		has, limit int
	}{{limitFields, f.Fields, limits.Fields}, {limitDepth, f.Depth, limits.Depth}, {limitNested, f.Nested, limits.Nested}} {
		if l.has > l.limit {
			what, _, _ := strings.Cut(strings.TrimPrefix(l.name, "index.mapping."), ".limit")
			over = append(over, fmt.Sprintf("its mapping has %d of %s, and the limit %s is %d", l.has, strings.ReplaceAll(what, "_", " "), l.name, l.limit))
		}
	}
	return over
}

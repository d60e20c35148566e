package mapping

import (
	"iter"
	"strings"
)

// Mapping is what is known of the fields of one index. The zero value is not
// useful: start with [Empty] or [Parse]. Immutable, safe for concurrent use.
type Mapping struct {
	root *Field // the object without a name

	meta        *object // what users note about the mapping; nil: nothing
	formats     []string
	formatsSet  bool
	templates   []*template
	templateSet bool
	dates       tristate // date_detection
	numbers     tristate // numeric_detection
	own         []*Field // the server's own fields that were given parameters, by name

	detect []detector // formats, ready for use
	extent extent     // of a mapping that is complete
	stamp  string     // Timestamp, or a text that is no path
}

// Empty is the mapping of an index that was created without one.
func Empty() *Mapping {
	m := &Mapping{root: newObject("", "")}
	m.detect, _ = detectors(nil, false)
	return m
}

// RoutingRequired reports whether each document must have a routing value
// (_routing.required).
func (m *Mapping) RoutingRequired() bool { return m.ownField("_routing").flag("required") }

// SourceRule says what of a source is kept (_source).
type SourceRule struct {
	Disabled           bool
	Includes, Excludes []string // wildcard patterns of paths
}

// Source is the rule of the mapping.
func (m *Mapping) Source() SourceRule {
	f := m.ownField("_source")
	list := func(name string) []string {
		names, _ := f.param(f.kind.index(name)).([]string)
		return names
	}
	return SourceRule{Disabled: !f.flag("enabled"), Includes: list("includes"), Excludes: list("excludes")}
}

// Timestamp is the path of the field that each document of a data stream must
// have once (_data_stream_timestamp); "" where there is no such rule.
func (m *Mapping) Timestamp() string {
	f := m.ownField("_data_stream_timestamp")
	if !f.flag("enabled") {
		return ""
	}
	name, _ := f.param(f.kind.index("timestamp_field")).(timestampField)
	return string(name)
}

// ownField is one of the server's own fields, with the parameters it was given.
func (m *Mapping) ownField(name string) *Field {
	for _, f := range m.own {
		if f.name == name {
			return f
		}
	}
	return newLeaf(name, name, ownTypes[name])
}

// Field finds a field by its full path, multi-fields ("title.raw") and objects
// included.
func (m *Mapping) Field(path string) (*Field, bool) {
	f := m.root
	for part := range strings.SplitSeq(path, ".") {
		if f = f.below(part); f == nil {
			return nil, false
		}
	}
	return f, true
}

// below is the child or multi-field of that name, or nil.
func (f *Field) below(name string) *Field {
	if f.children != nil {
		return f.children[name]
	}
	for _, multi := range f.multi {
		if multi.name == name {
			return multi
		}
	}
	return nil
}

// All goes through all fields in the order of their paths' places in the mapping:
// an object before its children, a field before its multi-fields.
func (m *Mapping) All() iter.Seq[*Field] {
	return func(yield func(*Field) bool) { m.root.all(yield) }
}

// all yields what is below f.
func (f *Field) all(yield func(*Field) bool) bool {
	for _, list := range [][]*Field{f.order, f.multi} {
		for _, below := range list {
			if !yield(below) || !below.all(yield) {
				return false
			}
		}
	}
	return true
}

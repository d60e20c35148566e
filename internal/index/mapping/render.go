package mapping

import (
	"strings"

	json "github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// JSON is the object under "mappings" as the server renders it: keys in its
// order, defaults left out.
func (m *Mapping) JSON() []byte {
	b, first := []byte{'{'}, true
	b = m.root.appendRules(b, &first)
	if m.meta != nil {
		b = appendTree(appendKey(b, "_meta", &first), m.meta)
	}
	for _, f := range m.own {
		if own, any := f.appendOwn(nil, false); any {
			b = append(appendKey(b, f.name, &first), own...)
		}
	}
	if m.formatsSet {
		b = appendParam(appendKey(b, "dynamic_date_formats", &first), append([]string{}, m.formats...))
	}
	if m.templateSet {
		b = append(appendKey(b, "dynamic_templates", &first), '[')
		for i, t := range m.templates {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.append(b)
		}
		b = append(b, ']')
	}
	b = appendTristate(b, "date_detection", m.dates, &first)
	b = appendTristate(b, "numeric_detection", m.numbers, &first)
	b = m.root.appendProperties(b, &first)
	return append(b, '}')
}

func appendTristate(b []byte, name string, t tristate, first *bool) []byte {
	if t == unset {
		return b
	}
	return appendTree(appendKey(b, name, first), t == yes)
}

// appendRules renders what an object has beside its children.
func (f *Field) appendRules(b []byte, first *bool) []byte {
	if f.dynamic != inherited {
		b = json.AppendString(appendKey(b, "dynamic", first), f.dynamic.String())
	}
	if f.disabled {
		b = appendTree(appendKey(b, "enabled", first), false)
	}
	return b
}

func (f *Field) appendProperties(b []byte, first *bool) []byte {
	if len(f.order) == 0 {
		return b
	}
	b = append(appendKey(b, "properties", first), '{')
	inner := true
	for _, child := range f.order {
		b = child.append(appendKey(b, child.name, &inner), false)
	}
	return append(b, '}')
}

// append renders the definition of a field.
func (f *Field) append(b []byte, defaults bool) []byte {
	first := true
	b = append(b, '{')
	switch {
	case f.kind == nestedType:
		b = json.AppendString(appendKey(b, "type", &first), "nested")
		if f.includeInParent {
			b = appendTree(appendKey(b, "include_in_parent", &first), true)
		}
		if f.includeInRoot {
			b = appendTree(appendKey(b, "include_in_root", &first), true)
		}
	case f.kind == objectType && len(f.order) > 0:
	default:
		b = json.AppendString(appendKey(b, "type", &first), f.kind.name)
	}
	switch {
	case f.IsObject():
		b = f.appendProperties(f.appendRules(b, &first), &first)
	case f.kind == aliasType:
		b = json.AppendString(appendKey(b, "path", &first), f.target)
	default:
		b = f.appendParams(b, &first, defaults)
	}
	return append(b, '}')
}

// appendParams renders parameters, and multi-fields and copy_to at their place.
func (f *Field) appendParams(b []byte, first *bool, defaults bool) []byte {
	for i := range f.params {
		if i == f.kind.multiAt {
			b = f.appendMulti(b, first, defaults)
		}
		p := &f.kind.params[i]
		if f.params[i] == nil && !p.always && !p.leads && !defaults {
			continue // nearly all
		}
		told := !p.hidden && (p.always || f.configured(i) || f.leads(i))
		if defaults {
			told = !p.hidden || p.defaults
		}
		if !told {
			continue
		}
		b = appendParam(appendKey(b, p.name, first), f.param(i))
	}
	if f.kind.multiAt == len(f.kind.params) {
		b = f.appendMulti(b, first, defaults)
	}
	return b
}

// leads reports whether another parameter follows the i-th and differs from it:
// then the i-th is told too.
func (f *Field) leads(i int) bool {
	if !f.kind.params[i].leads {
		return false
	}
	for j := i + 1; j < len(f.kind.params); j++ {
		if f.kind.params[j].follows == "" {
			continue
		}
		if f.kind.params[j].follows == f.kind.params[i].name && (f.configured(j) || f.leads(j)) {
			return true
		}
	}
	return false
}

func (f *Field) appendMulti(b []byte, first *bool, defaults bool) []byte {
	if len(f.multi) > 0 {
		b = append(appendKey(b, "fields", first), '{')
		inner := true
		for _, multi := range f.multi {
			b = multi.append(appendKey(b, multi.name, &inner), defaults)
		}
		b = append(b, '}')
	}
	if len(f.copyTo) > 0 {
		b = appendParam(appendKey(b, "copy_to", first), f.copyTo)
	}
	return b
}

// appendOwn renders the parameters of one of the server's own fields; any tells
// whether there were some.
func (f *Field) appendOwn(b []byte, defaults bool) (_ []byte, any bool) {
	first := true
	b = f.appendParams(append(b, '{'), &first, defaults)
	return append(b, '}'), !first
}

// FieldMappings answers GET _mapping/field/PATTERNS: the object under "mappings",
// with one key for each field whose path meets one of the comma-separated
// wildcard patterns, the server's own fields included. With defaults, parameters
// that were not set are told too.
func (m *Mapping) FieldMappings(patterns string, defaults bool) []byte {
	list := strings.Split(patterns, ",")
	meets := func(path string) bool { return wildcard.MatchAny(list, path) }
	b, first := []byte{'{'}, true
	tell := func(path, name string, definition []byte) {
		inner := true
		b = append(appendKey(b, path, &first), '{')
		b = json.AppendString(appendKey(b, "full_name", &inner), path)
		b = append(appendKey(b, "mapping", &inner), '{')
		if definition != nil {
			inner = true
			b = append(appendKey(b, name, &inner), definition...)
		}
		b = append(b, '}', '}')
	}
	for _, name := range ownNames {
		if !meets(name) {
			continue
		}
		var definition []byte
		if ownTypes[name] != nil {
			f := m.ownField(name)
			if own, any := f.appendOwn(nil, false); any {
				definition = own
				if defaults {
					definition, _ = f.appendOwn(nil, true)
				}
			}
		}
		tell(name, name, definition)
	}
	for f := range m.All() {
		if !f.IsObject() && meets(f.path) {
			tell(f.path, f.name, f.append(nil, defaults))
		}
	}
	return append(b, '}')
}

package mapping

import (
	"math"

	"github.com/reshelve/reshelve/internal/opensearch/date"
)

// Field is one field of a mapping: an object, a leaf, an alias or a multi-field;
// also the object without a name that holds all others, and each of the server's
// own fields that has parameters (_source, _routing). Immutable once built.
type Field struct {
	name, path string
	kind       *fieldType

	// of an object
	children                       map[string]*Field
	order                          []*Field // children as they are rendered
	dynamic                        dynamic
	disabled                       bool
	includeInParent, includeInRoot bool
	set                            struct{ enabled, inParent, inRoot bool } // told by the definition

	// of a leaf
	params []any    // by kind.params; nil: not set, or set to null
	multi  []*Field // multi-fields, as they are rendered
	copyTo []string

	target string // of an alias: the path it stands for

	// worked out of params by finish, for taking documents apart
	format          *date.Format // of dates and ranges of dates
	scaling         float64
	ignoreAbove     int // in UTF-16 code units
	coerce          tristate
	ignoreMalformed tristate
	hasNull         bool
	null            Value // what a null stands for, when hasNull
	ignoreZ         bool
}

// tristate is a parameter that falls back to a setting of the index.
type tristate uint8

const (
	unset tristate = iota
	no
	yes
)

func (t tristate) or(setting bool) bool { return t == yes || t == unset && setting }

// dynamic says what becomes of fields that an object does not know.
type dynamic uint8

const (
	inherited dynamic = iota
	dynamicTrue
	dynamicFalse
	strict
	strictAllowTemplates
)

func (d dynamic) String() string {
	return [...]string{"", "true", "false", "strict", "strict_allow_templates"}[d]
}

// Name is the last part of the path.
func (f *Field) Name() string { return f.name }

// Path is the full path with dots.
func (f *Field) Path() string { return f.path }

// Type is the name of the type: "text", "object", "nested", ….
func (f *Field) Type() string { return f.kind.name }

// IsObject reports whether the field is an object, nested or not.
func (f *Field) IsObject() bool { return f.kind == objectType || f.kind == nestedType }

// IncludedInParent reports whether the values of a nested object belong to the
// object or document around it too.
func (f *Field) IncludedInParent() bool { return f.includeInParent }

// IncludedInRoot reports whether the values of a nested object belong to the
// document too.
func (f *Field) IncludedInRoot() bool { return f.includeInRoot }

// Children are the fields of an object, by name.
func (f *Field) Children() []*Field { return f.order }

// MultiFields are the other ways in which the field's values are known, by name.
func (f *Field) MultiFields() []*Field { return f.multi }

// Target is the path that an alias stands for; "" for other fields.
func (f *Field) Target() string { return f.target }

// Indexed reports whether the field can be searched.
func (f *Field) Indexed() bool { return f.flag("index") }

// DocValues reports whether the field can be sorted by and counted.
func (f *Field) DocValues() bool { return f.flag("doc_values") }

// Format reads and writes the values of dates and ranges of dates; nil for others.
func (f *Field) Format() *date.Format { return f.format }

// Scaling is what values of scaled_float are multiplied with.
func (f *Field) Scaling() float64 { return f.scaling }

// Text is a parameter that is a name (analyzer, search_analyzer, normalizer,
// index_options, similarity, …), with its default; "" when there is none.
func (f *Field) Text(param string) string {
	if i := f.kind.index(param); i >= 0 {
		text, _ := f.param(i).(string)
		return text
	}
	return ""
}

// Meta is what users noted about the field: texts by name.
func (f *Field) Meta() map[string]string {
	if i := f.kind.index("meta"); i >= 0 {
		meta, _ := f.param(i).(map[string]string)
		return meta
	}
	return nil
}

// flag is a parameter that is a boolean, with its default.
func (f *Field) flag(param string) bool {
	if i := f.kind.index(param); i >= 0 {
		on, _ := f.param(i).(bool)
		return on
	}
	return false
}

// param is the value of the i-th parameter, or its default.
func (f *Field) param(i int) any {
	if f.params[i] != nil {
		return f.params[i]
	}
	return f.defaultOf(i)
}

// defaultOf is the value of a parameter that was not set. Two analyzers follow
// another one.
func (f *Field) defaultOf(i int) any {
	p := &f.kind.params[i]
	if p.follows != "" {
		return f.param(f.kind.index(p.follows))
	}
	return p.value
}

// configured reports whether the i-th parameter was set to other than its default.
func (f *Field) configured(i int) bool {
	p := &f.kind.params[i]
	return f.params[i] != nil && (p.explicit || !equal(f.params[i], f.defaultOf(i)))
}

func newObject(name, path string) *Field {
	return &Field{name: name, path: path, kind: objectType, children: map[string]*Field{}}
}

// newLeaf is a field of the type without parameters.
func newLeaf(name, path string, kind *fieldType) *Field {
	f := &Field{name: name, path: path, kind: kind, params: make([]any, len(kind.params)), ignoreAbove: math.MaxInt}
	return f
}

// join puts a name behind the path of its object.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package mapping

// Field is one field of a mapping: an object, a leaf, an alias or a multi-field.
// Immutable.
type Field struct {
	name, path string
	kind       *fieldType

	children map[string]*Field // of an object
}

// fieldType is what is known of a type, one for all its fields.
type fieldType struct {
	name string
}

// Name is the last part of the path.
func (f *Field) Name() string { return f.name }

// Path is the full path with dots.
func (f *Field) Path() string { return f.path }

// Type is the name of the type: "text", "object", "nested", ….
func (f *Field) Type() string { return f.kind.name }

var objectType = &fieldType{name: "object"}

func newObject(name, path string) *Field {
	return &Field{name: name, path: path, kind: objectType, children: map[string]*Field{}}
}

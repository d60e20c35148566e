package mapping

// Mapping is what is known of the fields of one index. The zero value is not
// useful: start with [Empty] or [Parse]. Immutable, safe for concurrent use.
type Mapping struct {
	root *Field // the object without a name

	routingRequired bool
}

// Empty is the mapping of an index that was created without one.
func Empty() *Mapping { return &Mapping{root: newObject("", "")} }

// RoutingRequired reports whether each document must have a routing value
// (_routing.required).
func (m *Mapping) RoutingRequired() bool { return m.routingRequired }

// SourceRule says what of a source is kept (_source).
type SourceRule struct {
	Disabled           bool
	Includes, Excludes []string // wildcard patterns of paths
}

// Source is the rule of the mapping.
func (m *Mapping) Source() SourceRule { return SourceRule{} }

// Field finds a field by its full path, multi-fields ("title.raw") and objects
// included.
func (m *Mapping) Field(path string) (*Field, bool) { return nil, false }

// All goes through all fields in the order of their paths' places in the mapping:
// an object before its children, a field before its multi-fields.
func (m *Mapping) All(yield func(*Field) bool) {}

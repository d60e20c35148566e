package fields

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// Schema is what is known of the fields of one index at one time. Immutable, safe for
// concurrent use.
type Schema struct {
	mapping  *mapping.Mapping
	analysis *analysis.Analysis

	leaves  paths    // aliases too
	sorted  []*Field // leaves, and aliases' fields, in the order of paths
	paths   []string // of sorted
	nested  map[string]*mapping.Field
	flat    []*Field // of type flat_object
	passes  bool     // a field passes over malformed values
	aliased bool     // there are aliases
}

// New joins a mapping with the analyzers of its index.
func New(m *mapping.Mapping, a *analysis.Analysis) *Schema {
	s := &Schema{mapping: m, analysis: a, leaves: paths{all: map[string]*Field{}}, nested: map[string]*mapping.Field{}}
	var aliases []*mapping.Field
	for f := range m.All() {
		switch {
		case f.Target() != "":
			aliases = append(aliases, f)
		case f.IsObject():
			if f.Type() == "nested" {
				s.nested[f.Path()] = f
			}
		default:
			s.add(newField(f, a))
		}
	}
	s.aliased = len(aliases) > 0
	for _, alias := range aliases {
		if f, ok := s.leaves.all[alias.Target()]; ok {
			s.leaves.all[alias.Path()] = f
		}
	}
	s.paths = slices.Sorted(maps.Keys(s.leaves.all))
	for _, path := range s.paths {
		s.sorted = append(s.sorted, s.leaves.all[path])
	}
	return s
}

func (s *Schema) add(f *Field) {
	s.leaves.all[f.path] = f
	s.passes = s.passes || f.def.On("ignore_malformed")
	if f.row.flat {
		s.flat = append(s.flat, f)
	}
}

// Mapping is what it was made of.
func (s *Schema) Mapping() *mapping.Mapping { return s.mapping }

// Analysis is what it was made of.
func (s *Schema) Analysis() *analysis.Analysis { return s.analysis }

// Passes reports whether a field passes over malformed values (ignore_malformed).
func (s *Schema) Passes() bool { return s.passes }

// Field finds a leaf by its path; an alias gives the field that it stands for, and a path
// below a flat_object what that holds there. The server's own fields that can be searched
// (_id, _routing, _ignored …) are fields too.
func (s *Schema) Field(path string) (*Field, bool) {
	if f := s.leaves.get(path); f != nil {
		return f, true
	}
	if f, ok := own[path]; ok {
		return f, true
	}
	for _, f := range s.flat {
		if below, ok := strings.CutPrefix(path, f.path+"."); ok {
			return f.below(below), true
		}
	}
	return nil, false
}

// Matching are the leaves whose paths meet a pattern with *, by path, each once although
// an alias may meet it too; those of objects and the server's own are not among them.
func (s *Schema) Matching(pattern string) []*Field {
	var found []*Field
	seen := map[*Field]bool{}
	for i, f := range s.sorted {
		if wildcard.Match(pattern, s.paths[i]) && !seen[f] {
			seen[f] = true
			found = append(found, f)
		}
	}
	return found
}

// Nested finds a nested field by its path.
func (s *Schema) Nested(path string) (*mapping.Field, bool) {
	f, ok := s.nested[path]
	return f, ok
}

// NestedAround is the path of the innermost nested field that a path lies in; "" for
// those of the document. A nested field lies not in itself.
func (s *Schema) NestedAround(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' && s.nested[path[:i]] != nil {
			return path[:i]
		}
	}
	return ""
}

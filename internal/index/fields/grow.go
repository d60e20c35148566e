package fields

import (
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/index/mapping"
)

// Grow is the schema of what the schema's mapping has grown into. It costs what the fields that have changed
// cost, and a copy of lists, where they are leaves of their own. Its error is that of Check, for a schema
// that had passed it before; without check there is none.
func (s *Schema) Grow(to mapping.Grown, check bool) (*Schema, error) {
	if to.Whole || s.aliased || len(to.Changed) > len(s.sorted)/8 || slices.ContainsFunc(to.Changed, s.reaches) {
		grown := New(to.Mapping, s.analysis)
		if check {
			return grown, grown.Check()
		}
		return grown, nil
	}
	grown := *s
	grown.mapping, grown.leaves = to.Mapping, s.leaves.open()
	grown.sorted, grown.paths = slices.Clone(s.sorted), slices.Clone(s.paths)
	for _, def := range to.Changed {
		if def.IsObject() {
			continue
		}
		if check {
			if err := s.check(def); err != nil {
				return nil, err
			}
		}
		f := newField(def, s.analysis)
		grown.passes = grown.passes || def.On("ignore_malformed")
		grown.leaves.put(f)
		at, known := slices.BinarySearch(grown.paths, f.path)
		if !known {
			grown.paths, grown.sorted = slices.Insert(grown.paths, at, f.path), slices.Insert(grown.sorted, at, f)
		}
		grown.sorted[at] = f
	}
	return &grown, nil
}

// reaches reports whether a field that has changed means more than a leaf of its own does: an alias, nested
// objects, and what others are found below, or what had to do with values that are passed over.
func (s *Schema) reaches(f *mapping.Field) bool {
	if f.IsObject() {
		return f.Type() == "nested"
	}
	before := s.leaves.get(f.Path())
	return f.Target() != "" || rows[f.Type()].flat || before != nil && before.def.On("ignore_malformed")
}

// paths are leaves by their paths: most in a map that is never changed any more, and few that came later, so
// that a schema that grows does not copy all of them.
type paths struct {
	all, later map[string]*Field
}

// laterAtMost is how many leaves come later until there is one map again.
const laterAtMost = 256

func (p paths) get(path string) *Field {
	if f := p.later[path]; f != nil {
		return f
	}
	return p.all[path]
}

// open is a copy to which leaves can be added.
func (p paths) open() paths {
	if len(p.later) < laterAtMost {
		if p.later = maps.Clone(p.later); p.later == nil {
			p.later = map[string]*Field{}
		}
		return p
	}
	all := make(map[string]*Field, len(p.all)+2*len(p.later))
	maps.Copy(all, p.all)
	maps.Copy(all, p.later)
	return paths{all: all, later: map[string]*Field{}}
}

func (p paths) put(f *Field) { p.later[f.path] = f }

package mapping

import (
	"strings"
)

// add puts a new field into the additions.
func (w *walk) add(parent, f *Field) {
	w.sink = nil
	if w.additions == nil {
		w.additions, w.known = newObject("", ""), w.m.root.withoutRedundantIncludes(true)
	}
	if w.lowest == "" || less(f.path, w.lowest) {
		w.lowest, w.atLowest = f.path, 0
	}
	if f.path == w.lowest {
		w.atLowest++
	}
	to, known := w.additions, w.known
	if parent.path != "" {
		for part := range strings.SplitSeq(parent.path, ".") {
			if known != nil {
				known = known.children[part]
			}
			next := to.children[part]
			if next == nil {
				next = known.shell()
				to.put(next)
			}
			if !next.IsObject() {
				return // which was told as a conflict when the object was added
			}
			to = next
		}
	}
	// what the walk goes on with stays without children, so that each of several
	// values asks for all that it needs
	added := *f
	if f.IsObject() {
		added.children, added.order = map[string]*Field{}, nil
		for _, child := range f.order {
			added.put(child)
		}
	}
	existing := to.children[f.name]
	if existing == nil {
		to.put(&added)
		return
	}
	merged, err := mergeChild(existing, &added, false)
	if err == nil {
		to.put(merged)
		return
	}
	if w.conflict == nil || less(f.path, w.conflict.path) {
		_, later := mergeField(&added, existing, false)
		if later == nil || f.path == w.lowest && w.atLowest == 2 {
			later = err
		}
		w.conflict = &conflict{path: f.path, first: err, later: later}
	}
}

// conflict is of two additions to one path. The server goes through additions by
// name and, but for the first of all, asks the later of two whether it can be
// merged with the earlier.
type conflict struct {
	path         string
	first, later error
}

// tell is the error, given the lowest path of all additions.
func (c *conflict) tell(lowest string) error {
	return c.later
}

package mapping

import (
	"maps"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// add puts a new field into the additions.
func (w *walk) add(parent, f *Field) error {
	w.sink = nil
	if w.additions == nil {
		w.additions, w.known = newObject("", ""), w.m.root.withoutRedundantIncludes(true)
	}
	if w.lowest == "" || java.Less(f.path, w.lowest) {
		w.lowest, w.atLowest = f.path, 0
	}
	if f.path == w.lowest {
		w.atLowest++
	}
	to := w.addedObject(parent.path)
	if to == nil {
		return nil // which was told as a conflict when the object was added
	}
	// what the walk goes on with stays without children, so that each of several
	// values asks for all that it needs
	added := *f
	if f.IsObject() {
		added.children = maps.Clone(f.children)
	}
	existing := to.children[f.name]
	if existing == nil {
		to.put(&added)
		// refused here, and not after they were all gone through
		if w.fresh += 1 + len(f.multi); w.m.extent.fields+w.fresh > w.limits.TotalFields {
			w.deep = tooMany(w.limits.TotalFields)
		}
		return w.deep
	}
	if f.IsObject() && existing.IsObject() {
		if len(f.order) == 0 && existing.canMerge(&added, false) == nil {
			return nil
		}
		existing.seal()
	}
	merged, err := mergeChild(existing, &added, false)
	if err == nil {
		to.put(merged)
	} else if w.conflict == nil || java.Less(f.path, w.conflict.path) {
		w.conflict = w.conflictOf(existing, &added, err)
	}
	return nil
}

// addedObject is the object at a path among the additions, made as it is in the
// mapping; nil when there is an addition that is no object.
func (w *walk) addedObject(path string) *Field {
	to, known := w.additions, w.known
	if path == "" {
		return to
	}
	for part := range strings.SplitSeq(path, ".") {
		if known != nil {
			known = known.children[part]
		}
		next := to.children[part]
		if next == nil {
			next = known.shell()
			to.put(next)
		}
		if !next.IsObject() {
			return nil
		}
		to = next
	}
	return to
}

// conflict is of two additions to one path.
type conflict struct {
	path string
	told error
}

// conflictOf tells of two additions that cannot be merged, err in the order in
// which they came. The server goes through additions by name and, but for the
// first two of all, asks the later whether it can be merged with the earlier.
func (w *walk) conflictOf(earlier, later *Field, err error) *conflict {
	if _, told := mergeField(later, earlier, false); told != nil && (later.path != w.lowest || w.atLowest != 2) {
		err = told
	}
	return &conflict{path: later.path, told: err}
}

// shell is an object without children, to hold additions.
func (f *Field) shell() *Field {
	shell := newObject(f.name, f.path)
	shell.kind, shell.includeInParent, shell.includeInRoot, shell.disabled = f.kind, f.includeInParent, f.includeInRoot, f.disabled
	return shell
}

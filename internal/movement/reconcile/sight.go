package reconcile

import "math/bits"

// Sight is one document that was found and is not as expected, in the content in which it was found. It recognises that
// document and that content, and tells nothing else of them.
type Sight uint64

// SightOf is the sight of a document with a key and 64 bits of its content.
func SightOf(key, content uint64) Sight { return Sight(key ^ bits.RotateLeft64(content, 1)) }

// sights are those of a look.
func (l *look) sights() (all []Sight) {
	for key, i := range l.items {
		switch {
		case i.fate == ghost || i.fate == zombie:
			all = append(all, SightOf(key, i.content))
		case i.fate.replaced():
			all = append(all, SightOf(key, i.found))
		}
	}
	return all
}

// Sights gives what the look that has just ended has found on the side of Found that is not as expected there, once: the
// caller keeps it, since a run that is written down does not.
func (r *Run) Sights() []Sight {
	all := r.sights
	r.sights = nil
	return all
}

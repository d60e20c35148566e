package reconcile

import "slices"

// scope is which documents a pass looks at: those whose keys begin with one of some prefixes.
type scope struct {
	bits     int      // of a prefix
	prefixes []uint64 // ascending
}

// everything is what the first pass looks at.
var everything = scope{prefixes: []uint64{0}}

// find is which prefix a key begins with.
func (s *scope) find(key uint64) (int, bool) {
	return slices.BinarySearch(s.prefixes, key>>(64-s.bits))
}

// unequal is a bucket whose numbers differ, or that is suspect.
type unequal struct {
	prefix    uint64
	documents [2]int64
	suspects  int64
}

// all is how many documents of both sides are in it.
func (u *unequal) all() int64 { return u.documents[Expected] + u.documents[Found] + u.suspects }

// differing are the buckets in which two tables of one scope differ, and by how many bits of
// their keys their documents are told apart.
func differing(expected, found *Table) (all []unequal, bits int) {
	for n, e := range expected.buckets {
		f, suspects := found.buckets[n], int64(expected.suspects[n])+int64(found.suspects[n])
		if e == f && suspects == 0 {
			continue
		}
		prefix := expected.scope.prefixes[n>>expected.more]<<expected.more | uint64(n&(1<<expected.more-1))
		all = append(all, unequal{prefix, [2]int64{e.Count, f.Count}, suspects})
	}
	return all, expected.scope.bits + expected.more
}

// scopeOf is the scope of some buckets.
func scopeOf(all []unequal, bits int) *scope {
	s := &scope{bits: bits, prefixes: make([]uint64, len(all))}
	for i := range all {
		s.prefixes[i] = all[i].prefix
	}
	return s
}

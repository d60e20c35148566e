package segment

import "bytes"

// termsPerLookup is how many terms of a dictionary are stepped through, at least, in the time in which one is looked
// up: see BenchmarkLookupOfSorted.
const termsPerLookup = 6

// LookupSorted finds terms, which ascend, and yields the entries of those that there are. Where they are
// many for the size of the dictionary, it goes through it once.
func (f *Field) LookupSorted(terms [][]byte, yield func(Entry)) {
	if len(terms) < 2 || f.Terms() > len(terms)*termsPerLookup {
		for _, term := range terms {
			if e, ok := f.Lookup(term); ok {
				yield(e)
			}
		}
		return
	}
	f.walk(terms, yield)
}

// walk is LookupSorted in one pass.
func (f *Field) walk(terms [][]byte, yield func(Entry)) {
	t := f.From(terms[0])
	for i := 0; i < len(terms) && t.Valid(); {
		switch c := bytes.Compare(t.Term(), terms[i]); {
		case c < 0:
			t.seek(terms[i])
		case c > 0:
			i++
		default:
			yield(t.Entry())
			i++
			t.Next()
		}
	}
}

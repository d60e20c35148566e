package aggregate

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/reshelve/reshelve/segment"
)

// tallies count docs by the ordinals of each view. When all views have been seen, their
// terms are joined in order: each is looked at once, none is kept in a map.
type tallies struct {
	on      bool
	views   []*viewTally
	missing int64 // docs without a value
}

// viewTally are the counts of a view.
type viewTally struct {
	read  terms
	docs  paged
	found int  // ordinals that are counted
	whole bool // all docs are: the dictionary says how many each term has

	// of join
	walk *segment.Terms // through the dictionary; nil: terms are looked up one by one
	at   uint32
	n    uint32
	term []byte
}

func (t *tallies) begin(r *terms) {
	v := &viewTally{read: *r}
	n := 0
	if r.column != nil {
		n = r.field.Terms()
	}
	v.docs.reset(n)
	t.views = append(t.views, v)
}

func (t *tallies) count(ords []uint32) {
	v := t.views[len(t.views)-1]
	for _, ord := range ords {
		if ord == absentTerm {
			t.missing++
			continue
		}
		n := v.docs.at(ord)
		if *n == 0 {
			v.found++
		}
		*n++
	}
}

// all counts all docs of the view, if that can be done without them.
func (t *tallies) all(r *terms) bool {
	if r.spelled() != nil || r.column == nil && r.field != nil {
		return false
	}
	v := t.views[len(t.views)-1]
	docs := int64(0)
	if r.field != nil {
		if r.field.Spec().Postings == segment.NoPostings {
			return false
		}
		docs = r.field.Stats().Docs
		v.whole, v.found = r.field.Terms() > 0, r.field.Terms()
	}
	if r.missing {
		t.missing += int64(r.view.Docs()) - docs
	}
	return true
}

// dense is how many ordinals there may be for each that is counted, so that walking
// through the dictionary is cheaper than looking terms up.
const dense = 8

// first goes to the first term that is counted.
func (v *viewTally) first() bool {
	if v.found == 0 {
		return false
	}
	if v.found*dense > v.read.field.Terms() {
		v.walk = v.read.field.From(nil)
	}
	return v.from(0)
}

// from goes to the first term from an ordinal on that is counted.
func (v *viewTally) from(ord uint32) (ok bool) {
	if v.whole {
		if ord > 0 {
			v.walk.Next()
		}
		if ok = v.walk.Valid(); ok {
			e := v.walk.Entry()
			v.at, v.n, v.term = e.Ord, e.Docs, append(v.term[:0], v.walk.Term()...)
		}
		return ok
	}
	if v.at, v.n, ok = v.docs.next(ord); !ok {
		return false
	}
	if v.walk == nil {
		v.term = v.read.field.Term(v.term[:0], v.at)
		return true
	}
	for v.walk.Entry().Ord < v.at {
		v.walk.Next()
	}
	v.term = append(v.term[:0], v.walk.Term()...)
	return true
}

// joining is a heap of views by their terms.
type joining []*viewTally

func (j joining) Len() int           { return len(j) }
func (j joining) Less(a, b int) bool { return bytes.Compare(j[a].term, j[b].term) < 0 }
func (j joining) Swap(a, b int)      { j[a], j[b] = j[b], j[a] }
func (j *joining) Push(any)          {}
func (j *joining) Pop() any {
	old := *j
	*j = old[:len(old)-1]
	return nil
}

// join gives each term a number and a bucket, in the order of terms.
func (t *tallies) join(k *textKeys) {
	var views joining
	for _, v := range t.views {
		if v.first() {
			views = append(views, v)
		}
	}
	t.views = nil
	heap.Init(&views)
	var last []byte
	taken := false // last has a bucket
	for some := false; len(views) > 0; some = true {
		v := views[0]
		if term, ok := v.read.own(v.term); ok {
			if !some || !bytes.Equal(term, last) {
				last = append(last[:0], term...)
				if taken = k.choice.term(term); taken {
					k.w.buckets.push(0, uint64(len(k.texts)))
					k.texts = append(k.texts, k.arena.keep(term))
				}
			}
			if taken {
				k.w.count.add(uint32(len(k.texts)-1), int64(v.n))
			}
		}
		if v.from(v.at + 1) {
			heap.Fix(&views, 0)
		} else {
			heap.Pop(&views)
		}
	}
	t.joinMissing(k)
}

// joinMissing counts what stands for missing values.
func (t *tallies) joinMissing(k *textKeys) {
	term := k.w.values.missingText
	if t.missing == 0 || !k.choice.term(term) {
		return
	}
	id, found := slices.BinarySearchFunc(k.texts, term, bytes.Compare)
	if !found {
		id = len(k.texts)
		k.w.buckets.push(0, uint64(id))
		k.texts = append(k.texts, term)
	}
	k.w.count.add(uint32(id), t.missing)
	t.missing = 0
}

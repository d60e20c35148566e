package search

import (
	"cmp"
	"slices"
)

// blend makes terms equally rare, so that what is misspelt, or in another field, is not
// worth more for being rare. The terms that share one are told by their plans.
type blend struct {
	terms  []*termPlan
	fields bool // of several fields (cross_fields), not of one (fuzzy)
}

// rarity is what is known of a term that is blended: in how many docs it is, how many have
// its field, and how many places the field has in all of them.
type rarity struct{ docs, fieldDocs, fieldPlaces int64 }

// blended tells in how many docs each of the terms of a blend counts as being. All is the
// number of docs, hidden ones and children too.
//
// Of one field, it is the most of any of them. Of several fields it is that too, and one
// more for each step down from a term that is in more docs to one that is in fewer, but
// never more than the docs that have the field: the formulas of Lucene's and OpenSearch's
// classes BlendedTermQuery.
func (b *blend) blended(terms []rarity, all int64) []int64 {
	most := int64(0)
	for _, t := range terms {
		most = max(most, t.docs)
		if b.fields && t.docs > 0 {
			all = min(all, t.fieldPlaces)
		}
	}
	counts := make([]int64, len(terms))
	if !b.fields {
		for i := range counts {
			counts[i] = most
		}
		return counts
	}
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(terms[j].docs, terms[i].docs) })
	count, before := min(all, most), most
	for _, i := range order {
		docs := terms[i].docs
		if docs == 0 {
			break
		}
		if before > docs {
			count++
		}
		counts[i] = min(all, terms[i].fieldDocs, count)
		before = docs
	}
	return counts
}

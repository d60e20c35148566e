package search

import "slices"

// WholeLeaf is a Leaf that may know what it counts of all docs of a view without being
// told them. CollectAll is called instead of Collect where every doc is a document that is
// shown and found; when it reports false, they are told.
type WholeLeaf interface {
	CollectAll() (whole bool, err error)
}

// whole asks the collectors whether they need to be told all docs of the view.
func (k *sink) whole(p plan) error {
	if _, every := p.(allPlan); !every || k.accept != nil || k.slice != nil || k.least != nil {
		return nil
	}
	var failed error
	k.leaves = slices.DeleteFunc(k.leaves, func(c collecting) bool {
		leaf, ok := c.leaf.(WholeLeaf)
		if !ok || failed != nil {
			return false
		}
		var done bool
		done, failed = leaf.CollectAll()
		return done
	})
	return failed
}

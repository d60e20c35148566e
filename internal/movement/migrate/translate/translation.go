package translate

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// translation is the work on one piece of metadata.
type translation struct {
	from, to Server
	same     bool // the target takes what the source gave
	types    Types
	changes  []Change

	blind    map[string]bool // paths of fields that stand for nothing that can be searched
	knn      bool            // the index needs index.knn
	stripped bool            // an analyzer named standard_html_strip is used
}

// start begins a translation; created is the server that made the piece, when that is older
// than the one which holds it.
func (r Route) start(created Server) (*translation, error) {
	to := r.To
	if (to.Product != elasticsearch || to.Major < 7) && (to.Product != opensearch || to.Major < 1) && to.Product != reshelve {
		err := fault.New(fault.Refused, "metadata cannot be made fit for %s", to)
		return nil, fault.WithNext(err, "move into OpenSearch 1 or later, Elasticsearch 7 or later, or a store of reshelve")
	}
	t := &translation{from: r.From, to: to, types: r.Types, blind: map[string]bool{}}
	if created.Product != "" && created.generation() < t.from.generation() {
		t.from = created
	}
	t.same = t.from == to
	if t.from.Product == reshelve { // it gives what the OpenSearch gives that it speaks as
		t.from.Product = opensearch
	}
	return t, nil
}

// needs tells whether the route needs a rule.
func (t *translation) needs(name string) bool {
	rule := ruleOf[name]
	return (rule.Always || !t.same) && rule.From.Has(t.from) && rule.To.Has(t.to)
}

// tell notes that a rule did something at a place.
func (t *translation) tell(rule, where, what string) {
	t.changes = append(t.changes, Change{Rule: rule, Where: where, What: what, Loses: ruleOf[rule].Loses})
}

// told are the changes in their order.
func (t *translation) told() []Change {
	slices.SortStableFunc(t.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Rule, b.Rule))
	})
	return t.changes
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

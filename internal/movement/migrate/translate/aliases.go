package translate

import (
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// gone are queries that Elasticsearch 5 to 8 took away.
var gone = []string{"and", "or", "not", "filtered", "missing", "limit", "fquery", "query", "type", "indices", "in", "bool_must", "template", "geohash_cell", "mlt", "fuzzy_like_this", "flt", "numeric_range", "nested_filter"}

// aliases are those by name, as an index or template has them.
func (t *translation) aliases(all *node, where string, split bool) {
	if t.same || !all.isObject() {
		return
	}
	kept := all.members[:0]
	for _, m := range all.members {
		at := join(where, m.key)
		if filter := m.value.at("filter"); filter != nil && t.needs("alias-filter") && hasGone(filter, 0) {
			t.tell("alias-filter", at, "left out: "+brief(filter))
			all.changed = true
			continue
		}
		if write := m.value.at("is_write_index"); write != nil && split {
			m.value.take("is_write_index")
			t.tell("alias-write", join(at, "is_write_index"), "left out")
		}
		kept = append(kept, m)
	}
	all.members = kept
}

// hasGone tells whether a filter, or one in it, is a query that is no more.
func hasGone(filter *node, depth int) bool {
	if filter.isList() {
		return slices.ContainsFunc(filter.items, func(item *node) bool { return hasGone(item, depth+1) })
	}
	if !filter.isObject() || depth > deepest {
		return false
	}
	for _, m := range filter.members {
		if len(filter.members) == 1 && slices.Contains(gone, m.key) && m.value.kind != token.String {
			return true
		}
		if m.key == "bool" || m.key == "constant_score" || m.key == "filter" || m.key == "must" || m.key == "must_not" || m.key == "should" || m.key == "query" {
			if hasGone(m.value, depth+1) {
				return true
			}
		}
	}
	return false
}

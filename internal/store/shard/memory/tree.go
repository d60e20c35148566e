package memory

import (
	"cmp"
	"iter"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// tree is the root of a persistent treap of rows: a search tree by Ref that is a
// heap by a hash of the id, so that it stays shallow and its shape depends on its
// rows alone. Nil is the empty tree. See Seidel and Aragon, "Randomized Search
// Trees", 1996.
type tree = *node

type node struct {
	row         shard.Row
	priority    uint32
	left, right tree
}

// order is that of everything stored: by order key, then by the bytes of the id.
func order(a, b shard.Ref) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
}

// get finds a row.
func (t tree) get(ref shard.Ref) (*shard.Row, bool) {
	for t != nil {
		switch c := order(ref, t.row.Ref); {
		case c == 0:
			return &t.row, true
		case c < 0:
			t = t.left
		default:
			t = t.right
		}
	}
	return nil, false
}

// with is the tree with row in the place of the one of its Ref.
func (t tree) with(row shard.Row) tree {
	return t.insert(&node{row: row, priority: routing.Hash(row.ID, 2)})
}

// insert relies on equal Refs having equal priorities: where the fresh node rises
// above t, no row of its Ref is below.
func (t tree) insert(fresh *node) tree {
	if t == nil {
		return fresh
	}
	c := order(fresh.row.Ref, t.row.Ref)
	if c != 0 && fresh.priority > t.priority {
		fresh.left, fresh.right = t.split(fresh.row.Ref)
		return fresh
	}
	changed := *t
	switch {
	case c == 0:
		changed.row = fresh.row
	case c < 0:
		changed.left = t.left.insert(fresh)
	default:
		changed.right = t.right.insert(fresh)
	}
	return &changed
}

// split cuts t into what is before ref and what is behind it.
func (t tree) split(ref shard.Ref) (before, behind tree) {
	if t == nil {
		return nil, nil
	}
	changed := *t
	if order(t.row.Ref, ref) < 0 {
		changed.right, behind = t.right.split(ref)
		return &changed, behind
	}
	before, changed.left = t.left.split(ref)
	return before, &changed
}

// without is the tree without the row of ref.
func (t tree) without(ref shard.Ref) tree {
	if t == nil {
		return nil
	}
	c := order(ref, t.row.Ref)
	if c == 0 {
		return join(t.left, t.right)
	}
	changed := *t
	if c < 0 {
		changed.left = t.left.without(ref)
	} else {
		changed.right = t.right.without(ref)
	}
	return &changed
}

// join is both trees, of which every row of left is before every row of right.
func join(left, right tree) tree {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.priority >= right.priority:
		changed := *left
		changed.right = join(left.right, right)
		return &changed
	}
	changed := *right
	changed.left = join(left, right.left)
	return &changed
}

// within yields the rows of a range behind after, in order; nil: all of the range.
func (t tree) within(r routing.Range, after *shard.Ref) iter.Seq[*shard.Row] {
	behind := func(ref shard.Ref) bool {
		return ref.Key >= r.From && (after == nil || order(ref, *after) > 0)
	}
	return func(yield func(*shard.Row) bool) {
		t.walk(behind, func(row *shard.Row) bool { return row.Key <= r.To && yield(row) })
	}
}

// walk visits the rows that are behind a point, in order, while visit says so.
func (t tree) walk(behind func(shard.Ref) bool, visit func(*shard.Row) bool) bool {
	if t == nil {
		return true
	}
	if behind(t.row.Ref) && (!t.left.walk(behind, visit) || !visit(&t.row)) {
		return false
	}
	return t.right.walk(behind, visit)
}

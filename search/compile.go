package search

import "github.com/reshelve/reshelve/segment"

// compiler works a tree out for one index.
type compiler struct {
	index  *Index
	now    int64
	limits Limits
	// views are all views of the index: expanding prefixes and the like to terms that are
	// scored looks at what terms there are.
	views []segment.View
}

// compile makes a plan of a tree. The error is an *exception.Error.
func (c *compiler) compile(q Query) (plan, error) { panic("search: not built yet") }

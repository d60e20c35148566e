package search

import "github.com/reshelve/reshelve/internal/index/segment"

// Describe tells in one line what an index makes of a query. Now is the time in
// milliseconds. The error is an *exception.Error.
func Describe(index *Index, q Query, now int64, limits Limits) (text string, err error) {
	c := &compiler{index: index, now: now, limits: limits, views: index.views()}
	err = segment.Guard(func() error {
		p, err := c.compile(q)
		if err == nil {
			text = describe(p)
		}
		return err
	})
	return text, err
}

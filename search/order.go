package search

import "github.com/reshelve/reshelve/exception"

// sorted is a ranking by the keys of the request.
func (c *Context) sorted(scored bool) (ranking, bool, error) {
	return nil, scored, exception.New(exception.IllegalArgument, "sorting by [%s] is not supported by this version of reshelve", c.request.Sort[0].Field)
}

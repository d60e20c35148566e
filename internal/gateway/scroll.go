package gateway

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// scrollRoutes are the endpoints of searches that are read page by page.
var scrollRoutes = []route{
	{"GET POST", "/_search/scroll", "scroll scroll_id rest_total_hits_as_int", (*call).nextPage},
	{"GET POST", "/_search/scroll/{scroll_id}", "scroll scroll_id rest_total_hits_as_int", (*call).nextPage},
	{"DELETE", "/_search/scroll", "scroll_id", (*call).endScrolls},
	{"DELETE", "/_search/scroll/{scroll_id}", "scroll_id", (*call).endScrolls},
}

// scroll is a search whose readers stay for its next pages.
func (c *call) scroll(x *searching, where store.Where, r search.Request) error {
	keep, err := c.duration("scroll", 0)
	if err != nil {
		return err
	}
	if most := c.s.store.SearchRules().KeepAlive; keep > most {
		return c.phase(where.Expression, tooLong(c.text("scroll", ""), "search.max_keep_alive", most))
	}
	told := *x
	told.Aggs, told.aggs = nil, nil // they come with the first page alone
	x.found, err = c.s.store.Scroll(c.ctx(), where, r, keep, &told)
	return err
}

func tooLong(asked, setting string, most time.Duration) *exception.Error {
	return exception.New(exception.IllegalArgument, "Keep alive for request (%s) is too large. It must be less than (%s). "+
		"This limit can be set by changing the [%s] cluster level setting.", asked, catalog.SpanText(most), setting)
}

// nextPage answers with the next page of a scroll.
func (c *call) nextPage() error {
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	asked, err := query.ReadScroll(body)
	if err == nil && len(body) == 0 {
		asked.ID = c.text("scroll_id", c.name("scroll_id"))
		asked.KeepAlive, err = c.duration("scroll", 0)
	}
	if err == nil {
		err = asked.Check()
	}
	if err == nil {
		err = checkScrollID(asked.ID)
	}
	if err != nil {
		return err
	}
	if most := c.s.store.SearchRules().KeepAlive; asked.KeepAlive > most {
		return tooLong(catalog.SpanText(asked.KeepAlive), "search.max_keep_alive", most)
	}
	found, err := c.s.store.NextPage(c.ctx(), asked.ID, asked.KeepAlive)
	if exception.Is(err, exception.SearchContextMissing) {
		return c.failNoContext(exception.From(err))
	}
	if err != nil {
		return err
	}
	x := *found.ScrollState.(*searching)
	x.found = found
	if x.asInt, err = c.boolean("rest_total_hits_as_int", false); err != nil {
		return errors.Join(err, found.Close())
	}
	defer found.Close()
	if c.out, err = c.appendAnswer(append(c.out, '{'), &x); err != nil {
		return err
	}
	c.out = append(c.out, '}')
	c.filter = x.Source
	return c.send(http.StatusOK)
}

// checkScrollID refuses what was never given out.
func checkScrollID(id string) error {
	if !query.IsPointID(id) {
		return exception.New(exception.IllegalArgument, "Cannot parse scroll id")
	}
	return nil
}

// failNoContext answers that a scroll has ended, in the form that clients know.
func (c *call) failNoContext(cause *exception.Error) error {
	out := appendException(append(c.out[:0], `{"error":{"root_cause":[`...), cause, false)
	out = append(out, `],"type":"search_phase_execution_exception","reason":"all shards failed","phase":"query","grouped":true,"failed_shards":[{"shard":-1,"index":null,"reason":`...)
	out = append(appendException(out, cause, false), `}],"caused_by":`...)
	c.out = append(appendException(out, cause, false), `},"status":404}`...)
	c.look.filter = nil
	return c.send(http.StatusNotFound)
}

// endScrolls lets go of scrolls.
func (c *call) endScrolls() error {
	ids, err := c.endedIDs("scroll_id", query.ReadScrollIDs)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := checkScrollID(id); err != nil {
			return err
		}
	}
	ended, err := c.s.store.ClosePoints(ids, true)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(ended) == 0 && ids != nil {
		status = http.StatusNotFound
	}
	c.out = append(strconv.AppendInt(append(c.out, `{"succeeded":true,"num_freed":`...), int64(len(ended)), 10), '}')
	return c.send(status)
}

// endedIDs are the ids that a request to end things names; nil for all.
func (c *call) endedIDs(name string, read func([]byte) ([]string, error)) ([]string, error) {
	body, err := c.content()
	if err != nil {
		return nil, err
	}
	ids := c.list(name)
	if inPath := c.name(name); inPath != "" {
		ids = []string{inPath}
	}
	if len(body) > 0 {
		if ids, err = read(body); err != nil {
			return nil, err
		}
	}
	if len(ids) == 1 && ids[0] == "_all" {
		return nil, nil
	}
	if len(ids) == 0 {
		return nil, exception.New(exception.ActionRequestValidation, "Validation Failed: 1: no scroll ids specified;")
	}
	return ids, nil
}

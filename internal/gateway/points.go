package gateway

import (
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
)

// pointRoutes are the endpoints of points in time.
var pointRoutes = []route{
	{"POST", "/{index}/_search/point_in_time", expressionParams + "keep_alive routing preference allow_partial_pit_creation", (*call).openPoint},
	{"GET", "/_search/point_in_time/_all", "", (*call).listPoints},
	{"DELETE", "/_search/point_in_time/_all", "", (*call).endPoints},
	{"DELETE", "/_search/point_in_time", "", (*call).endPoints},
	{"GET", "/_reshelve/rows", "pit keep_alive slice slices after bytes", (*call).rows},
}

// openPoint pins readers of indices.
func (c *call) openPoint() error {
	if !c.isSet("keep_alive") {
		return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: keep alive not specified;")
	}
	point, err := c.pin("point_in_time.max_keep_alive")
	if err != nil {
		return err
	}
	out := appendString(append(c.out, `{"pit_id":`...), point.ID)
	out = appendShards(append(out, ','), point.Shards)
	c.out = append(strconv.AppendInt(append(out, `,"creation_time":`...), point.Created.UnixMilli(), 10), '}')
	return c.send(http.StatusOK)
}

// pin opens a point in time for as long as the request asks, up to what a setting allows.
func (c *call) pin(setting string) (*store.Point, error) {
	keep, err := c.duration("keep_alive", 0)
	if err != nil {
		return nil, err
	}
	rules := c.s.store.SearchRules()
	most := rules.KeepPoint
	if setting == "search.max_keep_alive" {
		most = rules.KeepAlive
	}
	if keep > most {
		return nil, tooLong(c.text("keep_alive", ""), setting, most)
	}
	expression, err := c.expression("index", searched)
	if err != nil {
		return nil, err
	}
	return c.s.store.OpenPoint(c.ctx(), expression, c.text("routing", ""), keep)
}

// listPoints tells which points in time are open.
func (c *call) listPoints() error {
	out := append(c.out, `{"pits":[`...)
	for i, p := range c.s.store.Points() {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(append(out, `{"pit_id":`...), p.ID)
		out = strconv.AppendInt(append(out, `,"creation_time":`...), p.Created.UnixMilli(), 10)
		out = append(strconv.AppendInt(append(out, `,"keep_alive":`...), p.Keep.Milliseconds(), 10), '}')
	}
	c.out = append(out, "]}"...)
	return c.send(http.StatusOK)
}

// endPoints lets go of points in time. One that has ended already is no mistake.
func (c *call) endPoints() error {
	var ids []string
	if c.r.URL.Path != "/_search/point_in_time/_all" {
		body, err := c.content()
		if err == nil {
			ids, err = query.ReadPITs(body)
		}
		if err == nil && len(ids) == 0 {
			err = exception.New(exception.ActionRequestValidation, "Validation Failed: 1: no pit ids specified;")
		}
		if err != nil {
			return err
		}
	}
	ended, err := c.s.store.ClosePoints(ids, false)
	if err != nil {
		return err
	}
	if ids == nil {
		ids = ended
	}
	out := append(c.out, `{"pits":[`...)
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(append(out, `{"successful":true,"pit_id":`...), id), '}')
	}
	c.out = append(out, "]}"...)
	return c.send(http.StatusOK)
}

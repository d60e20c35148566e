package gateway

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
)

// multiSearch runs several searches, one after the other, and answers each by itself.
func (c *call) multiSearch() error {
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	typed, err := c.boolean("typed_keys", false)
	if err != nil {
		return err
	}
	asInt, err := c.boolean("rest_total_hits_as_int", false)
	if err != nil {
		return err
	}
	type asked struct {
		query.Header
		searching
	}
	var all []asked
	err = query.ReadMulti(body, func(h query.Header, s query.Search) error {
		one := asked{h, searching{Search: s, typed: typed, asInt: asInt}}
		all = append(all, one)
		if !asInt {
			return nil
		}
		return all[len(all)-1].TrackExactly()
	})
	if err != nil {
		return err
	}
	begin := len(c.out)
	var answers []byte
	for i := range all {
		if i > 0 {
			answers = append(answers, ',')
		}
		if answers, err = c.appendOne(answers, all[i].Header, &all[i].searching); err != nil {
			return err
		}
	}
	out := strconv.AppendInt(append(c.out[:begin], `{"took":`...), c.took(), 10)
	c.out = append(append(append(out, `,"responses":[`...), answers...), "]}"...)
	return c.send(http.StatusOK)
}

// appendOne appends the answer to one of several searches: what it found, or why it
// failed. An error is one of the whole request.
func (c *call) appendOne(dst []byte, h query.Header, x *searching) ([]byte, error) {
	begin := len(dst)
	where, err := c.headed(h, x)
	if err == nil {
		err = c.run(x, where)
	}
	if err == nil {
		defer x.found.Close()
		dst, err = c.appendAnswer(append(dst, '{'), x)
	}
	if err != nil {
		dst = dst[:begin]
	}
	var phase *store.PhaseError
	switch {
	case errors.As(err, &phase):
		return append(c.appendFailedShards(append(dst, '{'), phase), '}'), nil
	case err != nil && c.ctx().Err() != nil:
		return dst, err
	case err != nil:
		e := exception.From(err)
		dst = appendException(append(dst, `{"error":{"root_cause":[`...), e.Root(), false)
		dst = appendExceptionBody(append(dst, "],"...), e, true)
		return append(strconv.AppendInt(append(dst, `},"status":`...), int64(e.Status()), 10), '}'), nil
	}
	return append(dst, `,"status":200}`...), nil
}

// headed is where one of several searches looks: its header goes before the URL.
func (c *call) headed(h query.Header, x *searching) (where store.Where, err error) {
	if x.PIT != nil {
		return store.Where{Point: x.PIT.ID, Keep: x.PIT.KeepAlive}, nil
	}
	where.Routing = h.Routing
	if where.Expression, err = c.expression("index", searched); err != nil {
		return where, err
	}
	if h.Indices != nil {
		where.Expression.Names = h.Indices
	}
	o := &where.Expression.Options
	if h.IgnoreUnavailable != nil {
		o.IgnoreUnavailable = *h.IgnoreUnavailable
	}
	if h.AllowNoIndices != nil {
		o.NoIndicesIsError = !*h.AllowNoIndices
	}
	if h.ExpandWildcards != nil {
		return where, expandOption(o, h.ExpandWildcards)
	}
	return where, nil
}

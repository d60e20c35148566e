package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// agree compares, while nobody writes, what the server says of one index in all its
// ways: gets, pages of searches by both orders, the count, and searches by values. What
// it gets is noted.
func (c *client) agree(index string, orders ...string) {
	c.t.Helper()
	if answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_refresh", nil); err != nil || answer.Status != 200 {
		c.t.Errorf("a refresh of %s: %s %v", index, answer, err)
		return
	}
	var listed map[string]hit
	for i, order := range orders {
		hits := c.pages(index, order)
		if i > 0 && len(hits) != len(listed) {
			c.t.Errorf("%s has %d documents by %s and %d by %s", index, len(listed), orders[0], len(hits), order)
		}
		listed = hits
	}
	var count struct{ Count int }
	answer, err := c.talk.Do(c.ctx, "GET", c.url+"/"+index+"/_count", nil)
	if err != nil || json.Unmarshal(answer.Body, &count) != nil || count.Count != len(listed) {
		c.t.Errorf("%s has %d documents, and the count is %s %v", index, len(listed), answer, err)
	}
	c.byValue(index, listed)
	ids := c.history.ids(index)
	for id, hit := range listed {
		if !slices.Contains(ids, id) {
			c.adopt(index, id, hit)
		}
	}
	for chunk := range slices.Chunk(ids, 100) {
		c.compare(index, chunk, listed)
	}
}

// adopt explains a document that nobody has asked for: a create without an id and
// without an answer made it.
func (c *client) adopt(index, id string, h hit) {
	x, err := untext(h.Source)
	if of, is := c.history.orphan[x.v]; err != nil || !is || of != index {
		c.t.Errorf("%s has a document %s that nobody wrote: %s", index, id, h.Source)
	}
	delete(c.history.orphan, x.v)
	c.history.note(c.number, request{verb: creating, index: index, id: id, value: x, begun: 0, ended: c.history.now()},
		seen{outcome: applied, numbers: numbers{h.Version, h.SeqNo, h.Term}})
}

// pages reads a whole index page by page.
func (c *client) pages(index, order string) map[string]hit {
	c.t.Helper()
	all, after := map[string]hit{}, ""
	for {
		body := fmt.Sprintf(`{"size":17,"sort":[%q],"version":true,"seq_no_primary_term":true%s}`, order, after)
		answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_search", []byte(body))
		var told found
		if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, &told) != nil {
			c.t.Errorf("a page of %s: %s %v", index, answer, err)
			return all
		}
		for _, h := range told.Hits.Hits {
			if _, again := all[h.ID]; again {
				c.t.Errorf("pages of %s by %s show %s twice", index, order, h.ID)
				return all
			}
			all[h.ID] = h
			after = `,"search_after":` + string(h.Sort)
		}
		if len(told.Hits.Hits) == 0 {
			return all
		}
	}
}

// compare gets documents and holds them against what searches listed.
func (c *client) compare(index string, ids []string, listed map[string]hit) {
	var asked []string
	for _, id := range ids {
		r := request{id: id}
		asked = append(asked, fmt.Sprintf(`{"_id":%q,"routing":%q}`, id, r.routing()))
	}
	begun := c.history.now()
	body := strings.ReplaceAll(`{"docs":[`+strings.Join(asked, ",")+`]}`, `,"routing":""`, "")
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_mget", []byte(body))
	var told struct{ Docs []hit }
	if err != nil || json.Unmarshal(answer.Body, &told) != nil || len(told.Docs) != len(ids) {
		c.t.Errorf("getting %d documents of %s: %s %v", len(ids), index, answer, err)
		return
	}
	for i, d := range told.Docs {
		h, is := listed[d.ID]
		if d.ID != ids[i] || d.Found != is {
			c.t.Errorf("%s/%s: a get finds it: %v, a search lists it: %v", index, ids[i], d.Found, is)
			continue
		}
		if is && (h.Version != d.Version || h.SeqNo != d.SeqNo || h.Term != d.Term || !bytes.Equal(h.Source, d.Source)) {
			c.t.Errorf("%s/%s: a get tells %+v, a search %+v", index, d.ID, d, h)
		}
		status := 404
		if d.Found {
			status = 200
		}
		r := request{verb: reading, index: index, id: d.ID, begun: begun, ended: c.history.now()}
		s, err := d.seen(r, status)
		if err != nil {
			c.t.Errorf("%s/%s: %v", index, d.ID, err)
			continue
		}
		c.history.note(c.number, r, s)
	}
}

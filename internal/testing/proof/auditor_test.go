package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// auditing gets and searches all keys of all indices, again and again, until ctx ends or the
// server is gone: each search shows a document once at most, and what it shows and what it does
// not goes into the history, as do the gets.
func (b *table) auditing(ctx context.Context, url string, life int, seed uint64) {
	c := b.sit(ctx, url, clients+1, life, life/8, seed)
	for ctx.Err() == nil {
		for _, index := range b.indices {
			if c.audit(index) != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// audit looks at one index once.
func (c *client) audit(index string) error {
	ids, begun := c.history.ids(index), c.history.now()
	if _, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_refresh", nil); err != nil {
		return err
	}
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_search", []byte(`{"size":10000,"track_total_hits":true,"version":true,"seq_no_primary_term":true}`))
	if err != nil {
		return err
	}
	ended := c.history.now()
	var told found
	if err := json.Unmarshal(answer.Body, &told); err != nil || answer.Status != 200 {
		c.t.Errorf("a search for all of %s got %.500s", index, answer)
		return nil
	}
	shown := map[string]hit{}
	for _, h := range told.Hits.Hits {
		if _, again := shown[h.ID]; again {
			c.t.Errorf("a search for all of %s shows %s twice", index, h.ID)
		}
		shown[h.ID] = h
	}
	if told.Hits.Total.Value != len(shown) {
		c.t.Errorf("a search for all of %s counts %d and shows %d", index, told.Hits.Total.Value, len(shown))
	}
	for _, id := range ids {
		h, is := shown[id]
		h.Found = is
		if err := c.noteRead(index, id, h, begun, ended); err != nil {
			c.t.Errorf("a search found %s/%s: %v", index, id, err)
		}
	}
	for chunk := range slices.Chunk(ids, 200) {
		if err := c.getAll(index, chunk); err != nil {
			return err
		}
	}
	return nil
}

// getAll gets documents, in one request.
func (c *client) getAll(index string, ids []string) error {
	var asked []map[string]string
	for _, id := range ids {
		one := map[string]string{"_id": id}
		if routing := (request{id: id}).routing(); routing != "" {
			one["routing"] = routing
		}
		asked = append(asked, one)
	}
	body, _ := json.Marshal(map[string]any{"docs": asked})
	begun := c.history.now()
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_mget", body)
	if err != nil {
		return err
	}
	ended := c.history.now()
	var told struct{ Docs []hit }
	if err := json.Unmarshal(answer.Body, &told); err != nil || answer.Status != 200 || len(told.Docs) != len(ids) {
		c.t.Errorf("getting %d documents of %s: %.500s", len(ids), index, answer)
		return nil
	}
	for i, d := range told.Docs {
		if err := c.noteRead(index, ids[i], d, begun, ended); err != nil {
			c.t.Errorf("a get found %s/%s: %v", index, ids[i], err)
		}
	}
	return nil
}

// noteRead notes what was read of a document, or that it was not there.
func (c *client) noteRead(index, id string, h hit, begun, ended int64) error {
	r := request{verb: reading, index: index, id: id, begun: begun, ended: ended}
	if !h.Found {
		c.history.note(c.number, r, seen{outcome: missing})
		return nil
	}
	s, err := h.seen(r, 200)
	if err != nil {
		return fmt.Errorf("%w in %s", err, h.Source)
	}
	c.history.note(c.number, r, s)
	return nil
}

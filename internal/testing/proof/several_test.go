package proof

import (
	"encoding/json"
	"fmt"
	"strings"
)

// bulk asks for several writes, each to a document of its own.
func (c *client) bulk() error {
	var lines strings.Builder
	var items []request
	taken := map[string]bool{}
	for range 1 + c.dice.IntN(6) {
		r := c.roll()
		if r.verb == reading || taken[r.index+r.id] {
			continue
		}
		taken[r.index+r.id] = true
		items = append(items, r)
		lines.WriteString(r.lines())
	}
	if len(items) == 0 {
		return nil
	}
	begun := c.history.now()
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/_bulk", []byte(lines.String()))
	ended := c.history.now()
	for i := range items {
		items[i].begun, items[i].ended = begun, ended
	}
	if err != nil {
		for _, r := range items {
			c.history.note(c.number, r, seen{outcome: unknown})
		}
		return err
	}
	c.learnAll(items, answer)
	return nil
}

// lines are those of a write in a bulk.
func (r request) lines() string {
	action := map[verb]string{creating: "create", deleting: "delete", swapDeleting: "delete", updating: "update", upserting: "update"}[r.verb]
	if action == "" {
		action = "index"
	}
	meta := map[string]any{"_index": r.index, "_id": r.id}
	if routing := r.routing(); routing != "" {
		meta["routing"] = routing
	}
	switch r.verb {
	case swapping, swapDeleting:
		meta["if_seq_no"], meta["if_primary_term"] = r.seqNo, r.term
	case raising:
		meta["version"], meta["version_type"] = r.version, "external"
	}
	first, err := json.Marshal(map[string]any{action: meta})
	if err != nil {
		panic(err)
	}
	switch action {
	case "delete":
		return string(first) + "\n"
	case "update":
		return string(first) + "\n" + r.change() + "\n"
	}
	return string(first) + "\n" + text(r.value) + "\n"
}

// learnAll notes what the items of a bulk's answer say.
func (c *client) learnAll(items []request, answer Answer) {
	if answer.Status == 429 {
		return
	}
	var told struct {
		Items []map[string]json.RawMessage
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil || answer.Status != 200 || len(told.Items) != len(items) {
		c.t.Errorf("a bulk of %d items got %s", len(items), answer)
		return
	}
	for i, item := range told.Items {
		for _, body := range item {
			var status struct{ Status int }
			_ = json.Unmarshal(body, &status)
			c.learn(items[i], status.Status, body)
		}
	}
}

// found is the answer to a search.
type found struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
}

type hit struct {
	told
	ID      string          `json:"_id"`
	Routing string          `json:"_routing"`
	Sort    json.RawMessage `json:"sort"`
}

// look refreshes an index and searches for documents: what was stored between the two
// moments is found, and nothing else.
func (c *client) look() error {
	index, begun := c.indices[c.dice.IntN(len(c.indices))], c.history.now()
	if _, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_refresh", nil); err != nil {
		return err
	}
	ids := map[string]bool{}
	for range 1 + c.dice.IntN(4) {
		ids[c.anID()] = true
	}
	var values []string
	for id := range ids {
		values = append(values, fmt.Sprintf("%q", id))
	}
	body := fmt.Sprintf(`{"query":{"ids":{"values":[%s]}},"version":true,"seq_no_primary_term":true}`, strings.Join(values, ","))
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+index+"/_search", []byte(body))
	if err != nil {
		return err
	}
	ended := c.history.now()
	var told found
	if err := json.Unmarshal(answer.Body, &told); err != nil || answer.Status != 200 {
		c.t.Errorf("a search for %s got %s", body, answer)
		return nil
	}
	for _, hit := range told.Hits.Hits {
		if !ids[hit.ID] {
			c.t.Errorf("a search for %s found %s, or found it twice", body, hit.ID)
		}
		delete(ids, hit.ID)
		hit.Found = true
		s, err := hit.seen(request{verb: reading}, 200)
		if err != nil {
			c.t.Errorf("a search found %s: %v", hit.ID, err)
		}
		c.history.note(c.number, request{verb: reading, index: index, id: hit.ID, begun: begun, ended: ended}, s)
	}
	for id := range ids {
		c.history.note(c.number, request{verb: reading, index: index, id: id, begun: begun, ended: ended}, seen{outcome: missing})
	}
	return nil
}

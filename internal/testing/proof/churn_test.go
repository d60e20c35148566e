package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// is is what is known of something that a kill may have interrupted.
type is int

const (
	absent is = iota
	present
	maybe
)

// thing is an index of the churn, as one client who alone changes it knows it.
type thing struct {
	exists is
	fields map[string]bool // of the mapping, that were acknowledged
	docs   map[string]bool // written and acknowledged
	alias  is
	maker  string // a mark in the index's own settings: which creation it is
	trying string // the creation that got no answer
}

// churn makes and deletes indices, fields and aliases, one request at a time, and
// knows what must be there.
type churn struct {
	t      *testing.T
	talk   *Talk
	dice   *rand.Rand
	things []*thing
	made   int
}

func newChurn(t *testing.T, talk *Talk, seed uint64) *churn {
	c := &churn{t: t, talk: talk, dice: rand.New(rand.NewPCG(seed, 77))}
	for range 4 {
		c.things = append(c.things, &thing{})
	}
	return c
}

func (c *churn) name(i int) string { return fmt.Sprintf("proof-churn-%d", i) }

// run changes things until ctx ends or the server is gone.
func (c *churn) run(ctx context.Context, url string) {
	for ctx.Err() == nil {
		if err := c.once(ctx, url); err != nil {
			return
		}
	}
}

// once does one thing to one index.
func (c *churn) once(ctx context.Context, url string) error {
	i := c.dice.IntN(len(c.things))
	thing, at := c.things[i], url+"/"+c.name(i)
	if thing.exists == absent {
		return c.create(ctx, thing, at)
	}
	switch c.dice.IntN(6) {
	case 0:
		return c.remove(ctx, thing, at)
	case 1:
		field := fmt.Sprintf("field%d", c.dice.IntN(1000))
		err := c.expect(ctx, 200, "PUT", at+"/_mapping", fmt.Sprintf(`{"properties":{%q:{"type":"keyword"}}}`, field))
		if err == nil {
			thing.fields[field] = true
		}
		return err
	case 2:
		return c.alias(ctx, thing, at, i)
	}
	id := fmt.Sprintf("d%d", c.dice.IntN(1000))
	field := fmt.Sprintf("dynamic%d", c.dice.IntN(40))
	err := c.expectAny(ctx, "PUT", at+"/_doc/"+id, fmt.Sprintf(`{%q:"%s","maker":%q}`, field, id, thing.maker), 200, 201)
	if err == nil {
		thing.docs[id], thing.fields[field] = true, true
	}
	return err
}

func (c *churn) create(ctx context.Context, thing *thing, at string) error {
	c.made++
	*thing = *newThing(fmt.Sprint("maker", c.made))
	thing.exists, thing.trying = maybe, thing.maker
	body := fmt.Sprintf(`{"settings":{"number_of_shards":%d,"number_of_replicas":0},"mappings":{"_meta":{"maker":%q},"properties":{"first":{"type":"date"}}}}`, 1+c.dice.IntN(3), thing.maker)
	if err := c.expect(ctx, 200, "PUT", at, body); err != nil {
		return err
	}
	thing.exists, thing.fields["first"] = present, true
	return c.empty(ctx, at)
}

func newThing(maker string) *thing {
	return &thing{fields: map[string]bool{}, docs: map[string]bool{}, maker: maker}
}

// empty holds a new index to having nothing of an older one of its name.
func (c *churn) empty(ctx context.Context, at string) error {
	answer, err := c.talk.Do(ctx, "GET", at+"/_count", nil)
	if err == nil && !strings.Contains(string(answer.Body), `"count":0,`) {
		c.t.Errorf("a new index is not empty: %s: %s", at, answer)
	}
	return err
}

func (c *churn) remove(ctx context.Context, thing *thing, at string) error {
	thing.exists, thing.trying = maybe, ""
	if err := c.expect(ctx, 200, "DELETE", at, ""); err != nil {
		return err
	}
	thing.exists, thing.alias = absent, absent
	return c.expect(ctx, 404, "HEAD", at, "")
}

func (c *churn) alias(ctx context.Context, thing *thing, at string, i int) error {
	action, wanted := "add", present
	if thing.alias == present {
		action, wanted = "remove", absent
	}
	thing.alias = maybe
	at = at[:strings.LastIndexByte(at, '/')]
	body := fmt.Sprintf(`{"actions":[{%q:{"index":%q,"alias":"proof-alias-%d"}}]}`, action, c.name(i), i)
	err := c.expect(ctx, 200, "POST", at+"/_aliases", body)
	if err == nil {
		thing.alias = wanted
	}
	return err
}

func (c *churn) expect(ctx context.Context, status int, method, url, body string) error {
	return c.expectAny(ctx, method, url, body, status)
}

// expectAny is an error when no answer came; another status fails the test.
func (c *churn) expectAny(ctx context.Context, method, url, body string, statuses ...int) error {
	var content []byte
	if body != "" {
		content = []byte(body)
	}
	answer, err := c.talk.Do(ctx, method, url, content)
	if err != nil {
		return err
	}
	for _, status := range statuses {
		if answer.Status == status {
			return nil
		}
	}
	c.t.Errorf("%s %s %s: %s, not %d", method, url, body, answer, statuses)
	return fmt.Errorf("unexpected")
}

// verify holds a server that was started again to what is known, and learns what
// became of what was interrupted.
func (c *churn) verify(url string) {
	c.t.Helper()
	for i, thing := range c.things {
		c.settle(i, thing, url)
		if thing.exists == present {
			c.keeps(i, thing, url)
		}
	}
}

// settle finds out whether an index exists, and which.
func (c *churn) settle(i int, thing *thing, url string) {
	c.t.Helper()
	name := c.name(i)
	answer, err := c.talk.Do(c.t.Context(), "GET", url+"/"+name, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	exists := map[int]is{200: present, 404: absent}[answer.Status]
	if thing.exists != maybe && thing.exists != exists || answer.Status != 200 && answer.Status != 404 {
		c.t.Errorf("%s: %s, and its existence must be %d", name, answer, thing.exists)
	}
	if thing.exists = exists; exists == absent {
		thing.alias = absent
	}
}

// keeps holds an index that exists to what was acknowledged of it.
func (c *churn) keeps(i int, thing *thing, url string) {
	c.t.Helper()
	name := c.name(i)
	var got map[string]struct {
		Aliases  map[string]any
		Mappings struct {
			Meta       struct{ Maker string } `json:"_meta"`
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(ask(c.t, c.talk, 200, "GET", url+"/"+name, ""), &got); err != nil {
		c.t.Fatal(err)
	}
	index := got[name]
	if index.Mappings.Meta.Maker != thing.maker {
		c.t.Errorf("%s was made by %q, not %q", name, index.Mappings.Meta.Maker, thing.maker)
	}
	for field := range thing.fields {
		if index.Mappings.Properties[field] == nil {
			c.t.Errorf("%s has lost the field %s", name, field)
		}
	}
	_, aliased := index.Aliases[fmt.Sprintf("proof-alias-%d", i)]
	if thing.alias != maybe && aliased != (thing.alias == present) {
		c.t.Errorf("%s has its alias: %v, against what was acknowledged", name, aliased)
	}
	thing.alias = map[bool]is{false: absent, true: present}[aliased]
	ask(c.t, c.talk, 200, "POST", url+"/"+name+"/_refresh", "")
	var listed found
	if err := json.Unmarshal(ask(c.t, c.talk, 200, "POST", url+"/"+name+"/_search", `{"size":1000}`), &listed); err != nil {
		c.t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, hit := range listed.Hits.Hits {
		ids[hit.ID] = true
		if !strings.Contains(string(hit.Source), fmt.Sprintf("%q", thing.maker)) {
			c.t.Errorf("%s has a document of another index of its name: %s", name, hit.Source)
		}
	}
	for id := range thing.docs {
		if !ids[id] {
			c.t.Errorf("%s has lost the document %s", name, id)
		}
	}
}

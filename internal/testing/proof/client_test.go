package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// table is where clients meet: the indices and documents that they ask for.
type table struct {
	t       *testing.T
	talk    *Talk
	history *history
	indices []string
	docs    int // of each index and generation
}

// client plays one life of the server.
type client struct {
	*table
	ctx        context.Context // of its requests
	until      <-chan struct{} // closed when it shall leave
	url        string
	number     int
	dice       *rand.Rand
	generation int
	known      map[string]numbers // by index/id, what it saw last
	asked      int
	life       int
}

// play asks random things until it shall leave or the server is gone.
func (c *client) play() {
	for {
		select {
		case <-c.until:
			return
		default:
		}
		var err error
		switch n := c.dice.IntN(100); {
		case n < 12:
			err = c.bulk()
		case n < 20:
			err = c.look()
		case n < 24:
			err = c.createAnonymously()
		default:
			err = c.one()
		}
		if err != nil {
			return
		}
	}
}

// verbs as often as they are asked for.
var verbs = []verb{reading, reading, reading, indexing, indexing, creating, creating, deleting, deleting, swapping, swapping, swapDeleting, raising, updating, updating, upserting}

// roll chooses a request.
func (c *client) roll() request {
	c.asked++
	r := request{verb: verbs[c.dice.IntN(len(verbs))], index: c.indices[c.dice.IntN(len(c.indices))], id: c.anID()}
	return c.fill(r)
}

func (c *client) anID() string { return fmt.Sprintf("g%d:%d", c.generation, c.dice.IntN(c.docs)) }

// fill gives a request a value that nobody else writes, and the numbers that are
// known of the document.
func (c *client) fill(r request) request {
	unique := fmt.Sprintf("life%d-client%d-%d", c.life, c.number, c.asked)
	seen := c.known[r.index+"/"+r.id]
	switch r.verb {
	case indexing, creating:
		r.value.v = unique
	case swapping:
		r.value.v = unique
		fallthrough
	case swapDeleting:
		if r.seqNo, r.term = seen.seqNo, seen.term; seen.term == 0 {
			r.verb, r.value.v = indexing, unique
		}
	case raising:
		r.value.v, r.version = unique, seen.version+int64(c.dice.IntN(3))
	case updating, upserting:
		r.value.u = unique
	}
	return r
}

// routing is always the same for one document: every third that we named (those that we did not hold no colon) has one.
func (r request) routing() string {
	if strings.Contains(r.id, ":") && mixed(r.id)%3 == 0 {
		return "route " + r.id
	}
	return ""
}

// path and body of a request that is sent alone.
func (r request) path() (method, path string, body []byte) {
	parameters := url.Values{}
	if routing := r.routing(); routing != "" {
		parameters.Set("routing", routing)
	}
	method, endpoint := "PUT", "_doc"
	switch r.verb {
	case reading:
		method = "GET"
	case creating:
		endpoint, body = "_create", []byte(text(r.value))
	case swapping, indexing:
		body = []byte(text(r.value))
	case raising:
		body = []byte(text(r.value))
		parameters.Set("version", strconv.FormatInt(r.version, 10))
		parameters.Set("version_type", "external")
	case deleting, swapDeleting:
		method = "DELETE"
	case updating, upserting:
		method, endpoint, body = "POST", "_update", []byte(r.change())
	}
	if r.verb == swapping || r.verb == swapDeleting {
		parameters.Set("if_seq_no", strconv.FormatInt(r.seqNo, 10))
		parameters.Set("if_primary_term", strconv.FormatInt(r.term, 10))
	}
	path = "/" + r.index + "/" + endpoint + "/" + r.id
	if len(parameters) > 0 {
		path += "?" + parameters.Encode()
	}
	return method, path, body
}

// change is the body of an update.
func (r request) change() string {
	return fmt.Sprintf(`{"doc":{"u":%q},"doc_as_upsert":%t}`, r.value.u, r.verb == upserting)
}

// one asks one thing.
func (c *client) one() error {
	r := c.roll()
	method, path, body := r.path()
	if r.verb != reading && c.dice.IntN(50) == 0 {
		joint := "?"
		if strings.Contains(path, "?") {
			joint = "&"
		}
		path += joint + "refresh=" + []string{"true", "wait_for"}[c.dice.IntN(2)]
	}
	r.begun = c.history.now()
	answer, err := c.talk.Do(c.ctx, method, c.url+path, body)
	r.ended = c.history.now()
	if err != nil {
		c.history.note(c.number, r, seen{outcome: unknown})
		return err
	}
	c.learn(r, answer.Status, answer.Body)
	return nil
}

// createAnonymously puts a document without an id; the server gives one.
func (c *client) createAnonymously() error {
	c.asked++
	r := c.fill(request{verb: creating, index: c.indices[c.dice.IntN(len(c.indices))], begun: c.history.now()})
	answer, err := c.talk.Do(c.ctx, "POST", c.url+"/"+r.index+"/_doc", []byte(text(r.value)))
	r.ended = c.history.now()
	if err != nil {
		c.history.note(c.number, r, seen{outcome: unknown})
		return err
	}
	var told struct {
		ID string `json:"_id"`
	}
	_ = json.Unmarshal(answer.Body, &told)
	r.id = told.ID
	c.learn(r, answer.Status, answer.Body)
	return nil
}

// told is an answer to a request to one document, or an item of a bulk's.
type told struct {
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Term    int64           `json:"_primary_term"`
	Result  string          `json:"result"`
	Found   bool            `json:"found"`
	Source  json.RawMessage `json:"_source"`
	Error   struct{ Type, Reason string }
}

// learn notes what an answer says.
func (c *client) learn(r request, status int, body []byte) {
	var a told
	if err := json.Unmarshal(body, &a); err != nil {
		c.t.Errorf("%+v: the answer %d %q is no JSON: %v", r, status, body, err)
		return
	}
	s, err := a.seen(r, status)
	if err != nil {
		c.t.Errorf("%+v: %v in %d %s", r, err, status, body)
		return
	}
	if s.outcome == "" { // refused before it was tried
		time.Sleep(time.Millisecond)
		return
	}
	c.history.note(c.number, r, s)
	if s.outcome == applied {
		c.known[r.index+"/"+r.id] = s.numbers
	}
}

// seen is what an answer tells; nothing when the server had no room for the request.
func (a *told) seen(r request, status int) (s seen, err error) {
	s = seen{outcome: applied, numbers: numbers{a.Version, a.SeqNo, a.Term}, present: a.Result == "updated" || a.Result == "deleted"}
	switch {
	case status == 429:
		return seen{}, nil
	case status == 409:
		return seen{outcome: refused, met: a.met()}, nil
	case r.verb == reading && status == 200 && a.Found:
		s.value, err = untext(a.Source)
		return s, err
	case r.verb == reading && status == 404 && !a.Found && a.Error.Type == "",
		(r.verb == updating) && status == 404 && a.Error.Type == "document_missing_exception":
		return seen{outcome: missing}, nil
	case r.verb == deleting && status == 404 && a.Result == "not_found",
		(r.verb == deleting || r.verb == swapDeleting) && status == 200 && a.Result == "deleted",
		(status == 201) == (a.Result == "created") && (status == 200) == (a.Result == "updated") && status < 300:
		return s, nil
	}
	return s, fmt.Errorf("an answer that nothing explains")
}

var conflicts = []struct {
	reason *regexp.Regexp
	names  string // of the groups
}{
	{regexp.MustCompile(`document already exists \(current version \[(\d+)\]\)`), "version"},
	{regexp.MustCompile(`current document has seqNo \[(\d+)\] and primary term \[(\d+)\]`), "numbers"},
	{regexp.MustCompile(`current version \[(\d+)\] is higher or equal to the one provided`), "version"},
	{regexp.MustCompile(`but no document was found`), "absent"},
}

// met reads what a conflict tells.
func (a *told) met() met {
	m := met{version: -1, seqNo: -1, term: -1}
	for _, c := range conflicts {
		groups := c.reason.FindStringSubmatch(a.Error.Reason)
		if groups == nil {
			continue
		}
		switch c.names {
		case "version":
			m.version, _ = strconv.ParseInt(groups[1], 10, 64)
		case "numbers":
			m.seqNo, _ = strconv.ParseInt(groups[1], 10, 64)
			m.term, _ = strconv.ParseInt(groups[2], 10, 64)
		case "absent":
			m.absent = true
		}
	}
	return m
}

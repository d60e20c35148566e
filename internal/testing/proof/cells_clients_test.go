package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// owner is a client that alone writes its documents, so that it knows what each must be, over
// all lives of the server.
type owner struct {
	t    *testing.T
	talk *Talk
	url  *atomic.Pointer[string] // of the life; nil while there is none
	lax  *atomic.Bool            // the disk is or was full: requests may be refused
	dice *rand.Rand
	name string
	wants

	mu    sync.Mutex // held while it asks
	asked int
	may   map[string][]copied // by id: what it may be, one of these
	acked int                 // writes that were acknowledged
	open  int                 // writes without an answer
}

// wants are how much an owner wants.
type wants struct {
	ids   int           // documents
	bulks int           // of ten requests
	items int           // of a bulk
	rest  time.Duration // four times as much at most, between two requests
}

var modest = wants{ids: 24, bulks: 1, items: 5, rest: time.Millisecond}

// copied is a state of a document; source "" when there is none, version 0 when it is not known.
type copied struct {
	source  string
	version int64
}

// run asks until ctx ends, over all lives.
func (o *owner) run(ctx context.Context) {
	for ctx.Err() == nil && !o.t.Failed() {
		if o.once() {
			time.Sleep(time.Duration(1+o.dice.IntN(4)) * o.rest)
		} else {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// once asks one thing, if there is a server that answers.
func (o *owner) once() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	url := o.url.Load()
	if url == nil {
		return false
	}
	err := o.ask(*url)
	answered(o.t, err)
	return err == nil
}

// answered says that a request without an answer was cut off by a kill, and not by patience.
func answered(t *testing.T, err error) {
	var late net.Error
	if err != nil && errors.As(err, &late) && late.Timeout() {
		t.Errorf("a request hangs: %v", err)
	}
}

func (o *owner) anID() string { return fmt.Sprintf("%s-%d", o.name, o.dice.IntN(o.ids)) }

// routing is always the same for one document: some have one.
func (o *owner) routing(id string) string {
	if mixed(id)%5 == 0 {
		return "route-" + id
	}
	return ""
}

// path of a document below an endpoint.
func (o *owner) path(endpoint, id string) string {
	path := "/shelf/" + endpoint + "/" + id
	if routing := o.routing(id); routing != "" {
		path += "?routing=" + routing
	}
	return path
}

// ask asks one thing; an error says that no answer came.
func (o *owner) ask(url string) error {
	o.asked++
	if o.dice.IntN(10) < o.bulks {
		return o.bulk(url)
	}
	switch n := o.dice.IntN(9); {
	case n < 3:
		return o.get(url, o.anID())
	case n < 5:
		return o.write(url, "delete", o.anID(), "")
	case n < 6:
		return o.write(url, "update", o.anID(), o.source(0))
	}
	return o.write(url, "index", o.anID(), o.source(0))
}

// source is one that nobody else has written.
func (o *owner) source(n int) string {
	return fmt.Sprintf(`{"kind":"own","of":%q,"text":"%d-%d"}`, o.name, o.asked, n)
}

// write indexes, updates or deletes one document.
func (o *owner) write(url, verb, id, source string) error {
	method, endpoint, body := "PUT", "_doc", []byte(source)
	switch verb {
	case "update":
		method, endpoint, body = "POST", "_update", []byte(changed(source))
	case "delete":
		method, body = "DELETE", nil
	}
	answer, err := o.talk.Do(context.Background(), method, url+o.path(endpoint, id), body)
	if err != nil {
		o.unknown(id, source)
		return err
	}
	var a told
	_ = json.Unmarshal(answer.Body, &a)
	o.learn(id, source, answer.Status, a.Version, answer.Body)
	return nil
}

// changed is the body of an update that leaves nothing of what was there.
func changed(source string) string { return `{"doc_as_upsert":true,"doc":` + source + `}` }

// bulk writes some documents at once, of several shards.
func (o *owner) bulk(url string) error {
	var body bytes.Buffer
	var ids, sources []string
	for n := range o.items {
		id, source := o.anID(), o.source(n)
		if slices.Contains(ids, id) {
			continue
		}
		verb, line := "index", source
		switch o.dice.IntN(6) {
		case 0:
			verb, source = "delete", ""
		case 1:
			verb, line = "update", changed(source)
		}
		fmt.Fprintf(&body, "{%q:{\"_index\":\"shelf\",\"_id\":%q", verb, id)
		if routing := o.routing(id); routing != "" {
			fmt.Fprintf(&body, ",\"routing\":%q", routing)
		}
		if body.WriteString("}}\n"); source != "" {
			body.WriteString(line + "\n")
		}
		ids, sources = append(ids, id), append(sources, source)
	}
	answer, err := o.talk.Do(context.Background(), "POST", url+"/_bulk", body.Bytes())
	if err != nil {
		for i := range ids {
			o.unknown(ids[i], sources[i])
		}
		return err
	}
	var items struct {
		Items []map[string]struct {
			ID      string `json:"_id"`
			Version int64  `json:"_version"`
			Status  int
			Error   json.RawMessage
		}
	}
	_ = json.Unmarshal(answer.Body, &items)
	if answer.Status != 200 || len(items.Items) != len(ids) {
		for i := range ids {
			o.learn(ids[i], sources[i], answer.Status, 0, answer.Body)
		}
		return nil
	}
	for i, item := range items.Items {
		for _, told := range item {
			if told.ID != ids[i] {
				o.t.Errorf("item %d of a bulk request is of %q, not %q", i, told.ID, ids[i])
			}
			o.learn(ids[i], sources[i], told.Status, told.Version, told.Error)
		}
	}
	return nil
}

// unknown notes a write without an answer.
func (o *owner) unknown(id, source string) {
	o.open++
	o.may[id] = append(o.known(id), copied{source: source})
}

func (o *owner) known(id string) []copied {
	if may := o.may[id]; may != nil {
		return may
	}
	return []copied{{}}
}

// learn notes what the answer to a write tells.
func (o *owner) learn(id, source string, status int, version int64, body []byte) {
	is := o.known(id)
	switch {
	case status == 200 || status == 201 || status == 404 && source == "":
		if len(is) == 1 && is[0].version != 0 && version != is[0].version+1 {
			o.t.Errorf("%s was of version %d, and the next is %d", id, is[0].version, version)
		}
		o.acked++
		o.may[id] = []copied{{source, version}}
	case status == 429 && o.lax.Load():
	case status == 503 && o.lax.Load():
		o.unknown(id, source)
	default:
		o.t.Errorf("a write of %s: %d %s", id, status, body)
	}
}

// get reads one document, which settles what it is.
func (o *owner) get(url, id string) error {
	answer, err := o.talk.Do(context.Background(), "GET", url+o.path("_doc", id), nil)
	if err != nil {
		return err
	}
	var a told
	_ = json.Unmarshal(answer.Body, &a)
	if answer.Status == 503 && o.lax.Load() {
		return nil
	}
	if answer.Status != 200 && (answer.Status != 404 || a.Found || a.Error.Type != "") {
		o.t.Errorf("GET of %s: %s", id, answer)
	}
	o.settle(id, copied{string(a.Source), a.Version})
	return nil
}

// settle notes what a document is.
func (o *owner) settle(id string, is copied) {
	var fitting []copied
	for _, c := range o.known(id) {
		if is.fits(c) {
			fitting = append(fitting, c)
		}
	}
	if len(fitting) == 0 {
		o.t.Errorf("%s is %v, and may be one of %v", id, is, o.known(id))
	}
	if is.source == "" { // a get does not tell the version of what is gone
		if is.version = 0; len(fitting) == 1 {
			is = fitting[0]
		}
	}
	o.may[id] = []copied{is}
}

func (c copied) fits(other copied) bool {
	return c.source == other.source && (c.version == 0 || other.version == 0 || c.version == other.version)
}

// keptDocs are documents that nobody writes any more; every fifth has a routing value.
const keptDocs = 150

// lay puts them into the index, and deletes some others.
func lay(t *testing.T, talk *Talk, url string, shards int) {
	t.Helper()
	ask(t, talk, 200, "PUT", url+"/shelf", fmt.Sprintf(`{"settings":{"number_of_shards":%d,"number_of_replicas":0,"index.gc_deletes":"10m"}}`, shards))
	var body, gone strings.Builder
	for i := range keptDocs {
		routing := ""
		if i%5 == 0 {
			routing = fmt.Sprintf(`,"routing":"r%d"`, i)
		}
		fmt.Fprintf(&body, "{\"index\":{\"_id\":\"kept-%d\"%s}}\n{\"kind\":\"kept\",\"n\":%d}\n", i, routing, i)
		fmt.Fprintf(&body, "{\"index\":{\"_id\":\"gone-%d\"}}\n{\"kind\":\"gone\",\"n\":%d}\n", i, i)
		fmt.Fprintf(&gone, "{\"delete\":{\"_id\":\"gone-%d\"}}\n", i)
	}
	ask(t, talk, 200, "POST", url+"/shelf/_bulk?refresh=true", body.String())
	ask(t, talk, 200, "POST", url+"/shelf/_bulk?refresh=true", gone.String())
}

// foundDoc is a document that was found.
type foundDoc struct {
	ID      string          `json:"_id"`
	Version int64           `json:"_version"`
	Source  json.RawMessage `json:"_source"`
}

type foundDocs struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []foundDoc
	}
	Count int
}

// audit searches for what is kept until ctx ends: each document once, at every moment.
func audit(ctx context.Context, t *testing.T, talk *Talk, url *atomic.Pointer[string], lax *atomic.Bool) {
	for ; ctx.Err() == nil && !t.Failed(); time.Sleep(15 * time.Millisecond) {
		at := url.Load()
		if at == nil {
			continue
		}
		answer, err := talk.Do(context.Background(), "POST", *at+"/shelf/_search", []byte(`{"size":1000,"track_total_hits":true,"_source":false,"query":{"match":{"kind":"kept"}}}`))
		if err != nil {
			answered(t, err)
			continue
		}
		var found foundDocs
		if lax.Load() && answer.Status == 503 && bytes.Contains(answer.Body, []byte("the folder was opened again after a failure")) {
			continue // by which the engine has healed itself
		}
		if err := json.Unmarshal(answer.Body, &found); err != nil || answer.Status != 200 {
			t.Errorf("a search: %s", answer)
			return
		}
		once := map[string]bool{}
		for _, h := range found.Hits.Hits {
			once[h.ID] = true
		}
		if found.Hits.Total.Value != keptDocs || len(found.Hits.Hits) != keptDocs || len(once) != keptDocs {
			t.Errorf("a search finds %d documents, %d ids, and tells %d: there are %d", len(found.Hits.Hits), len(once), found.Hits.Total.Value, keptDocs)
		}
	}
}

// exact compares all that is there with what the owners know.
func exact(t *testing.T, talk *Talk, url string, owners []*owner) {
	t.Helper()
	want := map[string]copied{}
	for _, o := range owners {
		for id := range o.may {
			if err := o.get(url, id); err != nil {
				t.Fatal(err)
			}
			if is := o.may[id][0]; is.source != "" {
				want[id] = is
			}
		}
	}
	for i := range keptDocs {
		want[fmt.Sprintf("kept-%d", i)] = copied{fmt.Sprintf(`{"kind":"kept","n":%d}`, i), 1}
	}
	ask(t, talk, 200, "POST", url+"/shelf/_refresh", "")
	var found, counted foundDocs
	body := ask(t, talk, 200, "POST", url+"/shelf/_search", `{"size":5000,"track_total_hits":true,"version":true}`)
	if err := json.Unmarshal(body, &found); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(ask(t, talk, 200, "GET", url+"/shelf/_count", ""), &counted); err != nil {
		t.Fatal(err)
	}
	if found.Hits.Total.Value != len(want) || counted.Count != len(want) || len(found.Hits.Hits) != len(want) {
		t.Errorf("a search finds %d, tells %d, and a count %d; there are %d", len(found.Hits.Hits), found.Hits.Total.Value, counted.Count, len(want))
	}
	for _, h := range found.Hits.Hits {
		is := copied{string(h.Source), h.Version}
		if expected, there := want[h.ID]; !there || is != expected {
			t.Errorf("%s is found as %v; there %t, it is %v", h.ID, is, there, expected)
		}
		delete(want, h.ID)
	}
	for id := range want {
		t.Errorf("%s is not found", id)
	}
}

// crowd are owners and an auditor, and the server that they ask.
type crowd struct {
	url    atomic.Pointer[string]
	lax    atomic.Bool
	owners []*owner
	stop   func()
}

func newCrowd(t *testing.T, talk *Talk, seed uint64, want wants) *crowd {
	c := &crowd{}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range 3 {
		o := &owner{t: t, talk: talk, url: &c.url, lax: &c.lax, dice: rand.New(rand.NewPCG(seed, uint64(n))), name: fmt.Sprint("o", n), wants: want, may: map[string][]copied{}}
		c.owners = append(c.owners, o)
		all.Go(func() { o.run(ctx) })
	}
	all.Go(func() { audit(ctx, t, talk, &c.url, &c.lax) })
	c.stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(c.stop)
	return c
}

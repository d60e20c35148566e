package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// client asks for one thing after the other.
type client struct {
	of     *shelves
	number int
	name   string
	chance *rand.Rand
	asks   int
	leaves bool // it is to ask for nothing more
	gone   bool
}

func newClient(w *shelves, n int) *client {
	return &client{of: w, number: n, name: fmt.Sprintf("client %d", n), chance: rand.New(rand.NewPCG(w.script.Seed, 1000+uint64(n)))}
}

// patientClient is how long a client waits for an answer.
const patientClient = 30 * time.Second

// next asks for something, or comes back later when nobody answers.
func (c *client) next() {
	w := c.of
	switch {
	case w.over, c.leaves:
		c.gone = true
		return
	case w.server == nil, w.cut():
		c.later()
		return
	}
	c.asks++
	switch n := c.chance.IntN(20); {
	case n < 10:
		c.write()
	case n < 14:
		c.get()
	case n < 18:
		c.search()
	default:
		c.refresh()
	}
}

// later comes back after a while.
func (c *client) later() {
	c.of.after(10*time.Millisecond+time.Duration(c.chance.Int64N(int64(2*c.of.script.Takes))), c.next)
}

// request asks the process that serves, sometimes by an old placement, and then goes on.
func (c *client) request(what string, do func(context.Context) any, told func(answer any)) {
	w, began := c.of, time.Now()
	was := w.deletion
	routes := int64(0)
	if len(w.versions) > 1 && c.chance.IntN(3) == 0 {
		routes = w.versions[max(0, len(w.versions)-1-c.chance.IntN(6))]
	}
	name := fmt.Sprintf("%s %s %d", c.name, what, c.asks)
	w.server.request(name, patientClient, func(ctx context.Context) any {
		if routes > 0 {
			ctx = store.WithPlacement(ctx, routes)
		}
		return do(ctx)
	}, func(answer any, heard bool) {
		if !heard {
			answer = errDead
		}
		w.answered(name, was, answer)
		told(answer)
		if took := time.Since(began); heard && w.script.calm() && took > w.script.Budget+slack {
			w.violate("L7", "%s took %s, and nothing had happened to anybody", name, took)
		}
		c.later()
	})
}

// slack is what a request may take besides the pause of a hand-off when nothing befalls anybody.
const slack = time.Second

// wanted is a write, and the try that it is.
type wanted struct {
	key     *key
	n       int
	expects string // "takes", "refuses"; "": what it meets is not known
}

// write writes some documents of its own, in one request.
func (c *client) write() {
	w := c.of
	var own []*key
	for _, k := range w.keys {
		if k.owner == c.number {
			own = append(own, k)
		}
	}
	if len(own) == 0 {
		c.search()
		return
	}
	c.chance.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
	own = own[:min(len(own), 1+c.chance.IntN(4))]
	var writes []document.Write
	var wants []wanted
	for _, k := range own {
		write, want := c.one(k)
		writes, wants = append(writes, write), append(wants, want)
	}
	visible := document.Eventually
	if c.chance.IntN(6) == 0 {
		visible = document.AtOnce
	}
	c.request("writes", func(ctx context.Context) any { return w.server.store.Write(ctx, writes, visible) }, func(answer any) {
		for i, want := range wants {
			var a document.Written
			if all, heard := answer.([]document.Written); heard {
				a = all[i]
			} else {
				a.Err = errDead
			}
			c.wrote(want, writes[i], a)
		}
	})
}

// one chooses what to do with a document.
func (c *client) one(k *key) (document.Write, wanted) {
	now, known := k.certain()
	there := now.source != ""
	write := document.Write{Operation: document.Index, Target: indexName, ID: k.id, Routing: k.routing, Condition: document.Always}
	source := fmt.Sprintf(`{"who":%q,"n":%d}`, c.name, len(k.tries))
	expects := map[bool]string{true: "takes", false: "refuses"}
	takes := true
	switch c.chance.IntN(6) {
	case 0:
		write.Operation, source = document.Delete, ""
	case 1:
		write.Operation, takes = document.Create, !there
	case 2:
		write.Operation, takes = document.Update, there
		write.Change = &document.Change{Doc: fmt.Appendf(nil, `{"n":%d}`, len(k.tries)), Retries: 3}
	case 3:
		if known && now.PrimaryTerm > 0 {
			write.Condition.SeqNo, write.Condition.PrimaryTerm, takes = now.SeqNo, now.PrimaryTerm, there
		}
	case 4:
		if old := k.tries[c.chance.IntN(len(k.tries))]; known && old.known == applied && old.SeqNo != now.SeqNo && old.PrimaryTerm > 0 {
			write.Condition.SeqNo, write.Condition.PrimaryTerm, takes = old.SeqNo, old.PrimaryTerm, false
		}
	}
	if write.Operation == document.Index || write.Operation == document.Create {
		write.Source = []byte(source)
	}
	want := wanted{key: k, n: k.begin(source)}
	if known {
		want.expects = expects[takes]
	}
	return write, want
}

// wrote is L1 and L4: who is told that a write was taken finds it from then on.
func (c *client) wrote(want wanted, write document.Write, a document.Written) {
	w, k := c.of, want.key
	before := k.tries[k.low]
	what := fmt.Sprintf("%s %s %s %+v", c.name, write.Operation, k.id, write.Condition)
	switch {
	case a.Err == nil:
		if want.expects == "refuses" {
			w.violate("L4", "%s is taken as %+v, and should have been refused:%s", what, a.Versions, k.story(k.low))
		}
		if _, known := k.certain(); before.PrimaryTerm > 0 && a.SeqNo <= before.SeqNo {
			w.violate("L2", "%s gets number %d after %d (known %t)", what, a.SeqNo, before.SeqNo, known)
		}
		k.is(want.n, applied, a.Versions)
		w.unique(k, a)
		if w.follower != nil {
			w.follower.passed(k)
		}
		if a.Refreshed {
			k.refreshed(want.n)
		}
	case exception.Is(a.Err, exception.VersionConflict), exception.Is(a.Err, exception.DocumentMissing):
		if want.expects == "takes" {
			w.violate("L4", "%s is refused: %v; it is%s", what, a.Err, k.story(k.low))
		}
		k.is(want.n, not, document.Versions{})
	case notRemembered(a.Err):
		k.is(want.n, not, document.Versions{})
	default:
		k.is(want.n, k.tries[want.n].known, document.Versions{}) // a reader may have found it, or not
		w.understood(what, a.Err)
	}
}

// notRemembered tells whether a request wanted to route by a placement that its process has
// never read.
func notRemembered(err error) bool { return exception.Is(err, exception.IllegalArgument) }

// understood is L12: a request that was not carried out is told why, in a way that says that it
// may be tried again.
func (w *shelves) understood(what string, err error) {
	if missing(err) {
		return // see answered
	}
	if fault.Is(err, fault.Bug) && err != errDead { //nolint:errorlint // it is that very one
		w.violate("L12", "%s: %v", what, err)
	}
	w.report.Unanswered++
}

// get reads one document in real time.
func (c *client) get() {
	w := c.of
	k := w.keys[c.chance.IntN(len(w.keys))]
	from, settled := k.low, k.settled()
	c.request("gets "+k.id, func(ctx context.Context) any {
		found, err := w.server.store.Get(ctx, document.Read{Target: indexName, ID: k.id, Routing: k.routing, Version: document.Unset})
		if err != nil {
			return err
		}
		return found
	}, func(answer any) {
		found, heard := answer.(document.Found)
		if !heard {
			if err := answer.(error); !notRemembered(err) {
				w.understood(c.name+" gets", err)
			}
			return
		}
		w.saw("gets", c.name, k, k.normal(string(found.Source)), from, settled)
	})
}

// saw is L1 and L2 for who reads in real time.
func (w *shelves) saw(verb, name string, k *key, source string, from, settled int) {
	if !k.read(source, from, settled) {
		w.violate("L1", "%s %s %s %q; it was%s", name, verb, k.id, source, k.story(from))
	}
}

// shownDocuments is what a search has shown.
type shownDocuments struct {
	total   int64
	sources map[string][]string
}

// search looks for all documents.
func (c *client) search() {
	w := c.of
	floors := make([]int, len(w.keys))
	for i, k := range w.keys {
		floors[i] = k.shown
	}
	c.request("searches", func(ctx context.Context) any { return w.server.searched(ctx) }, func(answer any) {
		shown, heard := answer.(shownDocuments)
		if !heard {
			if err := answer.(error); !notRemembered(err) {
				w.understood(c.name+" searches", err)
			}
			return
		}
		w.complete(c.name, shown, floors)
	})
}

// named is the index, which has to be there.
func named() catalog.Expression {
	return catalog.Expression{Names: []string{indexName}, Options: catalog.Options{NoIndicesIsError: true}}
}

// searched finds all documents.
func (s *server) searched(ctx context.Context) any {
	r := search.NewRequest()
	r.Size, r.TrackTotal = 1000, -1
	found, err := s.store.Find(ctx, store.Where{Expression: named(), Whole: true}, r)
	if err != nil {
		return err
	}
	shown := shownDocuments{total: found.Total, sources: map[string][]string{}}
	for i := range found.Hits {
		row, err := found.Document(ctx, &found.Hits[i], false)
		if err != nil {
			return err
		}
		shown.sources[row.ID] = append(shown.sources[row.ID], string(row.Source))
	}
	if err := found.Close(); err != nil {
		return err
	}
	return shown
}

// complete is L3: each document once, and as it was when it was refreshed or later.
func (w *shelves) complete(name string, shown shownDocuments, floors []int) {
	all := int64(0)
	for i, k := range w.keys {
		found := shown.sources[k.id]
		all += int64(len(found))
		if len(found) > 1 {
			w.violate("L3", "%s finds %s %d times: %q", name, k.id, len(found), found)
			continue
		}
		source := ""
		if len(found) == 1 {
			source = k.normal(found[0])
		}
		if n := k.seen(source, floors[i]); n < 0 {
			w.violate("L3", "%s finds %s as %q; it was%s", name, k.id, source, k.story(floors[i]))
		} else {
			k.refreshed(n)
		}
	}
	if all != shown.total {
		w.violate("L3", "%s is told of %d documents, and shown %d", name, shown.total, all)
	}
}

// refresh makes what was written visible.
func (c *client) refresh() {
	w := c.of
	lows := make([]int, len(w.keys))
	for i, k := range w.keys {
		lows[i] = k.low
	}
	c.request("refreshes", func(ctx context.Context) any {
		_, err := w.server.store.Refresh(ctx, named())
		return err
	}, func(answer any) {
		if err, failed := answer.(error); failed {
			w.understood(c.name+" refreshes", err)
			return
		}
		for i, k := range w.keys {
			k.refreshed(lows[i])
		}
	})
}

// settled is how many of the tries have ended, one way or another, when nobody writes; of a
// document that is being written it is all before that.
func (k *key) settled() int { return len(k.tries) - k.flying }

// normal is a source as the tries have it: members in the order of a first write.
func (k *key) normal(source string) string {
	if source == "" {
		return ""
	}
	var doc struct {
		Who string
		N   int
	}
	if err := json.Unmarshal([]byte(source), &doc); err != nil {
		return source
	}
	return fmt.Sprintf(`{"who":%q,"n":%d}`, doc.Who, doc.N)
}

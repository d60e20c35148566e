package migrate_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

const theirs = `{"by":"others"}`

// meddler lets others do something right before the target gets a request of the movement.
type meddler struct {
	before func(r *http.Request, body string)
}

// RoundTrip is http.RoundTripper's.
func (m meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	m.before(r, string(body))
	return http.DefaultTransport.RoundTrip(r)
}

// meddle lets others do something, once, when a request to a path comes that names a document.
func (p *copied) meddle(path, id string, others func()) (met func() bool) {
	p.t.Helper()
	var mu sync.Mutex
	direct, seen := p.target, false
	through, err := cluster.Open(p.t.Context(), cluster.Options{URL: p.url, Transport: meddler{func(r *http.Request, body string) {
		mu.Lock()
		defer mu.Unlock()
		if !seen && strings.HasSuffix(r.URL.Path, path) && strings.Contains(body, fmt.Sprintf(`"_id":%q`, id)) {
			seen = true
			others()
		}
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.target = through
	p.t.Cleanup(func() { p.target = direct })
	return func() bool { return seen }
}

// others is a client of the target beside the movement's.
func (p *copied) others() *cluster.Client {
	p.t.Helper()
	c, err := cluster.New(p.url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

func write(t *testing.T, c *cluster.Client, id, body string) {
	t.Helper()
	if _, err := c.Do(t.Context(), http.MethodPut, []string{"shelves", "_doc", id}, nil, []byte(body)); err != nil {
		t.Fatal(id, err)
	}
}

// pick is a document without routing that both snapshots of shelves hold so.
func pick(t *testing.T, was, is map[string]string, wanted func(was, is string) bool) string {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if strings.HasSuffix(id, "/") && wanted(was[id], is[id]) {
			return strings.TrimSuffix(id, "/")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if strings.HasSuffix(id, "/") && wanted(was[id], is[id]) {
			return strings.TrimSuffix(id, "/")
		}
	}
	t.Fatal("there is none")
	return ""
}

func isChanged(was, is string) bool { return was != "" && is != "" && was != is }
func isGone(was, is string) bool    { return was != "" && is == "" }
func isNew(was, is string) bool     { return was == "" && is != "" }

// delta starts the movement that goes on from the first snapshot.
func (p *copied) delta() {
	p.t.Helper()
	plan := p.plan("second")
	since("full", "first")(&plan)
	p.start("delta", plan)
}

// leaves fails unless the delta is held, has left these documents as others wrote them, and names them.
func (p *copied) leaves(ids ...string) {
	p.t.Helper()
	m, progress := p.look("delta")
	if m.State != movement.Held {
		p.t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	for _, id := range ids {
		if doc := p.doc("shelves", id); doc != theirs {
			p.t.Errorf("%q is %s", id, doc)
		}
		for _, index := range progress.Indices {
			if index.Source == "shelves" && !slices.ContainsFunc(index.Changed.Others, func(o migrate.Other) bool { return o.ID == id }) {
				p.t.Errorf("%q is not named: %+v", id, index.Changed)
			}
		}
	}
}

// TestADeltaBesideOneWrite of others to each document, whose version is then the very one that a
// deletion, or a single update, has in the source: they are left, found by the comparison, and left by a repair, unless that
// is to replace and delete them: then by what the comparison has seen.
func TestADeltaBesideOneWrite(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.moves("full", "first", nil)
	was, is := p.held("first", "shelves"), p.held("second", "shelves")
	ids := []string{pick(t, was, is, isChanged), pick(t, was, is, isGone), pick(t, was, is, isNew)}
	for _, id := range ids {
		write(t, p.target, id, theirs)
	}
	p.delta()
	m, progress := p.work("delta")
	p.leaves(ids...)
	for _, index := range progress.Indices {
		if index.Source == "shelves" && (index.Copied.Conflicts != 2 || index.Changed.Kept != 1) {
			t.Errorf("%+v %+v", index.Copied, index.Changed)
		}
	}
	counts := verifiedOf(t, progress, "shelves").Result.Counts
	if counts[reconcile.Zombie] != 1 || counts[reconcile.Different]+counts[reconcile.Stale]+counts[reconcile.Newer] != 2 {
		t.Errorf("%v: %s", counts, m.Cause)
	}
	for _, verb := range []movement.Verb{movement.Repair, movement.Redrive} {
		p.tell("delta", verb)
		p.work("delta")
		p.leaves(ids...)
	}
	write(t, p.target, ids[1], `{"written":"after the comparison"}`)
	for _, want := range []string{"2 documents sent again, 1 are not as the comparison before the repair saw them, and are left so (\"" + ids[1] + "\")", "0 documents sent again, 1 deleted"} {
		if _, _, err := p.driver.Apply(t.Context(), "delta", movement.Event{Verb: movement.Repair, By: "ann", Overwrite: true, DeleteExtra: true}); err != nil {
			t.Fatal(err)
		}
		m, _ = p.work("delta")
		if said := phaseOf(&m, movement.RepairPhase); said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
	if m.State != movement.Finished {
		t.Errorf("it is %s: %s", m.State, m.Cause)
	}
}

// TestAWriteBetweenLookAndWrite of a delta is left, also when it comes right before the request
// that would delete the document, or replace it.
func TestAWriteBetweenLookAndWrite(t *testing.T) {
	for name, wanted := range map[string]func(was, is string) bool{"changed": isChanged, "gone": isGone, "new": isNew} {
		for _, path := range []string{"_mget", "_bulk"} {
			p := newCopied(t, "opensearch-2.19.0-basic")
			p.moves("full", "first", nil)
			id := pick(t, p.held("first", "shelves"), p.held("second", "shelves"), wanted)
			others := p.others()
			met := p.meddle(path, id, func() { write(t, others, id, theirs) })
			p.delta()
			p.work("delta")
			if met() { // what is new is written without a look
				p.leaves(id)
			} else if path == "_bulk" || name != "new" {
				t.Errorf("%s: no %s", name, path)
			}
		}
	}
}

// TestAWriteWhileARepairGoesOn is left, although the comparison has seen the document otherwise, and
// its version is not newer than the snapshot's.
func TestAWriteWhileARepairGoesOn(t *testing.T) {
	for _, delta := range []bool{false, true} {
		for _, path := range []string{"_mget", "_bulk"} {
			for _, lost := range []bool{false, true} {
				p := newCopied(t, "opensearch-2.19.0-basic")
				p.keep = true
				id, name := p.emptied(delta, lost)
				others := p.others()
				met := p.meddle(path, id, func() { write(t, others, id, theirs) })
				p.tell(name, movement.Repair)
				m, _ := p.work(name)
				said, left := phaseOf(&m, movement.RepairPhase), "were changed on the target since, and are left so (\""+id+"\")"
				if lost && path == "_bulk" { // a document that is missing is created in its version, which loses no write in silence
					left = "in the moment in which these were created again, and they were replaced (\"" + id + "\")"
				} else if doc := p.doc("shelves", id); doc != theirs && (met() || doc != `{"made":"again"}`) {
					t.Errorf("delta %v, before %s, lost %v: %s; %s", delta, path, lost, p.doc("shelves", id), m.Cause)
				}
				if !met() && (lost || path == "_mget") || !strings.Contains(said, left) {
					t.Errorf("delta %v, before %s, lost %v: %s", delta, path, lost, said)
				}
			}
		}
	}
}

// unheard is how a target is reached whose answer to one request is lost, after others have done something right before
// the target got it.
type unheard struct {
	meddler
	lost func(r *http.Request) bool
}

// RoundTrip is http.RoundTripper's.
func (l unheard) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.meddler.RoundTrip(r)
	if err == nil && l.lost(r) {
		answer.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return answer, err
}

// TestAReplacementWithoutAnAnswer is named as one that perhaps was: the repeated request finds the document as it should
// be, and nothing tells any more what was there before. Others' document is replaced, as with an answer.
func TestAReplacementWithoutAnAnswer(t *testing.T) {
	for _, interfered := range []bool{false, true} {
		p := newCopied(t, "opensearch-2.19.0-basic")
		p.keep = true
		id, name := p.emptied(false, true)
		others := p.others()
		var mu sync.Mutex
		seen, lost := false, false
		direct := p.target
		through, err := cluster.Open(t.Context(), cluster.Options{URL: p.url, Transport: unheard{
			meddler{func(r *http.Request, body string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasSuffix(r.URL.Path, "_bulk") && strings.Contains(body, fmt.Sprintf(`"_id":%q`, id)) && !seen {
					if seen = true; interfered {
						write(t, others, id, theirs)
					}
				}
			}},
			func(r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				now := seen && !lost && strings.HasSuffix(r.URL.Path, "_bulk")
				lost = lost || now
				return now
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		p.target = through
		p.tell(name, movement.Repair)
		m, _ := p.work(name)
		p.target = direct
		said := phaseOf(&m, movement.RepairPhase)
		if !lost || p.doc("shelves", id) == theirs || !strings.Contains(said, "the answer was lost") || m.State != movement.Switched {
			t.Errorf("interfered %v, lost %v: %s; %s, %s", interfered, lost, said, m.State, m.Cause)
		}
	}
}

// TestAWriteThatIsLikeWhatWasSeen is left: its content and the one that the comparison has seen
// have 16 bits in common.
func TestAWriteThatIsLikeWhatWasSeen(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.keep = true
	id, name := p.emptied(false, false) // it was seen as made again
	low := func(body string) uint16 {
		var printer document.Fingerprinter
		content := printer.Of([]byte(id), nil, []byte(body)).Content
		return binary.BigEndian.Uint16(content[6:8])
	}
	like, seen := "", low(`{"made":"again"}`)
	for n := 0; like == "" || low(like) != seen; n++ {
		like = fmt.Sprintf(`{"by":"others","n":%d}`, n)
	}
	others := p.others()
	met := p.meddle("_mget", id, func() { write(t, others, id, like) })
	p.tell(name, movement.Repair)
	m, _ := p.work(name)
	said := phaseOf(&m, movement.RepairPhase)
	if doc := p.doc("shelves", id); !met() || doc != like || !strings.Contains(said, "are left so (\""+id+"\")") {
		t.Errorf("%s; %s", doc, said)
	}
}

// emptied lets a movement, or the delta that follows it, bring shelves; then somebody loses all of
// it, and a comparison finds that. Of one document, which is named, others have made another unless
// it is lost, too: in a version below that of the snapshot.
func (p *copied) emptied(delta, lost bool) (id, name string) {
	p.t.Helper()
	was, is := p.held("first", "shelves"), p.held("second", "shelves")
	id = pick(p.t, was, is, func(was, is string) bool { return was > "2" && is > "2" })
	name = "full"
	p.request(http.MethodPut, "shelves", `{"mappings":{"dynamic":false}}`)
	plan := p.plan("first")
	plan.IntoExisting = true
	p.start("full", plan)
	p.work("full")
	if delta {
		p.tell("full", movement.Finish)
		p.work("full")
		name = "delta"
		p.delta()
		p.work("delta")
	}
	if m, _ := p.look(name); m.State != movement.Switched {
		p.t.Fatalf("%s: %s", m.State, m.Cause)
	}
	p.request(http.MethodDelete, "shelves", "")
	p.request(http.MethodPut, "shelves", `{"mappings":{"dynamic":false}}`)
	if !lost {
		write(p.t, p.target, id, `{"made":"again"}`)
	}
	p.request(http.MethodPost, "_refresh", "")
	p.tell(name, movement.Verify)
	if m, _ := p.work(name); m.State != movement.Held {
		p.t.Fatalf("%s: %s", m.State, m.Cause)
	}
	return id, name
}

// phaseOf is what the newest phase of a name has come to.
func phaseOf(m *movement.Record, name string) (said string) {
	for _, phase := range m.Phases {
		if phase.Name == name {
			said = phase.Outcome
		}
	}
	return said
}

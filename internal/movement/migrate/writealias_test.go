package migrate_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// through lets something happen right before the target gets a request of the movement.
func (r *rig) through(before func(q *http.Request, body string)) {
	r.Helper()
	c, err := cluster.New(r.url, meddler{before})
	if err != nil {
		r.Fatal(err)
	}
	direct := r.target
	r.target = c
	r.Cleanup(func() { c.Close(); r.target = direct })
}

// late keeps every bulk request that the movement sends, and gives what sends all of them once more, as a
// worker does that stood still.
func (r *rig) late() (again func() (answers string)) {
	r.Helper()
	var mu sync.Mutex
	var kept []*http.Request
	r.through(func(q *http.Request, body string) {
		if strings.HasSuffix(q.URL.Path, "_bulk") {
			mu.Lock()
			defer mu.Unlock()
			held := q.Clone(r.Context())
			held.GetBody, held.Body = nil, http.NoBody
			if body != "" {
				held.Body = readable(body)
			}
			kept = append(kept, held)
		}
	})
	return func() (answers string) {
		if len(kept) == 0 {
			r.Fatal("it has sent nothing")
		}
		for _, q := range kept {
			answer, err := http.DefaultTransport.RoundTrip(q)
			if err != nil {
				r.Fatal(err)
			}
			var b bytes.Buffer
			_, _ = b.ReadFrom(answer.Body) // what came is looked at
			_ = answer.Body.Close()
			answers += b.String()
		}
		return answers
	}
}

type closer struct{ *strings.Reader }

func (closer) Close() error { return nil }

func readable(text string) closer { return closer{strings.NewReader(text)} }

// ways are the aliases of the target that movements write through.
func ways(t *testing.T, c *cluster.Client) (all []string) {
	t.Helper()
	indices, err := c.Aliases(t.Context(), "*")
	if err != nil {
		t.Fatal(err)
	}
	for index, aliases := range indices {
		for alias := range aliases {
			if strings.Contains(alias, "-Reshelve-") {
				all = append(all, index+"/"+alias)
			}
		}
	}
	return all
}

// TestABatchThatComesAfterTheEnd changes nothing: it neither makes the index again that abort has deleted,
// nor brings documents back that somebody has deleted since, in an index that was there before or stays.
func TestABatchThatComesAfterTheEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool // the index was there
		verb   movement.Verb
	}{
		{"aborted", false, movement.Abort}, {"aborted, into an index that was there", true, movement.Abort},
		{"finished", false, movement.Finish}, {"finished, into an index that was there", true, movement.Finish},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, history, "two")
			if c.before {
				r.put("ledger", `{"a":1}`)
			}
			plan := r.plan("ledger")
			plan.IntoExisting = c.before
			again := r.late()
			id := r.start(plan)
			if m, _ := r.work(id); m.State != movement.Switched {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
			r.tell(id, c.verb)
			if m, _ := r.work(id); !m.State.Ended() {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
			left := int64(-1)
			if c.before || c.verb == movement.Finish {
				if err := r.target.DeleteIndex(t.Context(), "ledger"); err != nil {
					t.Fatal(err)
				}
				r.put("ledger", `{"mine":1}`) // whatever stands there then
				left = 1
			}
			answers := again()
			if r.holds("ledger") != left {
				t.Errorf("the index holds %d documents, and held %d: %.300s", r.holds("ledger"), left, answers)
			}
			if all := ways(t, r.target); len(all) > 0 {
				t.Errorf("left are %v", all)
			}
		})
	}
}

// TestAnIndexThatIsDeletedDuringTheCopy is not made again by the documents that come: the movement says
// that it is gone, and lists none of them as failed.
func TestAnIndexThatIsDeletedDuringTheCopy(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, anew bool // it was there; somebody makes another one at once
		said         string
	}{
		{"made by the movement", false, false, "index ledger of the target is not the one that the movement has made: that was deleted meanwhile"},
		{"there before", true, false, "index ledger of the target is gone: it was deleted meanwhile"},
		{"made by the movement, and made again", false, true, "index ledger of the target is not the one that the movement has made: that was deleted meanwhile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, history, "two")
			if c.before {
				r.put("ledger", "")
			}
			plan := r.plan("ledger")
			plan.IntoExisting = c.before
			direct, once := r.target, sync.Once{}
			r.through(func(q *http.Request, _ string) {
				if !strings.HasSuffix(q.URL.Path, "_bulk") {
					return
				}
				once.Do(func() {
					if err := direct.DeleteIndex(t.Context(), "ledger"); err != nil {
						t.Error(err)
					}
					if c.anew {
						if err := direct.CreateIndex(t.Context(), "ledger", []byte(`{}`)); err != nil {
							t.Error(err)
						}
					}
				})
			})
			id := r.start(plan)
			m, p := r.work(id)
			if left := map[bool]int64{false: -1, true: 0}[c.anew]; r.holds("ledger") != left {
				t.Errorf("%s: the index holds %d documents", m.State, r.holds("ledger"))
			}
			if m.State != movement.Held && m.State != movement.Failed || p.Failed > 0 || len(p.Failures) > 0 {
				t.Errorf("%s: %s; %d documents failed: %+v", m.State, m.Cause, p.Failed, p.Failures)
			}
			pieces, err := migrate.FailedPieces(t.Context(), r.driver, id)
			if err != nil || len(pieces) == 0 || !strings.Contains(pieces[0].Cause, c.said) {
				t.Errorf("%s: %s\n%+v, %v", m.State, m.Cause, pieces, err)
			}
			r.tell(id, movement.Abort)
			if m, _ := r.work(id); m.State != movement.Aborted || len(ways(t, r.target)) > 0 {
				t.Errorf("%s: %s, left are %v", m.State, m.Cause, ways(t, r.target))
			}
		})
	}
}

// TestAnAliasThatSomebodyRemoves is made again, and nothing is lost.
func TestAnAliasThatSomebodyRemoves(t *testing.T) {
	r := newRig(t, history, "two")
	direct, once := r.target, sync.Once{}
	r.through(func(q *http.Request, _ string) {
		if strings.HasSuffix(q.URL.Path, "_bulk") {
			once.Do(func() {
				all := ways(t, direct)
				if len(all) != 1 {
					t.Errorf("the target has %v", all)
					return
				}
				index, alias, _ := strings.Cut(all[0], "/")
				if err := direct.ChangeAliases(t.Context(), []cluster.AliasAction{{Remove: true, Index: index, Alias: alias}}); err != nil {
					t.Error(err)
				}
			})
		}
	})
	id := r.start(r.plan("ledger"))
	if m, p := r.work(id); m.State != movement.Switched || p.Failed > 0 {
		t.Errorf("%s: %s, %+v", m.State, m.Cause, p.Failures)
	}
	r.tell(id, movement.Finish)
	if m, _ := r.work(id); m.State != movement.Finished || len(ways(t, r.target)) > 0 || r.holds("ledger") <= 0 {
		t.Errorf("%s: %s, left are %v", m.State, m.Cause, ways(t, r.target))
	}
}

// TestAnAliasThatIsRefused stops the movement at its index, with the right that it lacks; what was there stays.
func TestAnAliasThatIsRefused(t *testing.T) {
	for _, before := range []bool{false, true} {
		r := newRig(t, history, "two")
		if before {
			r.put("ledger", "")
		}
		c, err := cluster.New(r.url, refuser{})
		if err != nil {
			t.Fatal(err)
		}
		r.target = c
		id := r.start(r.plan("ledger"))
		m, p := r.work(id)
		if m.State != movement.Held && m.State != movement.Failed || !strings.Contains(p.Indices[0].Cause, "no permissions for [indices:admin/aliases]") || p.Acknowledged > 0 {
			t.Errorf("%s: %s, %+v", m.State, m.Cause, p.Indices)
		}
		if !before {
			continue
		}
		r.tell(id, movement.Abort)
		if m, _ := r.work(id); m.State != movement.Aborting && m.State != movement.Aborted {
			t.Errorf("%s: %s", m.State, m.Cause)
		}
	}
}

// refuser is a target whose credentials may not manage aliases.
type refuser struct{}

// RoundTrip is http.RoundTripper's.
func (refuser) RoundTrip(q *http.Request) (*http.Response, error) {
	var body bytes.Buffer
	if q.Body != nil {
		_, _ = body.ReadFrom(q.Body) // of a buffer
		q.Body = readable(body.String())
	}
	if strings.HasSuffix(q.URL.Path, "_aliases") && strings.Contains(body.String(), `"add"`) || q.Method == http.MethodPut && strings.Contains(body.String(), `"aliases"`) {
		const refusal = `{"error":{"type":"security_exception","reason":"no permissions for [indices:admin/aliases] and User [name=mover]"},"status":403}`
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: readable(refusal),
			ContentLength: int64(len(refusal)), Request: q}, nil
	}
	return http.DefaultTransport.RoundTrip(q)
}

// TestTheAliasOfAnIndexThatWasThere is there for as long as the movement lasts, killed at whichever change
// that it stores: finish and abort take it away, and leave the index, its documents, and what came.
func TestTheAliasOfAnIndexThatWasThere(t *testing.T) {
	for _, verb := range []movement.Verb{movement.Finish, movement.Abort} {
		t.Run(string(verb), func(t *testing.T) {
			every := int64(1)
			if testing.Short() {
				every = 7
			}
			for n, ended := int64(1), false; !ended && !t.Failed(); n += every {
				synctest.Test(t, func(t *testing.T) { ended = appends(t, verb, n) })
			}
		})
	}
}

// appends brings shelves into an index that is there, and ends that so; the process dies at the nth change,
// and another goes on. It reports whether there were less.
func appends(t *testing.T, verb movement.Verb, n int64) (ended bool) {
	l := emptyLibrary(t)
	l.put([]string{"shelves"}, `{"mappings":{"dynamic":false}}`) // which takes all of them
	l.put([]string{"shelves", "_doc", "theirs"}, `{"a":1}`)
	plan := l.shelves()
	plan.IntoExisting = true
	l.start("m", plan)
	mortal := &mortal{dies: n, after: n%2 == 0}
	goes := func() {
		if !mortal.dead.Load() {
			l.runs(mortal)
		}
		if mortal.dead.Load() {
			l.runs(nil)
		}
	}
	goes()
	if m, _ := l.look("m"); m.State != movement.Held && m.State != movement.Switched { // theirs is one too many
		t.Fatalf("killed at change %d: it is %s: %s\n%s", n, m.State, m.Cause, l.log)
	}
	all := ways(t, l.copied.target)
	if len(all) != 1 || !strings.HasPrefix(all[0], "shelves/shelves-Reshelve-") {
		t.Fatalf("killed at change %d: the target has %v", n, all)
	}
	ledger, err := l.driver.Ledger(t.Context(), "m")
	if err != nil || !slices.ContainsFunc(ledger, func(e movement.Entry) bool { return e.Kind == "alias" && e.Name == all[0] && e.Made }) {
		t.Fatalf("killed at change %d: the ledger has %v, %v", n, ledger, err)
	}
	l.tell("m", verb)
	goes()
	m, _ := l.look("m")
	if left := ways(t, l.copied.target); !m.State.Ended() || len(left) > 0 {
		t.Fatalf("killed at change %d: it is %s: %s, and the target has %v\n%s", n, m.State, m.Cause, left, l.log)
	}
	if count, err := l.copied.target.Count(t.Context(), "shelves"); err != nil || count != 63 {
		t.Fatalf("killed at change %d: %d documents, %v", n, count, err)
	}
	if left, err := l.store.List(t.Context(), "movement/m/"); err != nil || len(left) > 0 {
		t.Fatalf("killed at change %d: left are %v, %v", n, left, err)
	}
	return !mortal.dead.Load()
}

// TestLiveABatchThatComesAfterAnAbort: real servers, which make indices by themselves, do not make the one
// again that an abort has deleted, and what a batch held.
func TestLiveABatchThatComesAfterAnAbort(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	for _, v := range []servers.Version{servers.OpenSearch("1.3.0"), servers.OpenSearch("2.19.0"), servers.OpenSearch("3.0.0"),
		servers.Elasticsearch("7.10.2"), servers.Elasticsearch("7.17.29"), servers.Elasticsearch("8.15.0"), servers.Elasticsearch("9.0.0")} {
		t.Run(v.String(), func(t *testing.T) {
			server, err := servers.Start(t.Context(), v, servers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			for _, verb := range []movement.Verb{movement.Abort, movement.Finish} {
				r := newRig(t, history, "two")
				r.url = server.URL
				if r.target, err = cluster.New(server.URL, nil); err != nil {
					t.Fatal(err)
				}
				again := r.late()
				id := r.start(r.plan("ledger"))
				if m, p := r.work(id); m.State != movement.Switched || len(ways(t, r.target)) != 1 {
					t.Fatalf("%s: %s, %+v, %v", m.State, m.Cause, p.Indices, ways(t, r.target))
				}
				r.tell(id, verb)
				if m, _ := r.work(id); !m.State.Ended() || len(ways(t, r.target)) > 0 {
					t.Fatalf("%s: %s, left are %v", m.State, m.Cause, ways(t, r.target))
				}
				if err := r.target.DeleteIndex(t.Context(), "ledger"); err != nil { // after a finish a user does
					t.Fatal(err)
				}
				if answers := again(); r.holds("ledger") != -1 || !strings.Contains(answers, `"status":400`) {
					t.Errorf("after %s the index holds %d documents: %.300s", verb, r.holds("ledger"), answers)
				}
				if _, err := r.target.Do(t.Context(), http.MethodPut, []string{"ledger", "_doc", "1"}, nil, []byte(`{}`)); err != nil {
					t.Error(fmt.Errorf("the server makes no indices by itself: %w", err))
				}
				if err := r.target.DeleteIndex(t.Context(), "ledger"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

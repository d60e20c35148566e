package migrate_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// intendsTo leaves behind what a worker that dies before it makes a thing leaves behind.
func (r *rig) intendsTo(id string, e movement.Entry) {
	r.Helper()
	e.By = "w0"
	if err := r.driver.Intend(r.Context(), id, e); err != nil {
		r.Fatal(err)
	}
}

// leaves aborts a movement, which has to say that it left these things alone.
func (r *rig) leaves(id string, said ...string) {
	r.Helper()
	r.tell(id, movement.Abort)
	m, p := r.work(id)
	if m.State != movement.Aborted {
		r.Fatalf("%s: %s", m.State, m.Cause)
	}
	for _, words := range said {
		if !slices.ContainsFunc(p.Left, func(line string) bool { return strings.Contains(line, words) }) {
			r.Errorf("nothing is said of %s: %q", words, p.Left)
		}
	}
}

// theirStream makes a data stream with a document, as somebody else does.
func (r *rig) theirStream(docs int) {
	r.Helper()
	r.do("PUT", []string{"_index_template", "theirs"}, `{"index_patterns":["loans-*"],"data_stream":{}}`, nil)
	r.do("PUT", []string{"_data_stream", "loans-2024"}, "", nil)
	for range docs {
		r.do("POST", []string{"loans-2024", "_doc"}, `{"@timestamp":"2024-01-01T00:00:00Z"}`, nil)
	}
}

// TestAStreamThatIsNotProvedToBeOurs is not deleted: a worker has written down that it makes the
// stream, its request has failed, and somebody else has made one of that name since.
func TestAStreamThatIsNotProvedToBeOurs(t *testing.T) {
	for _, docs := range []int{0, 1} {
		r := newRig(t, streams, "only")
		id := r.start(appended(r))
		r.intendsTo(id, movement.Entry{Kind: "data-stream", Name: "loans-2024", Keep: true})
		r.theirStream(docs)
		r.leaves(id, "data stream loans-2024")
		if !r.has("_data_stream", "loans-2024") {
			t.Error("abort has deleted it, with its documents")
		}
	}
}

// TestAStreamThatAResumeAdopts: so when a resumed movement finds it and writes into it, since it
// is empty; one with documents is refused.
func TestAStreamThatAResumeAdopts(t *testing.T) {
	for _, docs := range []int{0, 1} {
		r := newRig(t, streams, "only")
		id := r.start(appended(r))
		r.intendsTo(id, movement.Entry{Kind: "data-stream", Name: "loans-2024", Keep: true})
		r.theirStream(docs)
		m, _ := r.work(id)
		if docs == 0 && m.State != movement.Switched || docs > 0 && !strings.Contains(m.Cause, "data stream loans-2024") {
			t.Fatalf("%s: %s", m.State, m.Cause)
		}
		r.leaves(id, "data stream loans-2024")
		if !r.has("_data_stream", "loans-2024") {
			t.Error("abort has deleted it")
		}
	}
}

// TestATemplateThatIsNotProvedToBeOurs is not deleted, also when a resume has met it.
func TestATemplateThatIsNotProvedToBeOurs(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		r := newRig(t, streams, "only")
		plan := r.plan("old-shelf")
		plan.Templates = allTemplates(r)
		id := r.start(plan)
		r.intendsTo(id, movement.Entry{Kind: string(migrate.ComposableTemplate), Name: "loans", Keep: true})
		r.do("PUT", []string{"_index_template", "loans"}, `{"index_patterns":["mine-*"]}`, nil)
		if resumed {
			if m, _ := r.work(id); m.State != movement.Switched {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
		}
		r.leaves(id, "template loans")
		if !r.has("_index_template", "loans") {
			t.Error("abort has deleted it")
		}
	}
}

// TestSettingsOfAnIndexThatIsNotProvedToBeOurs stay as they are.
func TestSettingsOfAnIndexThatIsNotProvedToBeOurs(t *testing.T) {
	r := newRig(t, "opensearch-2.19.0-basic", "first")
	id := r.start(r.plan("shelves"))
	r.intendsTo(id, movement.Entry{Kind: "index", Name: "shelves", Keep: true})
	r.intendsTo(id, movement.Entry{Kind: "settings", Name: "shelves", Before: []byte(`{"index.refresh_interval":"7s"}`)})
	r.do("PUT", []string{"shelves"}, `{"settings":{"index.refresh_interval":"3s"}}`, nil)
	r.do("PUT", []string{"shelves", "_doc", "theirs"}, `{"a":1}`, nil)
	r.leaves(id, "shelves is not the one that the movement made: its settings were left alone")
	settings, err := r.target.Settings(t.Context(), "shelves")
	if err != nil || settings["index.refresh_interval"] != "3s" {
		t.Errorf("%v %v", settings["index.refresh_interval"], err)
	}
}

// TestAnEmptyIndexThatIsNotProvedToBeOurs is not deleted, and keeps its settings: a worker has
// written down that it makes the index, somebody else has made one of that name, and writes to it
// before, or after, the movement has met it.
func TestAnEmptyIndexThatIsNotProvedToBeOurs(t *testing.T) {
	const said = "index ledger is there, and nothing proves that the movement made it"
	for _, resumed := range []bool{false, true} {
		for _, verb := range []movement.Verb{movement.Abort, movement.Finish} {
			r := newRig(t, history, "two")
			id := r.start(r.plan("ledger"))
			r.intendsTo(id, movement.Entry{Kind: "index", Name: "ledger", Keep: true})
			r.intendsTo(id, movement.Entry{Kind: "settings", Name: "ledger", Before: []byte(`{"index.refresh_interval":"7s"}`)})
			r.do("PUT", []string{"ledger"}, `{"settings":{"index.refresh_interval":"3s"}}`, nil)
			if resumed {
				m, p := r.work(id)
				if m.State != movement.Switched || !p.Indices[0].Existed {
					t.Fatalf("%s: %s, %+v", m.State, m.Cause, p.Indices)
				}
				r.do("PUT", []string{"ledger", "_doc", "theirs"}, `{"a":1}`, nil)
			} else if verb == movement.Finish {
				continue
			}
			if verb == movement.Abort {
				r.leaves(id, said)
			} else {
				r.tell(id, verb)
				if m, _ := r.work(id); m.State != movement.Finished {
					t.Fatalf("%s: %s", m.State, m.Cause)
				}
			}
			if !r.has("ledger") {
				t.Fatal("abort has deleted it")
			}
			settings, err := r.target.Settings(t.Context(), "ledger")
			if err != nil || settings["index.refresh_interval"] != "3s" {
				t.Errorf("%v %v", settings["index.refresh_interval"], err)
			}
		}
	}
}

// TestAnIndexOfOthersAtTheMomentOfMaking: they make it between the movement's look and its request.
func TestAnIndexOfOthersAtTheMomentOfMaking(t *testing.T) {
	r := newRig(t, history, "two")
	direct := r.target
	through, err := cluster.New(r.url, meddler{func(q *http.Request, _ string) {
		if q.Method == http.MethodPut && q.URL.Path == "/ledger" && !r.has("ledger") {
			if err := direct.CreateIndex(t.Context(), "ledger", []byte(`{"mappings":{"_meta":{"reshelve_movement":"m1"}}}`)); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.target = through
	id := r.start(r.plan("ledger"))
	if m, p := r.work(id); m.State != movement.Switched || !p.Indices[0].Existed {
		t.Fatalf("%s: %s, %+v", m.State, m.Cause, p.Indices)
	}
	r.leaves(id, "index ledger is there, and nothing proves that the movement made it")
	if !r.has("ledger") {
		t.Error("abort has deleted it")
	}
}

// losing loses the answer to one request, which the target has carried out; others do something before anything can be
// repeated.
type losing struct {
	what string // method and path
	then func()
	lost *bool
}

// RoundTrip is http.RoundTripper's.
func (l losing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || *l.lost || r.Method+" "+r.URL.Path != l.what {
		return answer, err
	}
	_ = answer.Body.Close()
	*l.lost = true
	l.then()
	return nil, io.ErrUnexpectedEOF
}

// TestADeletionWhoseAnswerIsLost is not repeated by an abort when others have made a thing of that name meanwhile, as
// whoever goes on writing to an index makes it again.
func TestADeletionWhoseAnswerIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		repository, snapshot string
		plan                 func(r *rig) migrate.Plan
		made                 []string // the thing
		theirs               func(r *rig)
		said                 string
	}{
		"index": {history, "two", func(r *rig) migrate.Plan { return r.plan("ledger") }, []string{"ledger"},
			func(r *rig) { r.do("PUT", []string{"ledger", "_doc", "theirs"}, `{"a":1}`, nil) }, "index ledger"},
		"stream": {streams, "only", appended, []string{"_data_stream", "loans-2024"},
			func(r *rig) { r.do("PUT", []string{"_data_stream", "loans-2024"}, "", nil) }, "data stream loans-2024"},
		"template": {streams, "only", func(r *rig) migrate.Plan {
			plan := r.plan("old-shelf")
			plan.Templates = allTemplates(r)
			return plan
		}, []string{"_index_template", "loans"},
			func(r *rig) { r.do("PUT", []string{"_index_template", "loans"}, `{"index_patterns":["mine-*"]}`, nil) }, "template loans"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.repository, tc.snapshot)
			id := r.start(tc.plan(r))
			if m, _ := r.work(id); m.State != movement.Switched || !r.has(tc.made...) {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
			direct, lost := *r, false
			var err error
			r.target, err = cluster.Open(t.Context(), cluster.Options{URL: r.url,
				Transport: losing{"DELETE /" + strings.Join(tc.made, "/"), func() { tc.theirs(&direct) }, &lost}})
			if err != nil {
				t.Fatal(err)
			}
			r.leaves(id, tc.said)
			if !lost || !r.has(tc.made...) {
				t.Errorf("the answer was lost: %v; abort has deleted what others have made", lost)
			}
		})
	}
}

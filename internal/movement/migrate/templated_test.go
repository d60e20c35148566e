package migrate_test

import (
	"context"
	"io"
	"log/slog"
	"time"

	"encoding/json"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// showing are the aliases of an index but for the one that the movement writes through.
func (r *rig) showing(index string) (all map[string]json.RawMessage) {
	r.Helper()
	indices, err := r.target.Aliases(r.Context(), index)
	if err != nil {
		r.Fatal(err)
	}
	all = indices[index]
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return strings.Contains(name, "-Reshelve-") })
	return all
}

// watched notes which aliases show the index whenever documents are sent to it.
func (r *rig) watched(index string) (seen func() []string) {
	r.Helper()
	direct := *r
	var mu sync.Mutex
	var all []string
	batches := 0
	r.through(func(q *http.Request, _ string) {
		if !strings.HasSuffix(q.URL.Path, "_bulk") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		batches++
		for name := range direct.showing(index) {
			all = append(all, name)
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		if batches == 0 {
			r.Error("no documents were sent")
		}
		return slices.Compact(slices.Sorted(slices.Values(all)))
	}
}

// beforehand are templates that a target has, each giving old-shelf an alias with a filter.
var beforehand = map[string][][2]string{
	"legacy":     {{"_template/theirs", `{"index_patterns":["old-*"],"aliases":{"reading":{"filter":{"term":{"kind":"folio"}}},"{index}-too":{"routing":"3"}}}`}},
	"composable": {{"_index_template/theirs", `{"index_patterns":["old-*"],"template":{"aliases":{"reading":{"filter":{"term":{"kind":"folio"}}},"old-shelf-too":{"routing":"3"}}}}`}},
	"component": {{"_component_template/part", `{"template":{"aliases":{"reading":{"filter":{"term":{"kind":"folio"}}},"old-shelf-too":{"routing":"3"}}}}`},
		{"_index_template/theirs", `{"index_patterns":["old-*"],"composed_of":["part"]}`}},
}

// TestNoAliasOfATemplateShowsAHalfFullIndex: neither one of a template that the target has, of whatever kind, nor
// of one that is moved along. When everything was compared, those of the target's templates lead to it as they
// would have, beside those of the snapshot.
func TestNoAliasOfATemplateShowsAHalfFullIndex(t *testing.T) {
	for kind, templates := range beforehand {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t, streams, "only")
			for _, template := range templates {
				r.do("PUT", strings.Split(template[0], "/"), template[1], nil)
			}
			plan := r.plan("old-shelf")
			plan.Templates = allTemplates(r)
			seen := r.watched("old-shelf")
			id := r.start(plan)
			m, _ := r.work(id)
			if m.State != movement.Switched {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
			if half := seen(); len(half) > 0 {
				t.Errorf("while it was filled, it was shown by %v", half)
			}
			after := r.showing("old-shelf")
			if got := slices.Sorted(maps.Keys(after)); !slices.Equal(got, []string{"folios", "old-shelf-too", "olds", "reading"}) {
				t.Errorf("afterwards it is shown by %v", got)
			}
			if string(after["reading"]) != `{"filter":{"term":{"kind":"folio"}}}` || string(after["old-shelf-too"]) != `{"index_routing":"3","search_routing":"3"}` {
				t.Errorf("with %s", after)
			}
			r.tell(id, movement.Abort)
			if m, _ := r.work(id); m.State != movement.Aborted || r.has("old-shelf") {
				t.Errorf("%s: %s", m.State, m.Cause)
			}
		})
	}
}

// TestNoAliasesMeansNone: also none of a template of the target.
func TestNoAliasesMeansNone(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_template", "theirs"}, beforehand["legacy"][0][1], nil)
	plan := r.plan("old-shelf")
	plan.Metadata = migrate.Metadata{NoAliases: true}
	if m, _ := r.work(r.start(plan)); m.State != movement.Switched || len(r.showing("old-shelf")) != 0 {
		t.Errorf("%s: %s; shown by %v", m.State, m.Cause, r.showing("old-shelf"))
	}
}

// TestAMovedTemplateAddsNothing to the indices that are moved with it.
func TestAMovedTemplateAddsNothing(t *testing.T) {
	r := newRig(t, streams, "only")
	plan := r.plan("old-shelf")
	plan.Templates = allTemplates(r)
	var before []string
	direct := *r
	r.through(func(q *http.Request, _ string) {
		if q.Method == http.MethodPut && q.URL.Path == "/old-shelf" && direct.has("_template", "old-style") {
			before = append(before, "old-style")
		}
	})
	if m, _ := r.work(r.start(plan)); m.State != movement.Switched || !r.has("_template", "old-style") || len(before) > 0 {
		t.Errorf("%s: %s; there before the index was %v", m.State, m.Cause, before)
	}
}

// TestAMovementOfAnEarlierVersion makes all templates in its phase metadata: it has no other.
func TestAMovementOfAnEarlierVersion(t *testing.T) {
	r := newRig(t, streams, "only")
	plan := r.plan("old-shelf")
	plan.Templates = allTemplates(r)
	body, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	phases := slices.DeleteFunc(migrate.Phases(), func(p movement.Phase) bool { return p.Name == "templates" })
	if err := r.driver.Plan(t.Context(), movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: phases, KeepWayBack: true, Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	r.tell("m", movement.Start)
	seen := r.watched("old-shelf")
	m, _ := r.work("m")
	if m.State != movement.Switched || outcome(&m, "metadata") != "3 templates made" || len(seen()) > 0 {
		t.Errorf("%s: %s; %s; while it was filled, it was shown by %v", m.State, m.Cause, outcome(&m, "metadata"), seen())
	}
	if after := r.showing("old-shelf"); after["olds"] == nil || after["folios"] == nil {
		t.Errorf("afterwards it is shown by %v", after)
	}
}

// outcome is what a phase of a movement has told.
func outcome(m *movement.Record, phase string) string {
	for i := range m.Phases {
		if m.Phases[i].Name == phase {
			return m.Phases[i].Outcome
		}
	}
	return "there is no phase " + phase
}

// dying lets the process of a worker end at a request to the target: before it is sent, or when it was answered.
type dying struct {
	at       func(q *http.Request, body string) bool
	answered bool
	die      func()
}

func (d dying) RoundTrip(q *http.Request) (*http.Response, error) {
	body := ""
	if q.Body != nil {
		b, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		body, q.Body = string(b), readable(string(b))
	}
	dies := d.at(q, body)
	if dies && !d.answered {
		d.die()
		return nil, q.Context().Err()
	}
	answer, err := http.DefaultTransport.RoundTrip(q)
	if dies {
		d.die()
	}
	return answer, err
}

// TestAWorkerThatDiesBesideTheAliasesOfATemplate leaves an index that is empty; whoever goes on takes them away before
// any document comes, and gives them back at the end. So it is with a final pipeline, which here is none that exists: it
// would refuse every document.
func TestAWorkerThatDiesBesideTheAliasesOfATemplate(t *testing.T) {
	created := func(q *http.Request, _ string) bool { return q.Method == http.MethodPut && q.URL.Path == "/old-shelf" }
	removal := func(q *http.Request, body string) bool {
		return q.URL.Path == "/_aliases" && strings.Contains(body, `"remove"`)
	}
	without := func(q *http.Request, body string) bool {
		return q.URL.Path == "/old-shelf/_settings" && strings.Contains(body, "_none")
	}
	for _, c := range []struct {
		name     string
		at       func(*http.Request, string) bool
		answered bool
	}{
		{"when the index was made", created, true}, {"before they are removed", removal, false}, {"when they were removed", removal, true},
		{"before the pipeline is taken away", without, false}, {"when the pipeline was taken away", without, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, streams, "only")
			r.do("PUT", []string{"_template", "theirs"}, `{"index_patterns":["old-*"],"aliases":{"reading":{}},"settings":{"index.final_pipeline":"absent"}}`, nil)
			direct := r.target
			ctx, die := context.WithCancel(t.Context())
			defer die()
			mortal, err := cluster.Open(t.Context(), cluster.Options{URL: r.url, Transport: dying{c.at, c.answered, die}})
			if err != nil {
				t.Fatal(err)
			}
			r.target = mortal
			id := r.start(r.plan("old-shelf"))
			_ = worker.Run(ctx, r.driver, map[movement.Kind]worker.Lane{movement.Migrate: r.lane},
				worker.Options{Name: "mortal", Slots: 1, Movement: id, Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if ctx.Err() == nil {
				t.Fatal("it has not died")
			}
			r.target = direct
			if n, err := direct.Count(t.Context(), "old-shelf"); err != nil || n != 0 {
				t.Errorf("it left %d documents, %v", n, err)
			}
			r.lane = &migrate.Lane{Open: r.lane.Open, Reach: r.lane.Reach} // of another process
			seen := r.watched("old-shelf")
			m, _ := r.work(id)
			if m.State != movement.Switched || len(seen()) > 0 {
				t.Fatalf("%s: %s; shown by %v while it was filled", m.State, m.Cause, seen())
			}
			if after := r.showing("old-shelf"); after["reading"] == nil || after["folios"] == nil {
				t.Errorf("afterwards it is shown by %v", after)
			}
			settings, err := direct.Settings(t.Context(), "old-shelf")
			if err != nil || settings["index.final_pipeline"] != "absent" {
				t.Errorf("afterwards its final pipeline is %v, %v", settings["index.final_pipeline"], err)
			}
		})
	}
}

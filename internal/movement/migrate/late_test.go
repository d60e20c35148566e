package migrate_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestALateRequestThatTakesAwayIsNoticed: one that a proxy has held until the movement has put on what a template adds,
// and that comes before its end. The report names what is missing, and how to put it on.
func TestALateRequestThatTakesAwayIsNoticed(t *testing.T) {
	for _, comes := range []bool{false, true} {
		r := newRig(t, streams, "only")
		r.do("PUT", []string{"_template", "theirs"}, `{"index_patterns":["old-*"],"aliases":{"reading":{},"olds":{}},"settings":{"index.final_pipeline":"absent"}}`, nil)
		id := r.start(r.plan("old-shelf"))
		m, _ := r.work(id)
		settings, err := r.target.Settings(t.Context(), "old-shelf")
		if m.State != movement.Switched || err != nil || settings["index.final_pipeline"] != "absent" || len(r.showing("old-shelf")) != 3 {
			t.Fatalf("%s: %s; %v %v, shown by %v", m.State, m.Cause, settings, err, r.showing("old-shelf"))
		}
		if comes {
			r.do("POST", []string{"_aliases"}, `{"actions":[{"remove":{"index":"old-shelf","alias":"reading"}}]}`, nil)
			r.do("PUT", []string{"old-shelf", "_settings"}, `{"index.final_pipeline":"_none"}`, nil)
		}
		r.tell(id, movement.Finish)
		m, p := r.work(id)
		left := strings.Join(p.Left, "\n")
		if m.State != movement.Finished || comes != (len(p.Left) == 2) || comes != strings.Contains(left, "PUT /old-shelf/_alias/reading") ||
			comes != strings.Contains(left, `PUT /old-shelf/_settings {"index.final_pipeline":"absent"}`) || !comes && left != "" {
			t.Errorf("%s: %s\n%s", m.State, m.Cause, left)
		}
		settings, err = r.target.Settings(t.Context(), "old-shelf")
		if is := settings["index.final_pipeline"]; err != nil || is != map[bool]any{false: "absent", true: "_none"}[comes] {
			t.Errorf("%v: what the report says is not so: %v", err, is)
		}
	}
}

// TestAnOwnersFinalPipelineStays: one that somebody has put on after the movement has switched, and before it is finished.
func TestAnOwnersFinalPipelineStays(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_template", "theirs"}, `{"index_patterns":["old-*"],"settings":{"index.final_pipeline":"absent"}}`, nil)
	id := r.start(r.plan("old-shelf"))
	if m, _ := r.work(id); m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	r.do("PUT", []string{"old-shelf", "_settings"}, `{"index.final_pipeline":"other"}`, nil)
	r.tell(id, movement.Finish)
	m, p := r.work(id)
	settings, err := r.target.Settings(t.Context(), "old-shelf")
	if err != nil || m.State != movement.Finished || len(p.Left) > 0 || settings["index.final_pipeline"] != "other" {
		t.Errorf("%s: %s; %v %v %v", m.State, m.Cause, err, p.Left, settings["index.final_pipeline"])
	}
}

// TestNothingIsPutOnWhileARequestMayBeUnderWay: the lease of a worker that has made the index, and did not complete that, ends
// late. What it has sent may take away until some heartbeats after that.
func TestNothingIsPutOnWhileARequestMayBeUnderWay(t *testing.T) {
	r := newRig(t, streams, "only")
	r.do("PUT", []string{"_template", "theirs"}, `{"index_patterns":["old-*"],"aliases":{"reading":{}},"settings":{"index.final_pipeline":"absent"}}`, nil)
	plan := r.plan("old-shelf")
	rest := 3 * plan.Policy.Heartbeat
	var mu sync.Mutex
	var until, alias, pipeline time.Time
	r.through(func(q *http.Request, body string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.HasSuffix(q.URL.Path, "_bulk") && until.IsZero():
			until = time.Now().Add(time.Second)
			_, err := coord.Update(q.Context(), r.driver.Store(), work.Prefix("m1")+"index/old-shelf", func(value []byte) ([]byte, error) {
				var piece map[string]any
				err := json.Unmarshal(value, &piece)
				if err == nil {
					piece["formerUntil"] = until
					value, err = json.Marshal(piece)
				}
				return value, err
			})
			if err != nil {
				t.Error(err)
			}
		case strings.HasSuffix(q.URL.Path, "_aliases") && strings.Contains(body, `"reading"`):
			alias = time.Now()
		case strings.HasSuffix(q.URL.Path, "_settings") && strings.Contains(body, `"absent"`):
			pipeline = time.Now()
		}
	})
	if m, _ := r.work(r.start(plan)); m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	if quiet := until.Add(rest); until.IsZero() || alias.Before(quiet) || pipeline.Before(quiet) {
		t.Errorf("until %s: the alias was put on at %s, the pipeline at %s", quiet, alias, pipeline)
	}
}

package migrate_test

import (
	"net/http"
	"strings"
	"testing"

	coords "github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// history has an index ledger in its snapshot two.
const history = "elasticsearch-1.7.6-history"

// holds is how many documents an index of the target has; -1 when there is no such index.
func (r *rig) holds(index string) int64 {
	r.Helper()
	if !r.has(index) {
		return -1
	}
	n, err := r.target.Count(r.Context(), index)
	if err != nil {
		r.Fatal(err)
	}
	return n
}

// put makes an index, with a document when body is not empty, as somebody else does.
func (r *rig) put(index, body string) {
	r.Helper()
	if err := r.target.CreateIndex(r.Context(), index, []byte(`{}`)); err != nil {
		r.Fatal(err)
	}
	if body == "" {
		return
	}
	if _, err := r.target.Do(r.Context(), http.MethodPut, []string{index, "_doc", "theirs"}, nil, []byte(body)); err != nil {
		r.Fatal(err)
	}
}

// intends leaves behind what a worker that dies before it makes an index leaves behind.
func (r *rig) intends(id, index string) {
	r.Helper()
	if err := r.driver.Intend(r.Context(), id, movement.Entry{Kind: "index", Name: index, Keep: true, By: "w0"}); err != nil {
		r.Fatal(err)
	}
}

// losesItsAnswer lets the target make an index when it is asked to, and the answer be lost.
func (r *rig) losesItsAnswer(index string) {
	r.Helper()
	direct, lost := r.target, false
	through, err := cluster.New(r.url, meddler{func(q *http.Request, body string) {
		if q.Method != http.MethodPut || q.URL.Path != "/"+index || lost {
			return
		}
		lost = true
		if err := direct.CreateIndex(r.Context(), index, []byte(body)); err != nil {
			r.Error(err)
		}
	}})
	if err != nil {
		r.Fatal(err)
	}
	r.target = through
}

// TestAbortDeletesWhatTheMovementMade: also when the answer to its request was lost.
func TestAbortDeletesWhatTheMovementMade(t *testing.T) {
	for _, died := range []bool{false, true} {
		r := newRig(t, history, "two")
		r.startAs("m", r.plan("ledger"))
		if died {
			r.losesItsAnswer("ledger")
		}
		if m, _ := r.work("m"); m.State != movement.Switched || r.holds("ledger") <= 0 {
			t.Fatalf("%s, %s: %d documents", m.State, m.Cause, r.holds("ledger"))
		}
		r.tell("m", movement.Abort)
		if m, _ := r.work("m"); m.State != movement.Aborted || r.holds("ledger") != -1 {
			t.Errorf("died %v: %s, %s: %d documents", died, m.State, m.Cause, r.holds("ledger"))
		}
	}
}

// TestAbortLeavesWhatHasTakenTheName of an index that somebody has deleted: an alias, or a data stream.
func TestAbortLeavesWhatHasTakenTheName(t *testing.T) {
	for _, stream := range []bool{false, true} {
		r := newRig(t, history, "two")
		r.startAs("m", r.plan("ledger"))
		if m, _ := r.work("m"); m.State != movement.Switched {
			t.Fatalf("%s, %s", m.State, m.Cause)
		}
		r.do("DELETE", []string{"ledger"}, "", nil)
		if stream {
			r.do("PUT", []string{"_index_template", "t"}, `{"index_patterns":["ledger"],"data_stream":{}}`, nil)
			r.do("PUT", []string{"_data_stream", "ledger"}, "", nil)
		} else {
			r.do("PUT", []string{"other"}, `{"aliases":{"ledger":{}}}`, nil)
		}
		r.tell("m", movement.Abort)
		m, progress := r.work("m")
		if m.State != movement.Aborted || len(progress.Left) == 0 || !strings.Contains(progress.Left[0], "ledger") || r.holds("ledger") != 0 {
			t.Errorf("a stream %v: %s, %s: left %q; %d documents", stream, m.State, m.Cause, progress.Left, r.holds("ledger"))
		}
	}
}

// TestAbortGoesPastADamagedLedger: the rest is undone, and what could not be read is named.
func TestAbortGoesPastADamagedLedger(t *testing.T) {
	for _, damage := range []string{"{", `{"kind":"index","name":"somebody-elses"}`} {
		r := newRig(t, "opensearch-2.19.0-basic", "")
		r.startAs("m", r.plan("shelves", "loans"))
		if m, _ := r.work("m"); m.State != movement.Switched {
			t.Fatalf("%s, %s", m.State, m.Cause)
		}
		if _, err := coords.Update(t.Context(), r.driver.Store(), movement.LedgerKey("m", "index", "shelves"), func([]byte) ([]byte, error) { return []byte(damage), nil }); err != nil {
			t.Fatal(err)
		}
		r.put("somebody-elses", "")
		r.tell("m", movement.Abort)
		m, progress := r.work("m")
		if m.State != movement.Aborted || r.holds("loans") != -1 || r.holds("shelves") == -1 || r.holds("somebody-elses") != 0 {
			t.Errorf("%s, %s: %d of the one, %d of the other", m.State, m.Cause, r.holds("loans"), r.holds("shelves"))
		}
		if len(progress.Left) != 1 || !strings.Contains(progress.Left[0], "index/shelves") {
			t.Errorf("left %q", progress.Left)
		}
		if left, err := r.driver.Store().List(t.Context(), "movement/m/"); err != nil || len(left) > 0 {
			t.Errorf("%v %v", left, err)
		}
	}
}

// TestAnIndexOfSomebodyElseStays: whenever they have made it.
func TestAnIndexOfSomebodyElseStays(t *testing.T) {
	t.Run("between our look and our making", func(t *testing.T) {
		r := newRig(t, history, "two")
		r.startAs("m", r.plan("ledger"))
		r.intends("m", "ledger")
		r.put("ledger", `{"a":1}`)
		if m, progress := r.work("m"); m.State != movement.Held || !strings.Contains(progress.Indices[0].Cause, "holds 1 document") {
			t.Fatalf("%s, %s, %+v", m.State, m.Cause, progress.Indices)
		}
		r.tell("m", movement.Abort)
		if m, _ := r.work("m"); m.State != movement.Aborted || r.holds("ledger") != 1 {
			t.Errorf("%s: %d documents", m.State, r.holds("ledger"))
		}
	})
	t.Run("so, and they are written into", func(t *testing.T) {
		r := newRig(t, history, "two")
		plan := r.plan("ledger")
		plan.IntoExisting = true
		r.startAs("m", plan)
		r.intends("m", "ledger")
		r.put("ledger", `{"a":1}`)
		if m, progress := r.work("m"); m.State != movement.Switched || !progress.Indices[0].Existed {
			t.Fatalf("%s, %s, %+v", m.State, m.Cause, progress.Indices)
		}
		r.tell("m", movement.Abort)
		if m, _ := r.work("m"); m.State != movement.Aborted || r.holds("ledger") <= 1 {
			t.Errorf("%s: %d documents", m.State, r.holds("ledger"))
		}
	})
	t.Run("instead of ours", func(t *testing.T) {
		r := newRig(t, history, "two")
		r.startAs("m", r.plan("ledger"))
		r.work("m")
		if err := r.target.DeleteIndex(t.Context(), "ledger"); err != nil {
			t.Fatal(err)
		}
		r.put("ledger", "")
		r.tell("m", movement.Abort)
		m, progress := r.work("m")
		if m.State != movement.Aborted || r.holds("ledger") != 0 || len(progress.Left) != 1 {
			t.Errorf("%s: %d documents, left %q", m.State, r.holds("ledger"), progress.Left)
		}
	})
}

// TestAnIndexThatIsReplacedIsNeverProved: somebody deletes what the movement has made, and
// another of its name comes to hold every document.
func TestAnIndexThatIsReplacedIsNeverProved(t *testing.T) {
	r := newRig(t, history, "two")
	r.startAs("m", r.plan("ledger"))
	if m, _ := r.work("m"); m.State != movement.Switched {
		t.Fatal(m.State, m.Cause)
	}
	if err := r.target.DeleteIndex(t.Context(), "ledger"); err != nil {
		t.Fatal(err)
	}
	r.put("ledger", "")
	r.tell("m", movement.Repair)
	if m, _ := r.work("m"); m.State != movement.Failed && m.State != movement.Held || !strings.Contains(m.Cause, "is not the one that the movement has made") {
		t.Errorf("%s: %s", m.State, m.Cause)
	}
}

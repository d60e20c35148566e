package migrate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
)

const history = "../testdata/repositories/elasticsearch-1.7.6-history/repo"

// put makes an index, with a document when body is not empty, as somebody else does.
func (p *place) put(index, body string) {
	p.t.Helper()
	if err := p.target.CreateIndex(p.t.Context(), index, []byte(`{}`)); err != nil {
		p.t.Fatal(err)
	}
	if body == "" {
		return
	}
	if _, err := p.target.Do(p.t.Context(), http.MethodPut, []string{index, "_doc", "theirs"}, nil, []byte(body)); err != nil {
		p.t.Fatal(err)
	}
}

// intends leaves behind what a worker that dies before it makes an index leaves behind.
func (p *place) intends(id, index string) {
	p.t.Helper()
	if err := p.driver.Intend(p.t.Context(), id, movement.Entry{Kind: "index", Name: index, Keep: true, By: "w0"}); err != nil {
		p.t.Fatal(err)
	}
}

// TestAbortDeletesWhatTheMovementMade: also when the worker died right after making it.
func TestAbortDeletesWhatTheMovementMade(t *testing.T) {
	for _, died := range []bool{false, true} {
		p := newPlace(t, history)
		p.plan("m", "two", "ledger", nil)
		if died {
			p.intends("m", "ledger")
			p.put("ledger", "")
		}
		if m, _ := p.work("m"); m.State != movement.Switched || p.holds("ledger") <= 0 {
			t.Fatalf("%s, %s: %d documents", m.State, m.Cause, p.holds("ledger"))
		}
		p.tell("m", movement.Abort)
		if m, _ := p.work("m"); m.State != movement.Aborted || p.holds("ledger") != -1 {
			t.Errorf("died %v: %s, %s: %d documents", died, m.State, m.Cause, p.holds("ledger"))
		}
	}
}

// TestAnIndexOfSomebodyElseStays: whenever they have made it.
func TestAnIndexOfSomebodyElseStays(t *testing.T) {
	t.Run("between our look and our making", func(t *testing.T) {
		p := newPlace(t, history)
		p.plan("m", "two", "ledger", nil)
		p.intends("m", "ledger")
		p.put("ledger", `{"a":1}`)
		if m, progress := p.work("m"); m.State != movement.Held || !strings.Contains(progress.Indices[0].Cause, "holds 1 document") {
			t.Fatalf("%s, %s, %+v", m.State, m.Cause, progress.Indices)
		}
		p.tell("m", movement.Abort)
		if m, _ := p.work("m"); m.State != movement.Aborted || p.holds("ledger") != 1 {
			t.Errorf("%s: %d documents", m.State, p.holds("ledger"))
		}
	})
	t.Run("so, and they are written into", func(t *testing.T) {
		p := newPlace(t, history)
		p.plan("m", "two", "ledger", func(plan *migrate.Plan) { plan.IntoExisting = true })
		p.intends("m", "ledger")
		p.put("ledger", `{"a":1}`)
		if m, progress := p.work("m"); m.State != movement.Switched || !progress.Indices[0].Existed {
			t.Fatalf("%s, %s, %+v", m.State, m.Cause, progress.Indices)
		}
		p.tell("m", movement.Abort)
		if m, _ := p.work("m"); m.State != movement.Aborted || p.holds("ledger") <= 1 {
			t.Errorf("%s: %d documents", m.State, p.holds("ledger"))
		}
	})
	t.Run("instead of ours", func(t *testing.T) {
		p := newPlace(t, history)
		p.plan("m", "two", "ledger", nil)
		p.work("m")
		if err := p.target.DeleteIndex(t.Context(), "ledger"); err != nil {
			t.Fatal(err)
		}
		p.put("ledger", "")
		p.tell("m", movement.Abort)
		m, progress := p.work("m")
		if m.State != movement.Aborted || p.holds("ledger") != 0 || len(progress.Left) != 1 {
			t.Errorf("%s: %d documents, left %q", m.State, p.holds("ledger"), progress.Left)
		}
	})
}

// TestAnIndexThatIsReplacedIsNeverProved: somebody deletes what the movement has made, and
// another of its name comes to hold every document.
func TestAnIndexThatIsReplacedIsNeverProved(t *testing.T) {
	p := newPlace(t, history)
	p.plan("m", "two", "ledger", nil)
	if m, _ := p.work("m"); m.State != movement.Switched {
		t.Fatal(m.State, m.Cause)
	}
	if err := p.target.DeleteIndex(t.Context(), "ledger"); err != nil {
		t.Fatal(err)
	}
	p.put("ledger", "")
	p.tell("m", movement.Repair)
	if m, _ := p.work("m"); m.State != movement.Failed && m.State != movement.Held || !strings.Contains(m.Cause, "is not the one that the movement has made") {
		t.Errorf("%s: %s", m.State, m.Cause)
	}
}

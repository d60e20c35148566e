package migrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
)

// TestDocumentsAreTransformed: what is sent, and what verify expects, is what the steps make of
// the snapshot; a delta goes on with them; what they cannot do is listed.
func TestDocumentsAreTransformed(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	const steps = `
steps:
  - {index: shelves, when: doc.n != nil and doc.n % 5 == 0, drop: true}
  - {index: shelves, rename: {kind: sort}, set: {origin: index + "/" + id}}
  - {index: shelves, remove: knid}
  - {index: shelf, drop: true}
`
	transformed := func(plan *migrate.Plan) { plan.Transform = steps }
	check := func(name string, progress *migrate.Progress) {
		t.Helper()
		expected, dropped := 0, 0
		var all [2]int64 // that are kept and dropped, those included that are not looked at
		for id, doc := range p.held(name, "shelves") {
			_, source, _ := strings.Cut(doc, " ")
			var was, is map[string]any
			if err := json.Unmarshal([]byte(source), &was); err != nil {
				t.Fatal(err)
			}
			n, is5 := was["n"].(float64)
			is5 = is5 && int(n)%5 == 0
			if is5 {
				all[1]++
			} else {
				all[0]++
			}
			id, routing, _ := strings.Cut(id, "/")
			if routing != "" || strings.ContainsAny(id, "./% ") {
				continue
			}
			text := p.doc("shelves", id)
			if is5 {
				if dropped++; text != "" {
					t.Errorf("%s was not dropped: %s", id, text)
				}
				continue
			}
			if expected++; json.Unmarshal([]byte(text), &is) != nil || is["origin"] != "shelves/"+id || is["sort"] != was["kind"] || is["kind"] != nil {
				t.Errorf("%s is %s, and was %s", id, text, source)
			}
		}
		if expected == 0 || dropped == 0 {
			t.Error(expected, dropped)
		}
		for _, v := range progress.Verified {
			if v.Expected != v.Found {
				t.Errorf("%s: %s in the snapshot, %s on the target", v.Index, v.Expected, v.Found)
			}
		}
		for i, want := range []migrate.StepProgress{
			{StepCounts: transform.StepCounts{Step: 1, Matched: all[1], Dropped: all[1]}, Indices: 1},
			{StepCounts: transform.StepCounts{Step: 2, Matched: all[0], Changed: all[0]}, Indices: 1},
			{StepCounts: transform.StepCounts{Step: 3, Matched: all[0]}, Indices: 1},
			{StepCounts: transform.StepCounts{Step: 4}},
		} {
			if len(progress.Steps) != 4 {
				t.Fatalf("%+v", progress.Steps)
			}
			if want.Says = progress.Steps[i].Says; progress.Steps[i] != want {
				t.Errorf("%+v, want %+v", progress.Steps[i], want)
			}
		}
		if !progress.Balanced() {
			t.Errorf("%+v", progress.Counts)
		}
	}
	progress := p.moves("full", "first", transformed)
	if progress.Dropped == 0 {
		t.Errorf("%+v", progress.Counts)
	}
	check("first", progress)
	check("second", p.moves("delta", "second", func(plan *migrate.Plan) {
		transformed(plan)
		since("full", "first")(plan)
	}))
}

// TestWhatCannotBeTransformed is not sent, and listed.
func TestWhatCannotBeTransformed(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	plan := p.plan("second")
	plan.Transform = `{"steps":[{"index":"loans","set":{"year":"split(doc.none.other, \"-\")[0]"}}]}`
	p.start("m", plan)
	m, progress := p.work("m")
	if m.State != movement.Held || progress.Failed == 0 || len(progress.Failures) != 1 {
		t.Fatalf("it is %s: %s; %+v %v", m.State, m.Cause, progress.Counts, progress.Failures)
	}
	if c := progress.Failures[0]; c.Type != "transformation_failed" || c.Documents != int64(len(p.held("second", "loans"))) || c.Index != "loans" {
		t.Errorf("%+v", c)
	}
	plan.AllowFailures = progress.Failed
	p.tell("m", movement.Redrive)
	if m, again := p.work("m"); m.State != movement.Held || again.Failed != progress.Failed {
		t.Errorf("it is %s: %s; %+v", m.State, m.Cause, again.Counts)
	}
}

package migrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
)

// TestDocumentsAreTransformed: what is sent, and what verify expects, is what the steps make of
// the snapshot; a delta goes on with them; what they cannot do is listed.
func TestDocumentsAreTransformed(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	const steps = `
steps:
  - {index: shelves, when: doc.n != nil and doc.n % 5 == 0, drop: true}
  - {index: shelves, rename: {kind: sort}, set: {origin: index + "/" + id}}
`
	transformed := func(plan *migrate.Plan) { plan.Transform = steps }
	check := func(name string, progress *migrate.Progress) {
		t.Helper()
		expected, dropped := 0, 0
		for id, doc := range p.held(name, "shelves") {
			_, source, _ := strings.Cut(doc, " ")
			var was, is map[string]any
			if err := json.Unmarshal([]byte(source), &was); err != nil {
				t.Fatal(err)
			}
			id, routing, _ := strings.Cut(id, "/")
			if routing != "" || strings.ContainsAny(id, "./% ") {
				continue
			}
			n, is5 := was["n"].(float64)
			text := p.doc("shelves", id)
			if is5 && int(n)%5 == 0 {
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

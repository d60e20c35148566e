package migrate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// families is an index of two types, author and book, with 7 documents each, among them one of
// each type with the id "same".
const families = "elasticsearch-5.6.16-basic"

// typed plans to move it.
func typed(r *rig, types translate.Types) migrate.Plan {
	r.Helper()
	plan := r.plan("families")
	plan.Metadata.Types = types
	idx, err := r.from.Index(r.Context(), "families")
	if err != nil {
		r.Fatal(err)
	}
	if plan.Indices[0].Places, err = migrate.PlacesOf(r.from, idx, plan.Metadata, "families"); err != nil {
		r.Fatal(err)
	}
	return plan
}

func (r *rig) count(index string) (n int) {
	r.Helper()
	var answer struct{ Count int }
	r.do("GET", []string{index, "_count"}, "", &answer)
	return answer.Count
}

// TestTypesAreSplit: the documents of each type are in an index of their own, also those whose
// ids two types share; a document that is lost there is found missing, and repaired.
func TestTypesAreSplit(t *testing.T) {
	r := newRig(t, families, "second")
	id := r.start(typed(r, translate.SplitTypes))
	m, p := r.work(id)
	if m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	if a, b := r.count("families-author"), r.count("families-book"); a != 7 || b != 7 || r.has("families") {
		t.Errorf("%d authors, %d books", a, b)
	}
	var author, book struct {
		Routing string          `json:"_routing"`
		Source  json.RawMessage `json:"_source"`
	}
	r.do("GET", []string{"families-author", "_doc", "same"}, "", &author)
	var found struct {
		Hits struct {
			Hits []struct {
				Routing string          `json:"_routing"`
				Source  json.RawMessage `json:"_source"`
			}
		}
	}
	r.do("POST", []string{"families-book", "_search"}, `{"query":{"ids":{"values":["same"]}}}`, &found)
	if len(found.Hits.Hits) != 1 {
		t.Fatalf("%+v", found)
	}
	book = found.Hits.Hits[0]
	if author.Routing != "" || book.Routing == "" || string(author.Source) == string(book.Source) {
		t.Errorf("two documents of one id: %+v, %+v", author, book)
	}
	if len(p.Verified) != 2 || p.Verified[0].Target == p.Verified[1].Target {
		t.Errorf("compared: %+v", p.Verified)
	}

	r.do("DELETE", []string{"families-author", "_doc", "a1"}, "", nil)
	r.do("POST", []string{"families-author", "_refresh"}, "", nil)
	r.tell(id, movement.Verify)
	if m, _ = r.work(id); m.State != movement.Held {
		t.Fatalf("a missing author: %s", m.State)
	}
	r.tell(id, movement.Abort)
	if m, _ = r.work(id); m.State != movement.Aborted || r.has("families-author") || r.has("families-book") {
		t.Errorf("%s: %s", m.State, m.Cause)
	}
}

// TestTypesAreMerged: all are in one index, where the two of one id with different routings
// stay two, as OpenSearch keeps them; routing is not required of those that have none.
func TestTypesAreMerged(t *testing.T) {
	r := newRig(t, families, "second")
	m, _ := r.work(r.start(typed(r, translate.MergeTypes)))
	if n := r.count("families"); m.State != movement.Switched || n != 14 {
		t.Errorf("%s: %s; %d documents", m.State, m.Cause, n)
	}
}

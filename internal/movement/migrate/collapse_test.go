package migrate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// shared is an index of two types whose ids partly are the same; see the recipe of that name in cmd/fixtures.
const shared = "elasticsearch-5.6.16-types"

// collapsesOf are the ids of the index families of a repository that collapse, and the counts, as the server that made it
// answered its documents.
func collapsesOf(t *testing.T, repository, snapshot string) (c migrate.Collapse) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/repositories/" + repository + "/expected/" + snapshot + "/families.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	types, routings, documents := map[string][]string{}, map[string]map[string]bool{}, map[string]int64{}
	for line := range bytes.Lines(text) {
		var doc struct {
			ID      string `json:"_id"`
			Type    string `json:"_type"`
			Routing string `json:"_routing"`
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		types[doc.ID] = append(types[doc.ID], doc.Type)
		if routings[doc.ID] == nil {
			routings[doc.ID] = map[string]bool{}
		}
		routings[doc.ID][doc.Routing] = true
		documents[doc.ID]++
	}
	for id, all := range types {
		if len(all) < 2 {
			continue
		}
		slices.Sort(all)
		one := migrate.Collapsing{ID: id, Types: all, Overwritten: documents[id] - int64(len(routings[id])), AtRisk: int64(len(routings[id])) - 1}
		c.IDs, c.Documents = c.IDs+1, c.Documents+documents[id]
		c.Overwritten, c.AtRisk, c.Listed = c.Overwritten+one.Overwritten, c.AtRisk+one.AtRisk, append(c.Listed, one)
	}
	slices.SortFunc(c.Listed, func(a, b migrate.Collapsing) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
	return c
}

// TestCollapsingIDs: the ids that two types have in common are those that the server knew, with the same routing and with
// different ones, whether what was read of them is held or lies in files.
func TestCollapsingIDs(t *testing.T) {
	for _, row := range []struct{ repository, snapshot string }{{shared, "only"}, {families, "second"}} {
		for _, held := range []int{2_000_000, 1} {
			t.Run(fmt.Sprint(row.repository, " ", held), func(t *testing.T) {
				defer migrate.SpillFrom(held)()
				r := newRig(t, row.repository, row.snapshot)
				idx, err := r.from.Index(t.Context(), "families")
				if err != nil {
					t.Fatal(err)
				}
				most := int64(0)
				got, err := migrate.CollapseOf(t.Context(), idx, &migrate.Plan{}, func(n int64) { most = max(most, n) })
				if err != nil {
					t.Fatal(err)
				}
				want := collapsesOf(t, row.repository, row.snapshot)
				if most < want.Documents {
					t.Errorf("%d documents were read, as was told", most)
				}
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				if string(a) != string(b) || want.IDs == 0 {
					t.Errorf("counted\n%s; the server had\n%s", a, b)
				}
			})
		}
	}
}

// TestCollapsedDocuments: of what collapses the documents that the plan counted give way, however the copy is cut into items
// and however often they are sent: those of the lower version, and of equal versions those that the snapshot holds first. The
// movement comes to its end, and both sides are equal, count and sum.
func TestCollapsedDocuments(t *testing.T) {
	c, found := collapsesOf(t, shared, "only"), map[string]bool{}
	for _, row := range []struct {
		held  int
		bytes int64
	}{{2_000_000, 1 << 30}, {1, 1}} {
		func() {
			defer migrate.SpillFrom(row.held)()
			r := newRig(t, shared, "only")
			plan := typed(r, translate.MergeTypes)
			plan.ItemBytes = row.bytes
			m, p := r.work(r.start(plan))
			const all = 9 + 6 + 2 + 8 + 1
			if n := int64(r.count("families")); m.State != movement.Switched || n != all-c.Overwritten || p.Dropped != c.Overwritten || p.Acknowledged != n {
				t.Errorf("%s: %s; %d documents of %d, %+v", m.State, m.Cause, n, all, p.Counts)
			}
			if v := p.Verified; len(v) != 1 || v[0].Expected != v[0].Found {
				t.Errorf("%+v", v)
			} else {
				found[v[0].Found] = true
			}
		}()
	}
	if len(found) != 1 {
		t.Errorf("one snapshot became %d different indices", len(found))
	}
}

// TestCollapsedButDropped: a document that the transformation drops takes no place.
func TestCollapsedButDropped(t *testing.T) {
	r := newRig(t, shared, "only")
	plan := typed(r, translate.MergeTypes)
	plan.Transform = `{"steps": [{"index": "families", "when": "type == 'book'", "drop": true}]}`
	idx, err := r.from.Index(t.Context(), "families")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := migrate.CollapseOf(t.Context(), idx, &plan, nil); err != nil || c.IDs != 0 {
		t.Errorf("without the books: %+v %v", c, err)
	}
	m, p := r.work(r.start(plan))
	const authors = 9 + 1 + 4 + 1
	if n := r.count("families"); m.State != movement.Switched || n != authors {
		t.Errorf("%s: %s; %d documents, %+v", m.State, m.Cause, n, p.Counts)
	}
}

package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestTheVerdict: a movement is done when everything was compared and nothing differs that
// may not; whatever else there is, it is listed.
func TestTheVerdict(t *testing.T) {
	compared := func(state work.State, differ int64) check {
		c := check{Verified: Verified{Index: "books"}}
		c.State, c.Cause = state, "the disk is torn"
		if differ > 0 {
			c.Result.Counts = map[reconcile.Class]int64{reconcile.Missing: differ}
		}
		return c
	}
	for name, tc := range map[string]struct {
		check   check
		failed  int64 // documents
		items   int   // that failed
		causes  []string
		entry   work.State
		allowed int64
		rest    bool   // not all was compared one by one
		lost    bool   // the record of the check
		listed  string // "": done
	}{
		"all equal":                          {check: compared(work.Done, 0)},
		"a document is missing":              {check: compared(work.Done, 1), listed: "missing 1"},
		"it could not be compared":           {check: compared(work.Failed, 0), listed: "could not be compared: the disk is torn"},
		"the comparison has not ended":       {check: compared(work.Waiting, 0), listed: "could not be compared"},
		"not all was compared":               {check: compared(work.Done, 2), failed: 2, allowed: 2, rest: true, listed: "at least 7 of them are missing"},
		"an item failed":                     {check: compared(work.Done, 0), items: 1, listed: "1 item failed"},
		"items failed for two causes":        {check: compared(work.Done, 0), items: 3, causes: []string{"b", "a", "b"}, listed: "3 items failed: b (and other causes)"},
		"an index was not moved":             {check: compared(work.Done, 0), entry: work.Failed, listed: "was not moved"},
		"as many failed as may":              {check: compared(work.Done, 2), failed: 2, allowed: 2},
		"more failed than may":               {check: compared(work.Done, 3), failed: 3, allowed: 2, listed: "missing 3"},
		"one is missing that has not failed": {check: compared(work.Done, 2), failed: 1, allowed: 5, listed: "missing 2"},
		"the record of a check is gone":      {lost: true, listed: "books was not compared"},
		"failures do not allow a torn disk":  {check: compared(work.Failed, 0), failed: 1, allowed: 5, listed: "could not be compared"},
	} {
		p := &Progress{Indices: []IndexProgress{{Index: Index{Source: "books", Target: "books"}, State: tc.entry}}, Items: States{Failed: tc.items}}
		p.Failed, p.failedFor = tc.failed, tc.causes
		if tc.rest {
			tc.check.Result.Rest = &reconcile.Rest{Buckets: 1, Expected: 9, Found: 2, Missing: 7}
		}
		checks := map[string]check{"books": tc.check}
		if tc.lost {
			clear(checks)
		}
		o := verdict(p, checks, tc.allowed)
		if o.Done == o.Listed || o.Listed != (tc.listed != "") || !strings.Contains(o.Text, tc.listed) {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestTheVerdictOnManyIndicesIsShort: the cause is read by people, and is in the history.
func TestTheVerdictOnManyIndicesIsShort(t *testing.T) {
	p, checks := &Progress{}, map[string]check{}
	for i := range 100 {
		name := fmt.Sprintf("books-%02d", i)
		p.Indices = append(p.Indices, IndexProgress{Index: Index{Source: name, Target: name}})
		c := check{Verified: Verified{Index: name, Result: reconcile.Report{Counts: map[reconcile.Class]int64{reconcile.Missing: 1},
			Examples: []reconcile.Example{{Class: reconcile.Missing, ID: strings.Repeat("long", 100)}}}}}
		c.State = work.Done
		checks[name] = c
	}
	o := verdict(p, checks, 0)
	if len(o.Text) > 500 || !strings.Contains(o.Text, "books-00: missing 1; ") || !strings.HasSuffix(o.Text, "; and 90 more") {
		t.Error(o.Text)
	}
}

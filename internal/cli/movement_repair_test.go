package cli

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// TestWhatARepairWillDo is said before, by what the last comparison has found.
func TestWhatARepairWillDo(t *testing.T) {
	counts := map[reconcile.Class]int64{reconcile.Missing: 1, reconcile.Stale: 2, reconcile.Different: 1, reconcile.Newer: 4, reconcile.Ghost: 5, reconcile.Zombie: 1}
	m := &control.Movement{Progress: &migrate.Progress{Verified: []migrate.Verified{
		{Target: "books", Result: reconcile.Report{Counts: counts}},
		{Target: "maps"},
		{Target: "lost", Absent: true, Result: reconcile.Report{Counts: map[reconcile.Class]int64{reconcile.Missing: 9}}},
	}}}
	for want, e := range map[string]equalising{
		"books: will create 1 document, replace 3 documents, replace newer 4 documents, delete 6 documents":           {overwrite: true, extra: true},
		"books: will create 1 document, replace 3 documents, delete 6 documents; leaves newer 4 documents":            {extra: true},
		"books: will create 1 document, replace 3 documents, replace newer 4 documents; leaves of others 6 documents": {overwrite: true},
	} {
		want += "\nmaps: will change nothing\nlost: is not there, and is not made: migrate it"
		if got := strings.Join(e.deeds(m), "\n"); got != want {
			t.Errorf("%+v:\n%s", e, got)
		}
	}
}

// TestTheFirstOfEachClassIsNamed, however many of another class come before it.
func TestTheFirstOfEachClassIsNamed(t *testing.T) {
	v := migrate.Verified{Index: "books", Strict: true}
	for _, class := range []reconcile.Class{reconcile.Newer, reconcile.Ghost, reconcile.Ghost, reconcile.Ghost, reconcile.Ghost, reconcile.Stale, reconcile.Missing} {
		v.Result.Examples = append(v.Result.Examples, reconcile.Example{Class: class, ID: "a"})
	}
	for _, tc := range []struct {
		strict bool
		others int64
		want   string
	}{
		{true, 0, "missing stale newer ghost …"},
		{false, 0, "missing stale ghost …"},
		{false, 4, "missing stale"},
	} {
		v.Strict, v.Others = tc.strict, tc.others
		var b strings.Builder
		printMissing(&b, &control.Movement{Record: movement.Record{State: movement.Held}, Progress: &migrate.Progress{Verified: []migrate.Verified{v}}}, "")
		var got []string
		for line := range strings.Lines(b.String()) {
			got = append(got, strings.Fields(strings.TrimPrefix(line, "differs: books: "))[0])
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%+v:\n%s", tc, b.String())
		}
	}
	v.Result.Examples = v.Result.Examples[1:5]
	if some, more := (&migrate.Verified{Result: v.Result}).Some(toldExamples); len(some) != toldExamples || !more {
		t.Errorf("of one class: %v", some)
	}
}

package store_test

import (
	"strconv"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
)

// books is what the tests change by query: ten documents at a time.
func (r *reading) books() store.ByQuery {
	return store.ByQuery{Where: store.Where{Expression: expression([]string{"books"}, searched)}, Request: search.NewRequest(), Batch: 10, Delete: true}
}

// meddle writes the documents again that are still there.
func (r *reading) meddle() {
	r.t.Helper()
	var writes []document.Write
	for n := range 30 {
		w := document.Write{Target: "books", ID: strconv.Itoa(n), Source: []byte(`{"new":true}`), Condition: document.Always}
		w.Condition.Version, w.Condition.VersionType = 2, document.External // what was deleted has it already
		writes = append(writes, w)
	}
	r.Write(r.t.Context(), writes, document.Eventually)
}

// TestWhatWasChangedMeanwhileIsLeftAlone: documents are changed as the search saw them, or
// they are conflicts.
func TestWhatWasChangedMeanwhileIsLeftAlone(t *testing.T) {
	for _, proceed := range []bool{true, false} {
		r := newReading(t)
		q := r.books()
		q.Proceed = proceed
		meddled := false
		p, err := r.Change(t.Context(), q, func(store.Progress) {
			if !meddled {
				meddled = true
				r.meddle()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.Total != 30 || p.Deleted != 10 {
			t.Errorf("proceed %t: %+v", proceed, p)
		}
		if want := map[bool]int64{true: 20, false: 10}[proceed]; p.Conflicts != want {
			t.Errorf("proceed %t: %d conflicts, want %d", proceed, p.Conflicts, want)
		}
		if proceed != (len(p.Failures) == 0) {
			t.Errorf("proceed %t: %d failures", proceed, len(p.Failures))
		}
	}
}

// TestAtMostSoMany: the bound holds within a batch too.
func TestAtMostSoMany(t *testing.T) {
	r := newReading(t)
	q := r.books()
	q.Most = 13
	p, err := r.Change(t.Context(), q, func(store.Progress) {})
	if err != nil || p.Deleted != 13 || p.Total != 13 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestCopies: what is there is left alone when only new documents are wanted, versions go
// along when asked for, and what was made is searchable when asked for.
func TestCopies(t *testing.T) {
	r := newReading(t)
	copied := func(create, versioned bool) store.Progress {
		q := r.books()
		q.Delete, q.Refresh, q.Proceed = false, true, true
		q.Into = &store.Into{Target: "copies", Create: create, Versioned: versioned, VersionType: document.External}
		p, err := r.Change(t.Context(), q, func(store.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := copied(true, false); p.Created != 30 {
		t.Errorf("the first copy: %+v", p)
	}
	where := store.Where{Expression: expression([]string{"copies"}, searched)}
	if n, _, err := r.Count(t.Context(), where, nil); err != nil || n != 30 {
		t.Errorf("%d are found, %v", n, err)
	}
	if p := copied(true, false); p.Conflicts != 30 {
		t.Errorf("only new ones: %+v", p)
	}
	if p := copied(false, false); p.Updated != 30 {
		t.Errorf("all of them: %+v", p)
	}
	if p := copied(false, true); p.Conflicts != 30 { // the copies have version 2
		t.Errorf("older versions: %+v", p)
	}
}

package migrate

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/reconcile"
)

// TestWhatNobodyHasCompared: a repair replaces of it what is not newer, and without versions
// nothing; what is missing is created, and what is right counts as brought.
func TestWhatNobodyHasCompared(t *testing.T) {
	const right, wrong = `{"n":1}`, `{"n":2}`
	for name, tc := range map[string]struct {
		version int64 // of the snapshot; negative: unknown
		there   string
		at      int64 // its version
		sends   bool
		kind    string
	}{
		"without a version, it differs":      {-1, wrong, 1, false, notCompared},
		"without a version, it is right":     {-1, right, 1, false, ""},
		"without a version, it is not there": {-1, "", 0, true, ""},
		"it is as old":                       {7, wrong, 7, true, ""},
		"it is newer":                        {7, wrong, 8, false, changedByOthers},
	} {
		doc := &document.Document{ID: []byte("a"), Source: []byte(right)}
		if tc.version >= 0 {
			doc.Versions = &document.Versions{Version: tc.version}
		}
		m := &mending{comparing: &comparing{turn: &turn{}, run: reconcile.NewRun("books", 1, reconcile.Bounds{})}}
		var batch cluster.Batch
		op := cluster.Op{Action: cluster.Index, Index: "books", ID: doc.ID, Source: doc.Source, Version: tc.version}
		c := &careful{turn: m.turn, batch: &batch, cares: []care{m.care(m.printer.Key(doc.ID, nil), doc)}, created: make([]int, 1)}
		s := &standing{}
		if tc.there != "" {
			s.Found, s.Version = true, tc.at
			s.content = contentOf(c.printer.Of(doc.ID, nil, []byte(tc.there)))
		}
		sends, kind := c.decide(&op, 0, s, 0), ""
		if len(c.result.Conflicts) > 0 {
			kind = c.result.Conflicts[0].Type
		}
		if sends != tc.sends || kind != tc.kind || !sends && kind == "" && c.result.Acknowledged != 1 {
			t.Errorf("%s: sent %v, %+v", name, sends, c.result)
		}
	}
	said := (&Mended{Unseen: 2, Others: []Other{{ID: "a", What: notCompared}}}).String()
	if !strings.Contains(said, `2 differ, were not compared one by one and have no version, and are left so ("a"): repair again`) {
		t.Error(said)
	}
}

package migrate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
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
		delta   bool
		as      int64 // the version that it is sent in
	}{
		"without a version, it differs":      {-1, wrong, 1, false, notCompared, false, 0},
		"without a version, it is right":     {-1, right, 1, false, "", false, 0},
		"without a version, it is not there": {-1, "", 0, true, "", false, -1},
		"it is as old":                       {7, wrong, 7, true, "", false, -1},
		"it is newer":                        {7, wrong, 8, false, changedByOthers, false, 0},
		"of a delta, it differs":             {7, wrong, 5, false, notCompared, true, 0}, // perhaps as the older snapshot held it
		"of a delta, it is right":            {7, right, 5, false, "", true, 0},
		"of a delta, it is not there":        {7, "", 0, true, "", true, 7}, // above what the older snapshot held
	} {
		doc := &document.Document{ID: []byte("a"), Source: []byte(right)}
		if tc.version >= 0 {
			doc.Versions = &document.Versions{Version: tc.version}
		}
		m := &mending{comparing: &comparing{turn: &turn{phase: &movement.Phase{}}, run: reconcile.NewRun("books", 1, reconcile.Bounds{})}}
		if tc.delta {
			m.older, m.was = &snapshot.Index{}, map[uint64]*before{}
		}
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
		if sends != tc.sends || sends && op.Version != tc.as || kind != tc.kind || !sends && kind == "" && c.result.Acknowledged != 1 {
			t.Errorf("%s: sent %v, %+v", name, sends, c.result)
		}
	}
	lost := (&Mended{Others: []Other{{ID: "a", What: perhapsReplaced}}}).String()
	if !strings.Contains(lost, `the answer was lost, which would have told whether others wrote them in that moment and were replaced ("a")`) {
		t.Error(lost)
	}
	said := (&Mended{Unseen: 2, Others: []Other{{ID: "a", What: notCompared}}}).String()
	if !strings.Contains(said, `2 differ and were not compared one by one, and are left so ("a"): repair again`) {
		t.Error(said)
	}
}

// TestWhatNobodyHasComparedNow is replaced by a repair that overwrites where the comparison before it has seen it so.
func TestWhatNobodyHasComparedNow(t *testing.T) {
	m := &mending{comparing: &comparing{turn: &turn{phase: &movement.Phase{Overwrite: true}}, run: reconcile.NewRun("books", 1, reconcile.Bounds{})}}
	doc := &document.Document{ID: []byte("a"), Source: []byte(`{"n":1}`), Versions: &document.Versions{Version: 7}}
	key := m.printer.Key(doc.ID, nil)
	seen, later := m.printer.Of(doc.ID, nil, []byte(`{"n":2}`)), m.printer.Of(doc.ID, nil, []byte(`{"n":3}`))
	m.agreed = &sighted{sights: []reconcile.Sight{reconcile.SightOf(key, contentOf(seen))}}
	for name, tc := range map[string]struct {
		there document.Fingerprint
		at    int64
		sends bool
	}{
		"it is newer, and was seen":     {seen, 99, true},
		"it is older, and was not seen": {later, 5, false},
	} {
		op := cluster.Op{Action: cluster.Index, Index: "books", ID: doc.ID, Source: doc.Source, Version: 7}
		c := &careful{turn: m.turn, batch: &cluster.Batch{}, cares: []care{m.care(key, doc)}, created: make([]int, 1)}
		there := &standing{content: contentOf(tc.there)}
		there.Found, there.Version = true, tc.at
		if sends := c.decide(&op, 0, there, 0); sends != tc.sends || !sends && c.result.Conflicts[0].Type != notCompared {
			t.Errorf("%s: %v, %+v", name, sends, c.result)
		}
	}
}

// TestWhatWasReplacedIsNamed, however many others were met before: a document that others have lost is named first.
func TestWhatWasReplacedIsNamed(t *testing.T) {
	var all []Other
	for n := range 2 * maxOthers {
		all = addOthers(all, []Other{{ID: strconv.Itoa(n), What: changedByOthers}})
	}
	all = addOthers(all, []Other{{ID: "left", What: deletedByOthers}, {ID: "lost", What: replaced}})
	if len(all) != maxOthers || all[0].ID != "lost" || all[1].ID != "0" {
		t.Errorf("%+v", all)
	}
	if said := sentAgain(&work.Counts{Acknowledged: 1}, all); !strings.Contains(said, `they were replaced ("lost")`) {
		t.Error(said)
	}
}

// TestWhatWasCreatedAgainIsNamed: each attempt asks the target to tell what it replaces; and where the answer was lost it
// is named that it perhaps has replaced something, unless nothing can have had a lower version.
func TestWhatWasCreatedAgainIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		fresh   int64
		created int // attempts
		found   bool
		names   bool
		perhaps bool
	}{
		"the first attempt":                        {7, 0, false, true, false},
		"the second, over a deletion":              {7, 1, false, true, false},
		"it is there, and nobody tried to make it": {7, 0, true, false, false},
		"it is there after an attempt":             {7, 1, true, false, true},
		"it is there after two":                    {7, 2, true, false, true},
		"nothing has a lower version":              {1, 1, true, false, false},
		"it is made without a version":             {-1, 0, false, false, false},
	} {
		source := []byte(`{"n":1}`)
		c := &careful{turn: &turn{}, batch: &cluster.Batch{}, created: []int{tc.created}}
		want := contentOf(c.printer.Of([]byte("a"), nil, source))
		c.cares = []care{{want: want, fresh: tc.fresh, ties: true, mine: nothing}}
		op := cluster.Op{Action: cluster.Index, Index: "books", ID: []byte("a"), Source: source}
		there := &standing{content: want}
		there.Found = tc.found
		c.decide(&op, 0, there, 0)
		perhaps := len(c.result.Replaced) == 1 && c.result.Replaced[0].Type == perhapsReplaced && c.result.Replaced[0].ID == "a"
		if op.Names != tc.names || perhaps != tc.perhaps || !perhaps && len(c.result.Replaced) > 0 {
			t.Errorf("%s: named %v, %+v", name, op.Names, c.result)
		}
		if all := othersOf(&c.result); tc.perhaps && (len(all) != 1 || all[0] != Other{ID: "a", What: "perhaps_replaced"}) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
)

// rows reads a part of a point in pages of two rows, each behind the place of the one before it.
func (r *reading) rows(of store.RowsOf) (ids []string, keys []uint64) {
	r.t.Helper()
	for {
		n := 0
		err := r.Rows(r.t.Context(), of, func(row *document.Row) (bool, error) {
			ids, keys = append(ids, string(row.ID)), append(keys, row.Key)
			of.After = row.Place()
			n++
			return n < 2, nil
		})
		if err != nil {
			r.t.Fatal(err)
		}
		if n == 0 {
			return ids, keys
		}
	}
}

// TestRowsOfAPoint are each in one part, in the order of their keys, as the point saw them.
func TestRowsOfAPoint(t *testing.T) {
	r := newReading(t)
	id := r.point()
	late := []document.Write{{Target: "books", ID: "late", Source: []byte(`{}`), Condition: document.Always},
		{Target: "books", ID: "7", Operation: document.Delete, Condition: document.Always}}
	for _, w := range r.Write(t.Context(), late, document.AtOnce) {
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	for _, parts := range []int{1, 2, 3, 7, 1024} {
		var all []string
		for part := range parts {
			ids, keys := r.rows(store.RowsOf{Where: store.Where{Point: id}, Part: part, Parts: parts})
			if !slices.IsSorted(keys) {
				t.Errorf("part %d of %d comes in the order %x", part, parts, keys)
			}
			all = append(all, ids...)
		}
		slices.Sort(all)
		if want := slices.Sorted(all30); len(all) != 30 || !slices.Equal(all, want) {
			t.Errorf("%d parts hold %q", parts, all)
		}
	}
}

func all30(yield func(string) bool) {
	for n := range 30 {
		if !yield(fmt.Sprint(n)) {
			return
		}
	}
}

// TestRowsShowWhatSearchesShow: what a mapping hides of sources is hidden in rows.
func TestRowsShowWhatSearchesShow(t *testing.T) {
	r := newReading(t)
	body := []byte(`{"mappings":{"_source":{"excludes":["secret"]},"properties":{"secret":{"type":"keyword"}}}}`)
	if _, err := r.CreateIndex(t.Context(), "hushed", body); err != nil {
		t.Fatal(err)
	}
	write := document.Write{Target: "hushed", ID: "a", Routing: "r", Source: []byte(`{"told":1,"secret":"x"}`), Condition: document.Always}
	if done := r.Write(t.Context(), []document.Write{write}, document.AtOnce); done[0].Err != nil {
		t.Fatal(done[0].Err)
	}
	p, err := r.OpenPoint(t.Context(), expression([]string{"hushed"}, searched), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	err = r.Rows(t.Context(), store.RowsOf{Where: store.Where{Point: p.ID}, Parts: 1}, func(row *document.Row) (bool, error) {
		told = append(told, fmt.Sprintf("%s %s %d %s", row.ID, row.Routing, row.Version, row.Source))
		return true, nil
	})
	if err != nil || !slices.Equal(told, []string{`a r 1 {"told":1}`}) {
		t.Errorf("%q: %v", told, err)
	}
}

// TestRowsThatAreRefused: what is no part of one whole index.
func TestRowsThatAreRefused(t *testing.T) {
	r := newReading(t)
	if _, err := r.CreateIndex(t.Context(), "others", []byte(`{"aliases":{"few":{"filter":{"match_all":{}}}}}`)); err != nil {
		t.Fatal(err)
	}
	point := func(names ...string) string {
		p, err := r.OpenPoint(t.Context(), expression(names, searched), "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	one := r.point()
	behind := document.Row{Key: 1 << 63, ID: []byte("x")}
	for name, tc := range map[string]struct {
		of   store.RowsOf
		kind exception.Type
	}{
		"a point that is not there":      {store.RowsOf{Where: store.Where{Point: "gone"}, Parts: 1}, exception.SearchContextMissing},
		"two indices":                    {store.RowsOf{Where: store.Where{Point: point("books", "others")}, Parts: 1}, exception.IllegalArgument},
		"an alias with a filter":         {store.RowsOf{Where: store.Where{Point: point("few")}, Parts: 1}, exception.IllegalArgument},
		"no parts":                       {store.RowsOf{Where: store.Where{Point: one}}, exception.IllegalArgument},
		"a part too many":                {store.RowsOf{Where: store.Where{Point: one}, Part: 2, Parts: 2}, exception.IllegalArgument},
		"a part below none":              {store.RowsOf{Where: store.Where{Point: one}, Part: -1, Parts: 2}, exception.IllegalArgument},
		"too many parts":                 {store.RowsOf{Where: store.Where{Point: one}, Parts: 1025}, exception.IllegalArgument},
		"what is no place":               {store.RowsOf{Where: store.Where{Point: one}, Parts: 1, After: "[7]"}, exception.IllegalArgument},
		"a place that is another part's": {store.RowsOf{Where: store.Where{Point: one}, Parts: 2, After: behind.Place()}, exception.IllegalArgument},
	} {
		err := r.Rows(t.Context(), tc.of, func(*document.Row) (bool, error) {
			t.Errorf("%s has rows", name)
			return false, nil
		})
		if !exception.Is(err, tc.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

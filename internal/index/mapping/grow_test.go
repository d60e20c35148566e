package mapping

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// grows holds Grow to what it stands for: a merge whose JSON is stored, and read again. It reports whether
// that was found out of the update's fields alone.
func grows(t interface {
	Fatalf(string, ...any)
	Helper()
}, m *Mapping, update []byte, l Limits) (after *Mapping, alone bool) {
	t.Helper()
	want, failed := m.Merge(update, l)
	if failed == nil {
		want, failed = Parse(want.JSON(), Unlimited(l))
	}
	before := fieldsOf(m)
	g, err := m.Grow(update, l)
	if failed != nil || err != nil {
		if failed == nil || err == nil || failed.Error() != err.Error() {
			t.Fatalf("%s\nand %s\nfails with %v, want %v", m.JSON(), update, err, failed)
		}
		return nil, false
	}
	if !reflect.DeepEqual(g.Mapping, want) {
		t.Fatalf("%s\nand %s\nis %s %+v\nwant %s %+v", m.JSON(), update, g.JSON(), g.extent, want.JSON(), want.extent)
	}
	if patched := g.JSONAfter(m.JSON()); string(patched) != string(g.JSON()) {
		t.Fatalf("%s\nand %s\nis rendered as %s\nwant %s", m.JSON(), update, patched, g.JSON())
	}
	if g.Whole {
		return g.Mapping, false
	}
	changed := map[*Field]bool{g.root: true}
	for _, f := range g.Changed {
		changed[f] = true
	}
	for f := range fieldsOf(g.Mapping) {
		if before[f] == changed[f] {
			t.Fatalf("%s\nand %s\n%s was there before: %t, has changed: %t", m.JSON(), update, f.Path(), before[f], changed[f])
		}
	}
	return g.Mapping, true
}

func fieldsOf(m *Mapping) map[*Field]bool {
	all := map[*Field]bool{}
	for f := range m.All() {
		all[f] = true
	}
	return all
}

// stored is a mapping as it is read again.
func stored(m *Mapping) *Mapping {
	again, err := Parse(m.JSON(), Unlimited(DefaultLimits))
	if err != nil {
		return nil
	}
	return again
}

// TestGrow merges what servers were asked to merge.
func TestGrow(t *testing.T) {
	quick := 0
	answers(t, func(place string, a answer) {
		l := a.limits()
		m, err := Parse(a.Mapping, l)
		if err != nil {
			return
		}
		if m = stored(m); m == nil {
			return
		}
		updates := [][]byte{a.Update, a.Mapping}
		if a.Source != nil {
			additions, _ := m.Document(a.Source, "1", l, nil)
			updates = append(updates, additions)
		}
		for _, update := range updates {
			if update == nil {
				continue
			}
			if after, alone := grows(t, m, update, l); alone {
				quick++
				grows(t, after, []byte(`{"properties":{"one":{"properties":{"more":{"type":"long"}}}}}`), l)
			}
		}
	})
	if quick < 500 {
		t.Errorf("%d updates were of fields alone", quick)
	}
}

// TestGrowLaws grows any mapping by any other, twice.
func TestGrowLaws(t *testing.T) {
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		m, err := Parse([]byte(anyMapping(t)), DefaultLimits)
		if err != nil {
			return
		}
		l := DefaultLimits
		l.TotalFields, l.Depth = rapid.SampledFrom([]int{1000, 8}).Draw(t, "total"), rapid.SampledFrom([]int{20, 3}).Draw(t, "depth")
		for range 3 {
			if m = stored(m); m == nil {
				return
			}
			update, _ := json.Marshal(map[string]any{"properties": anyProperties(t, 2)})
			after, alone := grows(t, m, update, l)
			if after == nil {
				continue
			}
			if alone {
				quick++
			}
			m = after
		}
	})
	if quick < 20 {
		t.Errorf("%d updates were of fields alone", quick)
	}
}

// TestLeads holds the table to itself: a parameter that another follows says so.
func TestLeads(t *testing.T) {
	for name, kind := range types {
		led := map[string]bool{}
		for _, p := range kind.params {
			led[p.follows] = p.follows != ""
		}
		for _, p := range kind.params {
			if p.leads != led[p.name] {
				t.Errorf("%s.%s leads: %t", name, p.name, p.leads)
			}
		}
	}
}

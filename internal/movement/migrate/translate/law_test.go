package translate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// always are the rules that apply even into the version that something comes from.
func always() map[string]bool {
	names := map[string]bool{}
	for _, r := range translate.Rules() {
		names[r.Name] = r.Always
	}
	return names
}

// TestSameVersion: into the very version that it comes from, metadata stay as they are, but
// for rules that say otherwise.
func TestSameVersion(t *testing.T) {
	indices, _, _ := metadata(t, committed)
	names, kept := always(), 0
	for _, r := range append(indices, crafted...) {
		created, ok := translate.CreatedBy(r.index.Settings)
		if r.from.Product == "elasticsearch" && r.from.Major < 7 || ok && created.Major != r.from.Major {
			continue // no target, or made by an older one
		}
		bodies, err := translate.Route{From: r.from, To: r.from}.Index(r.index)
		if err != nil || len(bodies) != 1 {
			t.Fatalf("%s: %d bodies, %v", r.place, len(bodies), err)
		}
		kept++
		changed := map[string]bool{}
		for _, c := range bodies[0].Changes {
			if !names[c.Rule] {
				t.Errorf("%s: rule %s at %s", r.place, c.Rule, c.Where)
			}
			changed[strings.TrimPrefix(c.Where, "settings.")] = true
		}
		var got struct {
			Settings          map[string]any
			Mappings, Aliases json.RawMessage
		}
		if err := json.Unmarshal(bodies[0].JSON, &got); err != nil {
			t.Fatal(err)
		}
		leaves := bytes.Contains(r.index.Mappings, []byte("_data_stream_timestamp")) || bytes.Contains(r.index.Mappings, []byte(`"star_tree"`))
		if !leaves && !bytes.Equal(got.Mappings, r.index.Mappings) {
			t.Errorf("%s: mappings %s became %s", r.place, r.index.Mappings, got.Mappings)
		}
		if !bytes.Equal(got.Aliases, r.index.Aliases) {
			t.Errorf("%s: aliases %s became %s", r.place, r.index.Aliases, got.Aliases)
		}
		for name, value := range r.index.Settings {
			now, is := got.Settings[name]
			if text, isText := now.(string); isText && text != value {
				t.Errorf("%s: %s was %s and is %s", r.place, name, value, text)
			}
			if !is && !changed[name] && !private(name) {
				t.Errorf("%s: %s=%s is gone and not told", r.place, name, value)
			}
			delete(got.Settings, name)
		}
		if len(got.Settings) > 0 {
			t.Errorf("%s: new settings %v", r.place, got.Settings)
		}
	}
	if kept < 20 {
		t.Errorf("only %d indices were looked at", kept)
	}
}

// private are the settings that may go untold, as this test knows them.
func private(name string) bool {
	for _, prefix := range []string{"index.uuid", "index.creation_date", "index.provided_name", "index.version.", "index.history", "index.replication.", "index.remote_store.",
		"index.verified_before_close", "index.searchable_snapshot.", "index.source_only", "index.routing.allocation.include._tier_preference", "index.store.type", "index.resize."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// TestRulesFitTheirRoutes: a rule is told only on routes that it names, loses what it says
// that it loses, and changes come in one order.
func TestRulesFitTheirRoutes(t *testing.T) {
	indices, _, _ := metadata(t, committed)
	rules, told := map[string]translate.Rule{}, map[string]bool{}
	for _, r := range translate.Rules() {
		rules[r.Name] = r
	}
	all := maps.Clone(targets)
	all["os1"], all["es9"] = os1, es9
	for _, r := range append(indices, crafted...) {
		from := r.from
		if created, ok := translate.CreatedBy(r.index.Settings); ok && created.Product == "elasticsearch" && created.Major < from.Major {
			from = created
		}
		for _, to := range all {
			route := translate.Route{From: r.from, To: to, Types: translate.MergeTypes}
			bodies, err := route.Index(r.index)
			if err != nil {
				t.Fatalf("%s: %v", r.place, err)
			}
			again, _ := route.Index(r.index)
			for i, body := range bodies {
				if rulesOf(again[i].Changes) != rulesOf(body.Changes) || !bytes.Equal(again[i].JSON, body.JSON) {
					t.Errorf("%s: two translations differ", r.place)
				}
				for _, c := range body.Changes {
					rule, ok := rules[c.Rule]
					told[c.Rule] = true
					if !ok || rule.Loses != c.Loses || !rule.To.Has(to) || !rule.From.Has(from) && !rule.From.Has(r.from) {
						t.Errorf("%s into %s: rule %s at %s does not fit", r.place, to, c.Rule, c.Where)
					}
				}
			}
		}
	}
	if len(told) < 60 {
		t.Errorf("only %d rules were met", len(told))
	}
	for name := range rules {
		if !told[name] {
			t.Logf("never met: %s", name)
		}
	}
}

// FuzzIndex: any metadata are translated or refused, and what comes out is JSON.
func FuzzIndex(f *testing.F) {
	for _, r := range crafted {
		f.Add([]byte(r.index.Mappings), []byte(r.index.Aliases), "index.analysis.filter.a.type", "nGram", uint8(r.from.Major))
	}
	f.Add([]byte(`{"a":{"properties":{"x":{"type":"date","format":"'"}}}}`), []byte(`{}`), "index.analysis.analyzer.a.filter.0", "standard", uint8(1))
	f.Fuzz(func(t *testing.T, mappings, aliases []byte, name, value string, major uint8) {
		for _, from := range []translate.Server{{Product: "elasticsearch", Major: int(major % 10), Minor: 4}, os2} {
			for _, to := range []translate.Server{os2, es7, es9, ours} {
				for _, types := range [][]string{nil, {"a", "b"}} {
					route := translate.Route{From: from, To: to, Types: translate.SplitTypes}
					index := translate.Index{Name: "i", Mappings: mappings, Aliases: aliases, Types: types, Settings: map[string]string{name: value, "index.x": value}}
					bodies, err := route.Index(index)
					_, _ = route.Places(index)
					for _, body := range bodies {
						if !json.Valid(body.JSON) {
							t.Fatalf("%s", body.JSON)
						}
					}
					if err == nil && len(bodies) == 0 {
						t.Fatal("no body and no error")
					}
				}
				for _, template := range []func(string, json.RawMessage) (translate.Body, error){
					translate.Route{From: from, To: to}.Template, translate.Route{From: from, To: to}.LegacyTemplate, translate.Route{From: from, To: to}.ComponentTemplate} {
					if body, err := template("t", mappings); err == nil && !json.Valid(body.JSON) {
						t.Fatalf("%s", body.JSON)
					}
				}
				_, _ = translate.Route{From: from, To: to}.DataStream("s", mappings)
			}
		}
	})
}

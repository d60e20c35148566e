package migrate_test

import (
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestOverrides: an index is made with the settings and the mapping that were asked for, as the record holds them, of
// several that fit with the last one, and what is not asked for stays the snapshot's.
func TestOverrides(t *testing.T) {
	r := newRig(t, history, "two")
	plan := r.plan("ledger")
	asked, err := migrate.Metadata{
		Set: []migrate.Setting{
			{Index: "*", Name: "number_of_shards", Value: "2"}, {Index: "led*", Name: "index.number_of_shards", Value: 3.0},
			{Index: "others", Name: "refresh_interval", Value: "7s"}, {Index: "ledger", Name: "refresh_interval", Value: "9s"},
		},
		Mappings: []migrate.Mapping{{Index: "ledger", Mapping: json.RawMessage(`{"x":{"mappings":{"dynamic":false,"properties":{"ours":{"type":"keyword"}}}}}`)}},
	}.Checked()
	if err != nil {
		t.Fatal(err)
	}
	plan.Metadata = asked
	m, _ := r.work(r.start(plan))
	if m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	settings, err := r.target.Settings(t.Context(), "ledger")
	if err != nil || settings["index.number_of_shards"] != "3" || settings["index.refresh_interval"] != "9s" {
		t.Errorf("%v %v", settings, err)
	}
	var shown map[string]struct {
		Mappings struct {
			Dynamic    any `json:"dynamic"`
			Properties map[string]struct{ Type string }
		}
	}
	r.do("GET", []string{"ledger", "_mapping"}, "", &shown)
	if p := shown["ledger"].Mappings; len(p.Properties) != 1 || p.Properties["ours"].Type != "keyword" || p.Dynamic != "false" {
		t.Errorf("%+v", p)
	}
}

// TestOverridesAreChecked: what no index can be made with is refused before anything is planned.
func TestOverridesAreChecked(t *testing.T) {
	for _, c := range []struct {
		m    migrate.Metadata
		kind fault.Kind
	}{
		{migrate.Metadata{Set: []migrate.Setting{{Name: "codec", Value: "x"}}}, fault.Usage},
		{migrate.Metadata{Set: []migrate.Setting{{Index: "a", Name: "index.uuid", Value: "x"}}}, fault.Refused},
		{migrate.Metadata{Set: []migrate.Setting{{Index: "a", Name: "blocks.write", Value: true}}}, fault.Refused},
		{migrate.Metadata{Set: []migrate.Setting{{Index: "a", Name: "index.analysis.*", Value: "x"}}}, fault.Usage},
		{migrate.Metadata{Set: []migrate.Setting{{Index: "a", Name: "index.analysis", Value: map[string]any{}}}}, fault.Usage},
		{migrate.Metadata{Mappings: []migrate.Mapping{{Index: "a", Mapping: json.RawMessage(`[]`)}}}, fault.Usage},
		{migrate.Metadata{Mappings: []migrate.Mapping{{Index: "a", Mapping: json.RawMessage(`{"mappings":{},"settings":{}}`)}}}, fault.Usage},
	} {
		if _, err := c.m.Checked(); !fault.Is(err, c.kind) {
			t.Errorf("%+v: %v", c.m, err)
		}
	}
	m, err := migrate.Metadata{Set: []migrate.Setting{{Index: "a", Name: "analysis.filter.*"}},
		Mappings: []migrate.Mapping{{Index: "a", Mapping: json.RawMessage(`{"properties":{"mappings":{"type":"text"}}}`)}}}.Checked()
	if err != nil || m.Set[0].Name != "index.analysis.filter.*" || string(m.Mappings[0].Mapping) != `{"properties":{"mappings":{"type":"text"}}}` {
		t.Errorf("%+v %v", m, err)
	}
}

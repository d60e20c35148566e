package migrate_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestAnAliasOfOthersIsAddedTo: what it changes, and what of it loses meaning, as real servers take such aliases: see
// TestLiveTemplatesOfRealServers.
func TestAnAliasOfOthersIsAddedTo(t *testing.T) {
	for _, c := range []struct {
		name, theirs, mine string // the bodies that make their indices, and the properties of ours
		fitted             string // "": left out
		rules              string // those that lose meaning with !
	}{
		{"nobody has it", ``, `{"routing":"1"}`, `{"routing":"1"}`, ""},
		{"neither is written to", `{"a":{"aliases":{"shared":{"is_write_index":false}}}}`, `{"filter":{"match_all":{}}}`, `{"filter":{"match_all":{}}}`, "alias-shared"},
		{"theirs is written to", `{"a":{"aliases":{"shared":{"is_write_index":true}}},"b":{"aliases":{"shared":{}}}}`, `{}`, `{}`, "alias-shared"},
		{"both say that they are written to", `{"a":{"aliases":{"shared":{"is_write_index":true}}}}`, `{"is_write_index":true,"routing":"1"}`, `{"is_write_index":false,"routing":"1"}`, "alias-shared alias-writes!"},
		{"theirs is written to since it is the only one", `{"a":{"aliases":{"shared":{}}}}`, `{}`, `{}`, "alias-shared alias-writes!"},
		{"and ours says so", `{"a":{"aliases":{"shared":{}}}}`, `{"is_write_index":true}`, `{"is_write_index":true}`, "alias-shared alias-writes!"},
		{"several, none of which is written to", `{"a":{"aliases":{"shared":{}}},"b":{"aliases":{"shared":{}}}}`, `{"is_write_index":true}`, `{"is_write_index":true}`, "alias-shared"},
		{"theirs is hidden", `{"a":{"aliases":{"shared":{"is_hidden":true,"is_write_index":false}}}}`, `{"routing":"1"}`, `{"is_hidden":true,"routing":"1"}`, "alias-shared"},
		{"ours is hidden", `{"a":{"aliases":{"shared":{"is_write_index":false}}}}`, `{"is_hidden":true}`, `{"is_hidden":false}`, "alias-shared"},
		{"it is an index", `{"shared":{}}`, `{}`, "", "alias-taken!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, streams, "only")
			if c.theirs != "" {
				var theirs map[string]json.RawMessage
				if err := json.Unmarshal([]byte(c.theirs), &theirs); err != nil {
					t.Fatal(err)
				}
				for name, body := range theirs {
					r.do("PUT", []string{name}, string(body), nil)
				}
			}
			fitted, changes, err := migrate.FitAliases(t.Context(), r.target, "ours", map[string]json.RawMessage{"shared": json.RawMessage(c.mine)}, nil)
			if err != nil || string(fitted["shared"]) != c.fitted {
				t.Errorf("it becomes %s, %v", fitted["shared"], err)
			}
			var rules []string
			for _, change := range changes {
				rule := change.Rule
				if change.Loses {
					rule += "!"
				}
				rules = append(rules, rule)
			}
			if got := strings.Join(rules, " "); got != c.rules {
				t.Errorf("told is %q: %v", got, changes)
			}
		})
	}
}

// TestASharedAliasStaysTheirs: the movement adds its index to it under a new name, with its own filter, and abort takes
// only that away. A loss that nobody has accepted, and that comes up while it copies, holds the switch.
func TestASharedAliasStaysTheirs(t *testing.T) {
	theirs := `{"aliases":{"folios":{"routing":"7","is_write_index":true}}}`
	for _, lossless := range []bool{false, true} {
		r := newRig(t, streams, "only")
		r.do("PUT", []string{"theirs"}, theirs, nil)
		plan := r.plan("old-shelf")
		plan.Indices[0].Target, plan.Lossless = "new-shelf", lossless
		id := r.start(plan)
		m, _ := r.work(id)
		if lossless { // the snapshot's says is_write_index, and so does theirs
			if m.State != movement.Failed || !strings.Contains(m.Cause, "is_write_index becomes false") {
				t.Fatalf("%s: %s", m.State, m.Cause)
			}
			r.do("POST", []string{"_aliases"}, `{"actions":[{"add":{"index":"theirs","alias":"folios","routing":"7","is_write_index":false}}]}`, nil)
			r.tell(id, movement.Resume)
			m, _ = r.work(id)
		}
		if text := outcome(&m, "aliases"); m.State != movement.Switched || text != "2 aliases made, 1 of them beside indices of others" {
			t.Fatalf("%s: %s; %s", m.State, m.Cause, text)
		}
		there, err := r.target.AliasNamed(t.Context(), "folios")
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(there)), []string{"new-shelf", "theirs"}) {
			t.Errorf("it leads to %v, %v", there, err)
		}
		want := map[bool]string{false: `{"filter":{"term":{"kind":"folio"}},"is_write_index":false}`, true: `{"filter":{"term":{"kind":"folio"}},"is_write_index":true}`}[lossless]
		if string(there["new-shelf"]) != want {
			t.Errorf("ours is %s", there["new-shelf"])
		}
		r.tell(id, movement.Abort)
		if m, _ := r.work(id); m.State != movement.Aborted {
			t.Fatalf("%s: %s", m.State, m.Cause)
		}
		left := r.showing("theirs")
		if want := map[bool]string{false: `true`, true: `false`}[lossless]; len(left) != 1 || string(left["folios"]) != `{"index_routing":"7","search_routing":"7","is_write_index":`+want+`}` {
			t.Errorf("theirs is %s", left)
		}
	}
}

package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

var (
	es1  = translate.Server{Product: "elasticsearch", Major: 1, Minor: 7}
	es2  = translate.Server{Product: "elasticsearch", Major: 2, Minor: 4}
	es5  = translate.Server{Product: "elasticsearch", Major: 5, Minor: 6}
	es6  = translate.Server{Product: "elasticsearch", Major: 6, Minor: 8}
	es7  = translate.Server{Product: "elasticsearch", Major: 7, Minor: 17}
	es8  = translate.Server{Product: "elasticsearch", Major: 8, Minor: 19}
	es9  = translate.Server{Product: "elasticsearch", Major: 9, Minor: 2}
	os1  = translate.Server{Product: "opensearch", Major: 1, Minor: 3}
	os2  = translate.Server{Product: "opensearch", Major: 2, Minor: 19}
	os3  = translate.Server{Product: "opensearch", Major: 3, Minor: 6}
	ours = translate.Server{Product: "reshelve", Major: 2, Minor: 19}
)

// rulesOf are the names of rules and places, a line each.
func rulesOf(changes []translate.Change) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.Rule + " " + c.Where)
		if c.Loses {
			b.WriteString(" !")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestMappings: one mapping in, one mapping out, and the rules that were told.
func TestMappings(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to translate.Server
		in, want string
		rules    string
	}{
		{"an analyzed string is text", es2, os2, `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"text"}}}`, "string-type mappings.properties.a.type\n"},
		{"one that is not is a keyword", es2, os2, `{"properties":{"a":{"type":"string","index":"not_analyzed","doc_values":true,"ignore_above":9}}}`,
			`{"properties":{"a":{"type":"keyword","doc_values":true,"ignore_above":9}}}`,
			"index-word mappings.properties.a.index\nstring-type mappings.properties.a.type\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			route := translate.Route{From: c.from, To: c.to}
			bodies, err := route.Index(translate.Index{Name: "i", Mappings: json.RawMessage(c.in)})
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Mappings json.RawMessage }
			if err := json.Unmarshal(bodies[0].JSON, &got); err != nil {
				t.Fatal(err)
			}
			if string(got.Mappings) != c.want {
				t.Errorf("mapping\n%s\nwant\n%s", got.Mappings, c.want)
			}
			if rules := rulesOf(bodies[0].Changes); rules != c.rules {
				t.Errorf("rules\n%swant\n%s", rules, c.rules)
			}
		})
	}
}

package translate_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// TestTemplates: one template in, one out, and the rules that were told.
func TestTemplates(t *testing.T) {
	type kind func(translate.Route, string, json.RawMessage) (translate.Body, error)
	legacy, composable, component := kind(translate.Route.LegacyTemplate), kind(translate.Route.Template), kind(translate.Route.ComponentTemplate)
	for _, c := range []struct {
		name     string
		kind     kind
		from, to translate.Server
		types    translate.Types
		in, want string
		rules    string
	}{
		{"a pattern becomes a list", legacy, es5, os2, "", `{"template":"a-*","order":1,"settings":{},"mappings":{},"aliases":{}}`,
			`{"index_patterns":["a-*"],"order":1,"settings":{},"mappings":{},"aliases":{}}`, "template-pattern template\n"},
		{"types and settings are translated", legacy, es2, os2, "", `{"template":"a-*","settings":{"index":{"refresh_interval":"5"},"number_of_shards":2},"mappings":{"_default_":{},"doc":{"_all":{"enabled":false},"properties":{"a":{"type":"string"}}}}}`,
			`{"index_patterns":["a-*"],"settings":{"index.number_of_shards":"2","index.refresh_interval":"5ms"},"mappings":{"properties":{"a":{"type":"text"}}}}`,
			"own-field mappings._all\ndefault-mapping mappings._default_\ntype-name mappings.doc\nstring-type mappings.properties.a.type\nbare-time settings.index.refresh_interval\ntemplate-pattern template\n"},
		{"two types become one mapping", legacy, es5, es8, translate.MergeTypes, `{"template":"a","mappings":{"x":{"properties":{"a":{"type":"text"}}},"y":{"properties":{"a":{"type":"keyword"},"b":{"type":"long"}}}}}`,
			`{"index_patterns":["a"],"mappings":{"properties":{"a":{"type":"text"},"b":{"type":"long"}}}}`,
			"template-types mappings\ntypes-conflict mappings.properties.a !\ntemplate-pattern template\n"},
		{"what nothing names stays as it is", composable, os2, os3, "", `{ "index_patterns": ["a"], "priority": 1e2, "template": {"settings": {"index": {"number_of_shards": "2"}}}}`,
			`{ "index_patterns": ["a"], "priority": 1e2, "template": {"settings": {"index": {"number_of_shards": "2"}}}}`, ""},
		{"lives of streams end at the border", composable, es8, os2, "", `{"index_patterns":["a"],"data_stream":{"hidden":false,"allow_custom_routing":false},"allow_auto_create":true,"template":{"lifecycle":{"data_retention":"7d"},"mappings":{"properties":{"h":{"type":"flattened"}}}}}`,
			`{"index_patterns":["a"],"data_stream":{},"template":{"mappings":{"properties":{"h":{"type":"flat_object"}}}}}`,
			"template-part allow_auto_create\ntemplate-part data_stream.allow_custom_routing\ntemplate-part data_stream.hidden\ntemplate-lifecycle template.lifecycle !\nflattened template.mappings.properties.h.type\n"},
		{"a stream's time is @timestamp", composable, os2, es8, "", `{"index_patterns":["a"],"data_stream":{"timestamp_field":{"name":"t"}}}`, `{"index_patterns":["a"],"data_stream":{}}`, "stream-time data_stream.timestamp_field !\n"},
		{"vectors ask for a setting", component, es8, os2, "", `{"template":{"mappings":{"properties":{"v":{"type":"dense_vector","dims":3,"index":true,"similarity":"dot_product"}}}},"deprecated":true}`,
			`{"template":{"mappings":{"properties":{"v":{"type":"knn_vector","dimension":3,"method":{"name":"hnsw","space_type":"innerproduct","engine":"lucene"}}}},"settings":{"index.knn":"true"}}}`,
			"template-part deprecated\ndense-vector template.mappings.properties.v.type\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := c.kind(translate.Route{From: c.from, To: c.to, Types: c.types}, "t", json.RawMessage(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(body.JSON) != c.want {
				t.Errorf("template\n%s\nwant\n%s", body.JSON, c.want)
			}
			if rules := rulesOf(body.Changes); rules != c.rules {
				t.Errorf("rules\n%swant\n%s", rules, c.rules)
			}
		})
	}
}

// TestOursTakesTemplates: the templates of every real repository are taken by our own store,
// and its data streams can be made.
func TestOursTakesTemplates(t *testing.T) {
	send := handler(t)
	_, globals, versions := metadata(t, committed, "../../../../../shared/snapshots/*")
	n := 0
	put := func(path string, body []byte) {
		n++
		status, answer, err := send(http.MethodPut, path, body)
		if err != nil || status != http.StatusOK && !lacking(string(answer), "configured") { // the store does not look for a template's own analyzers
			t.Errorf("%s: %d %s %v\n%s", path, status, answer, err, body)
		}
	}
	for repository, global := range globals {
		route := translate.Route{From: versions[repository], To: ours, Types: translate.MergeTypes}
		for _, part := range []struct {
			path string
			all  json.RawMessage
			kind func(string, json.RawMessage) (translate.Body, error)
		}{
			{"/_component_template/", global.ComponentTemplates, route.ComponentTemplate},
			{"/_template/", global.Templates, route.LegacyTemplate},
			{"/_index_template/", global.ComposableTemplates, route.Template},
		} {
			for name, template := range named(t, part.all) {
				body, err := part.kind(name, template)
				if err != nil {
					t.Errorf("%s: %s: %v", repository, name, err)
					continue
				}
				put(part.path+name, body.JSON)
			}
		}
		for name, stream := range named(t, global.DataStreams) {
			s, err := route.DataStream(name, stream)
			if err != nil || len(s.Backing) == 0 {
				t.Errorf("%s: %v, backing indices %v", name, err, s.Backing)
			}
			put("/_index_template/made-for-"+name, s.Template)
			put("/_data_stream/"+name, nil)
			if _, _, err := send(http.MethodDelete, "/_data_stream/"+name, nil); err != nil {
				t.Error(err)
			}
			send(http.MethodDelete, "/_index_template/made-for-"+name, nil)
		}
	}
	if n < 5 {
		t.Errorf("only %d requests were made", n)
	}
}

// named are the members of an object; nil when there is none.
func named(t *testing.T, object json.RawMessage) (all map[string]json.RawMessage) {
	t.Helper()
	if len(object) > 0 {
		if err := json.Unmarshal(object, &all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestRefused: what is refused, and with which kind of error.
func TestRefused(t *testing.T) {
	typed := translate.Index{Name: "i", Types: []string{"a", "b"}, Mappings: json.RawMessage(`{"a":{},"b":{}}`)}
	for _, c := range []struct {
		name  string
		route translate.Route
		index translate.Index
		kind  fault.Kind
	}{
		{"several types without a choice", translate.Route{From: es5, To: os2}, typed, fault.Refused},
		{"a target of long ago", translate.Route{From: es5, To: es6}, typed, fault.Refused},
		{"a target that nobody knows", translate.Route{From: es5, To: translate.Server{Product: "solr", Major: 9}}, typed, fault.Refused},
		{"mappings that are none", translate.Route{From: es7, To: os2}, translate.Index{Name: "i", Mappings: json.RawMessage(`[]`)}, fault.Corrupt},
		{"half an object", translate.Route{From: es7, To: os2}, translate.Index{Name: "i", Mappings: json.RawMessage(`{"a":`)}, fault.Corrupt},
		{"a type that is none", translate.Route{From: es5, To: os2}, translate.Index{Name: "i", Types: []string{"a"}, Mappings: json.RawMessage(`{"a":1}`)}, fault.Corrupt},
	} {
		if _, err := c.route.Index(c.index); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestPlaces: documents of each type go to the index that was made of it.
func TestPlaces(t *testing.T) {
	index := translate.Index{Name: "i", Types: []string{"A b", "a-b", "c"}, Mappings: json.RawMessage(`{"c":{},"a-b":{},"A b":{},"_default_":{}}`)}
	route := translate.Route{From: es5, To: os2, Types: translate.SplitTypes}
	places, err := route.Places(index)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := route.Index(index)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"": "i", "A b": "i-a-b", "a-b": "i-a-b-2", "c": "i-c"}
	if len(places) != len(want) || len(bodies) != 3 {
		t.Fatalf("places %v, %d bodies", places, len(bodies))
	}
	for typ, place := range want {
		if places[typ] != place {
			t.Errorf("documents of type %q go to %s, not %s", typ, places[typ], place)
		}
	}
	for i, typ := range []string{"A b", "a-b", "c"} {
		if bodies[i].Name != places[typ] {
			t.Errorf("body %d is of %s, documents of %s go to %s", i, bodies[i].Name, typ, places[typ])
		}
	}
	if merged, err := (translate.Route{From: es5, To: os2, Types: translate.MergeTypes}).Places(index); err != nil || len(merged) != 1 || merged[""] != "i" {
		t.Errorf("merged: %v, %v", merged, err)
	}
}

package mapping

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyMapping draws a definition, as often as not one that the server would refuse.
func anyMapping(t *rapid.T) string {
	root := map[string]any{}
	if p := anyProperties(t, 3); len(p) > 0 {
		root["properties"] = p
	}
	maybe := func(key string, values ...any) {
		if rapid.Bool().Draw(t, key+"?") {
			root[key] = rapid.SampledFrom(values).Draw(t, key)
		}
	}
	maybe("dynamic", true, false, "strict", "strict_allow_templates")
	maybe("date_detection", true, false)
	maybe("numeric_detection", true, false)
	maybe("dynamic_date_formats", "none", []string{"yyyy/MM"}, "yyyy||epoch_second")
	maybe("_meta", map[string]any{"z": 1, "a": []any{1.5, nil, map[string]any{"y": "x", "b": 2}}, "long name": "ä"}, map[string]any{})
	maybe("_routing", map[string]any{"required": true})
	maybe("_source", map[string]any{"includes": []string{"a*"}}, map[string]any{"enabled": false})
	maybe("dynamic_templates", []any{map[string]any{"t": map[string]any{"match": "a*", "mapping": map[string]any{"type": "keyword", "ignore_above": 3}}}},
		[]any{map[string]any{"o": map[string]any{"match_mapping_type": "object", "match": "b", "mapping": map[string]any{"type": "nested"}}},
			map[string]any{"s": map[string]any{"match_mapping_type": "string", "path_match": "c.*", "mapping": map[string]any{"copy_to": "{name}_all"}}}})
	text, _ := json.Marshal(root)
	return string(text)
}

var names = []string{"a", "b", "c", "ab", "a.b", "c.a", "Ä", "😀", "_x"}

func anyProperties(t *rapid.T, depth int) map[string]any {
	properties := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		properties[rapid.SampledFrom(names).Draw(t, "name")] = anyField(t, depth)
	}
	return properties
}

func anyField(t *rapid.T, depth int) map[string]any {
	kind := rapid.SampledFrom([]string{"object", "nested", "text", "keyword", "long", "double", "boolean", "date", "date_nanos", "ip", "byte",
		"match_only_text", "wildcard", "geo_point", "flat_object", "binary", "integer_range", "date_range", "scaled_float", "alias"}).Draw(t, "type")
	field := map[string]any{"type": kind}
	maybe := func(key string, values ...any) {
		if rapid.IntRange(0, 3).Draw(t, key+"?") == 0 {
			field[key] = rapid.SampledFrom(values).Draw(t, key)
		}
	}
	switch kind {
	case "object", "nested":
		maybe("dynamic", true, false, "strict")
		maybe("enabled", true, false)
		maybe("include_in_parent", true, false)
		if depth > 0 {
			field["properties"] = anyProperties(t, depth-1)
		}
		return field
	case "alias":
		field["path"] = rapid.SampledFrom(names).Draw(t, "path")
		return field
	case "flat_object":
		return field
	case "text":
		maybe("analyzer", "simple", "standard")
		maybe("search_analyzer", "keyword", "simple")
		maybe("index_options", "docs", "offsets")
		maybe("index_prefixes", map[string]any{"min_chars": 1})
		maybe("norms", false)
	case "keyword":
		maybe("ignore_above", 3, 256)
		maybe("null_value", "none", "😀")
		maybe("normalizer", "lowercase")
	case "long", "double", "byte":
		maybe("null_value", 7, "8")
		maybe("coerce", true, false)
		maybe("ignore_malformed", true, false)
	case "scaled_float":
		field["scaling_factor"] = rapid.SampledFrom([]any{10, 0.5, "100"}).Draw(t, "factor")
	case "date", "date_nanos", "date_range":
		maybe("format", "yyyy-MM-dd", "epoch_millis", "strict_date_optional_time")
	case "geo_point":
		maybe("ignore_malformed", true)
		maybe("null_value", "1,2")
	}
	maybe("store", true, false)
	maybe("meta", map[string]any{"unit": "ms"}, map[string]any{})
	if depth > 0 && kind != "geo_point" {
		maybe("copy_to", "all", []string{"a", "c.all"})
		maybe("fields", map[string]any{"raw": map[string]any{"type": "keyword"}}, map[string]any{"z": map[string]any{"type": "text"}, "b": map[string]any{"type": "wildcard"}})
	}
	return field
}

// anyValue draws a JSON value.
func anyValue(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return rapid.Int64Range(-300, 300).Draw(t, "integer")
	case 1:
		return rapid.SampledFrom([]any{1.5, 0.0, -1e30, 12345678901234567}).Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "truth")
	case 3:
		return nil
	case 4, 5:
		return rapid.SampledFrom([]any{"x", "12", "1.5", "2020-01-01", "2020/01", "::1", "1,2", "true", "", "aGk="}).Draw(t, "text")
	case 6, 7:
		if depth > 0 {
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "length") {
				list = append(list, anyValue(t, depth-1))
			}
			return list
		}
	default:
		if depth > 0 {
			return anyObject(t, depth-1)
		}
	}
	return "leaf"
}

func anyObject(t *rapid.T, depth int) map[string]any {
	o := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "keys") {
		o[rapid.SampledFrom(names).Draw(t, "key")] = anyValue(t, depth)
	}
	return o
}

// TestLaws: what is rendered is read again as the same; merging a mapping into
// itself changes nothing; additions, once merged, are not asked for again.
func TestLaws(t *testing.T) {
	parsed, added := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, err := Parse([]byte(anyMapping(t)), DefaultLimits)
		if err != nil {
			return
		}
		parsed++
		same(t, m)
		source, _ := json.Marshal(anyObject(t, 3))
		additions, err := m.Document(source, "1", DefaultLimits, &nesting{t: t})
		if err != nil || additions == nil {
			return
		}
		after, err := m.Merge(additions, DefaultLimits)
		if err != nil {
			return // a limit, a conflict with what is there
		}
		added++
		same(t, after)
		if more, err := after.Document(source, "1", DefaultLimits, nil); err == nil && more != nil {
			t.Fatalf("%s\n%s\nadds %s, and then %s", m.JSON(), source, additions, more)
		}
		if additionsOfBoth, err := m.Merge(after.JSON(), DefaultLimits); err == nil && string(additionsOfBoth.JSON()) != string(after.JSON()) {
			t.Fatalf("merged %s\n  gives %s", after.JSON(), additionsOfBoth.JSON())
		}
	})
	if parsed == 0 || added == 0 {
		t.Fatalf("%d mappings were read, %d documents added fields", parsed, added)
	}
}

// same holds a mapping to its rendering.
func same(t interface{ Fatalf(string, ...any) }, m *Mapping) {
	text := m.JSON()
	again, err := Parse(text, Unlimited(DefaultLimits))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if string(again.JSON()) != string(text) {
		t.Fatalf("%s\nis read as\n%s", text, again.JSON())
	}
	if !json.Valid(text) {
		t.Fatalf("no JSON: %s", text)
	}
	merged, err := m.Merge(text, Unlimited(DefaultLimits))
	if err != nil {
		if strings.Contains(err.Error(), "[index]") || strings.Contains(err.Error(), "[include_in_root]") {
			return // index of points is not rendered, redundant includes are worked out later
		}
		t.Fatalf("%s is not merged into itself: %v", text, err)
	}
	if string(merged.JSON()) != string(text) && !strings.Contains(string(text), "include_in_root") {
		t.Fatalf("%s\nmerged into itself is\n%s", text, merged.JSON())
	}
}

// nesting holds a walk to its promise that nested objects are closed in order.
type nesting struct {
	t    *rapid.T
	open []*Field
}

func (n *nesting) Value(f *Field, v Value) {
	if f.IsObject() || f.Target() != "" {
		n.t.Fatalf("a value for %s of type %s", f.Path(), f.Type())
	}
}

func (n *nesting) Begin(f *Field) { n.open = append(n.open, f) }

func (n *nesting) End(f *Field) {
	if len(n.open) == 0 || n.open[len(n.open)-1] != f {
		n.t.Fatalf("%s ends, which is not open", f.Path())
	}
	n.open = n.open[:len(n.open)-1]
}

func FuzzParse(f *testing.F) {
	answers(f, func(_ string, a answer) { f.Add([]byte(a.Mapping)) })
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := Parse(text, DefaultLimits); err == nil {
			same(t, m)
		}
	})
}

func FuzzMerge(f *testing.F) {
	answers(f, func(_ string, a answer) {
		if a.Update != nil {
			f.Add([]byte(a.Mapping), []byte(a.Update))
		}
	})
	f.Fuzz(func(t *testing.T, into, from []byte) {
		m, err := Parse(into, DefaultLimits)
		if err != nil {
			return
		}
		before := string(m.JSON())
		if merged, err := m.Merge(from, DefaultLimits); err == nil {
			same(t, merged)
		}
		if merged, err := m.MergeTemplate(from, DefaultLimits); err == nil {
			same(t, merged)
		}
		if string(m.JSON()) != before {
			t.Fatal("merging changed what was merged into")
		}
	})
}

func FuzzDocument(f *testing.F) {
	answers(f, func(_ string, a answer) {
		switch {
		case a.Source != nil:
			f.Add([]byte(a.Mapping), []byte(a.Source))
		case a.Text != nil:
			f.Add([]byte(a.Mapping), []byte(*a.Text))
		}
	})
	f.Fuzz(func(t *testing.T, mappings, source []byte) {
		m, err := Parse(mappings, DefaultLimits)
		if err != nil {
			return
		}
		additions, err := m.Document(source, "1", DefaultLimits, &counting{})
		if err != nil || additions == nil {
			return
		}
		after, err := m.Merge(additions, DefaultLimits)
		if err != nil {
			return
		}
		if more, err := after.Document(source, "1", DefaultLimits, nil); err == nil && more != nil {
			t.Fatalf("%s\n%s\nadds %s, and then %s", m.JSON(), source, additions, more)
		}
	})
}

package translate

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// mapping translates a mapping without a type: the server's own fields, the parameters of
// the root, and the fields.
func (t *translation) mapping(m *node, where string) {
	m.take("_data_stream_timestamp") // of rule private
	t.starTrees(m, where)
	if t.same || !m.isObject() {
		return
	}
	t.ownFields(m, where)
	t.rootParams(m, where)
	t.objectParams(m, where)
	t.dynamicTemplates(m, where)
	t.properties(m, where, "", 0)
	t.dangling(m, where, "", 0)
}

// ownFields translates the fields that a server has of its own.
func (t *translation) ownFields(m *node, where string) {
	for _, own := range []struct{ name, rule string }{
		{"_all", "all-field"}, {"_timestamp", "timestamp-field"}, {"_ttl", "ttl-field"}, {"_parent", "parent"}, {"_field_names", "field-names"},
		{"_size", "size-field"}, {"_analyzer", "analyzer-field"}, {"_boost", "boost-field"}, {"_id", "own-field"}, {"_index", "own-field"}, {"_uid", "own-field"},
		{"_type", "own-field"}, {"_version", "own-field"}, {"_ignored_source", "own-field"}, {"_inference_fields", "own-field"}, {"_tier", "own-field"},
	} {
		value := m.at(own.name)
		if value == nil || !t.needs(own.rule) {
			continue
		}
		rule := own.rule
		on, told := lenient(value.at("enabled").text())
		switch own.name {
		case "_timestamp", "_ttl", "_size": // off unless told
			if !on {
				rule = "own-field"
			}
		case "_all":
			if told && !on {
				rule = "own-field"
			}
		}
		if !t.needs(rule) {
			continue
		}
		m.take(own.name)
		t.tell(rule, join(where, own.name), "left out: "+string(value.json()))
	}
	if routing := m.at("_routing"); routing.isObject() {
		t.dropParams(routing, join(where, "_routing"), "own-field", "path", "store", "index", "type", "required_path")
		t.lenientParams(routing, join(where, "_routing"), "required")
	}
	if source := m.at("_source"); source.isObject() {
		t.source(source, join(where, "_source"))
	}
}

func (t *translation) source(source *node, where string) {
	t.lenientParams(source, where, "enabled")
	t.dropParams(source, where, "own-field", "compress", "compress_threshold", "format", "store", "index", "path")
	t.dropParams(source, where, "source-mode", "mode", "synthetic")
	t.dropParams(source, where, "recovery-source", "recovery_source_enabled", "recovery_source_includes", "recovery_source_excludes")
}

// dropParams leaves out parameters, if the route needs the rule.
func (t *translation) dropParams(n *node, where, rule string, names ...string) {
	if !t.needs(rule) {
		return
	}
	for _, name := range names {
		if value := n.take(name); value != nil {
			t.tell(rule, join(where, name), "left out: "+brief(value))
		}
	}
}

// brief is a value for people.
func brief(n *node) string {
	text := string(n.json())
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// lenientParams makes true or false of what Elasticsearch up to 5 took for that.
func (t *translation) lenientParams(n *node, where string, names ...string) {
	if !t.needs("lenient-boolean") {
		return
	}
	for _, name := range names {
		value := n.at(name)
		on, ok := lenient(value.text())
		if !ok || value.kind == token.True || value.kind == token.False || value.text() == "true" || value.text() == "false" {
			continue
		}
		n.set(name, boolNode(on))
		t.tell("lenient-boolean", join(where, name), value.text()+" becomes "+n.at(name).text())
	}
}

// starTrees leaves out star trees, which a server shows among the fields.
func (t *translation) starTrees(m *node, where string) {
	if !m.isObject() || !t.needs("star-tree") {
		return
	}
	if m.at("composite") != nil {
		m.take("composite")
		t.tell("star-tree", join(where, "composite"), "left out")
	}
	fields := m.at("properties")
	if !fields.isObject() {
		return
	}
	kept := fields.members[:0]
	for _, f := range fields.members {
		if f.value.at("type").text() == "star_tree" {
			fields.changed = true
			t.tell("star-tree", join(where, "properties."+f.key), "left out")
			continue
		}
		kept = append(kept, f)
	}
	fields.members = kept
}

// rootParams translates what stands beside the fields.
func (t *translation) rootParams(m *node, where string) {
	for _, param := range []struct{ name, rule string }{
		{"transform", "transform"}, {"runtime", "runtime-fields"}, {"derived", "derived-fields"}, {"context_aware_grouping", "star-tree"},
		{"index_analyzer", "root-analyzer"}, {"search_analyzer", "root-analyzer"}, {"analyzer", "root-analyzer"}, {"search_quote_analyzer", "root-analyzer"},
	} {
		value := m.at(param.name)
		if value == nil || !t.needs(param.rule) {
			continue
		}
		rule := param.rule
		if value.isObject() && len(value.members) == 0 {
			rule = "own-field" // it said nothing
		}
		m.take(param.name)
		t.tell(rule, join(where, param.name), "left out: "+brief(value))
	}
	t.lenientParams(m, where, "date_detection", "numeric_detection")
	for _, name := range []string{"dynamic_date_formats", "date_formats"} {
		list := m.at(name)
		if !list.isList() {
			continue
		}
		for i, item := range list.items {
			if format, changed := t.dateFormat(item.text(), join(where, name), true); changed {
				list.items[i] = textNode(format)
				list.changed = true
			}
		}
	}
}

// objectParams translates the parameters that each object has.
func (t *translation) objectParams(n *node, where string) {
	t.dropParams(n, where, "include-in-all", "include_in_all")
	t.dropParams(n, where, "object-path", "path")
	t.dropParams(n, where, "subobjects", "subobjects")
	t.dropParams(n, where, "obsolete-parameter", "synthetic_source_keep", "store_array_source", "time_series_dimension", "priority")
	t.lenientParams(n, where, "enabled", "include_in_parent", "include_in_root")
	dynamic := n.at("dynamic")
	if dynamic == nil {
		return
	}
	become := func(rule, text string) {
		n.set("dynamic", textNode(text))
		t.tell(rule, join(where, "dynamic"), dynamic.text()+" becomes "+text)
	}
	switch text := dynamic.text(); text {
	case "runtime":
		if t.needs("dynamic-runtime") {
			become("dynamic-runtime", "true")
		}
	case "strict_allow_templates", "false_allow_templates":
		if t.needs("dynamic-templates-only") {
			become("dynamic-templates-only", strings.TrimSuffix(text, "_allow_templates"))
		}
	default:
		t.lenientParams(n, where, "dynamic")
	}
}

// deepest is how many objects may be nested before the rest goes through untouched; servers
// allow 20 as a rule.
const deepest = 500

// properties translates the fields of an object.
func (t *translation) properties(n *node, where, path string, depth int) {
	fields := n.at("properties")
	if !fields.isObject() || depth > deepest {
		return
	}
	for i := range fields.members {
		m := &fields.members[i]
		if m.value.isObject() {
			t.field(m.value, join(join(where, "properties"), m.key), join(path, m.key), depth)
		}
	}
}

// field translates one field.
func (t *translation) field(f *node, where, path string, depth int) {
	typ := f.at("type").text()
	if typ == "" && f.at("properties") == nil && f.at("fields") == nil && f.at("enabled") == nil && f.at("dynamic") == nil {
		return
	}
	if typ == "" || typ == "object" || typ == "nested" || typ == "passthrough" {
		if typ == "passthrough" {
			t.fieldType(f, where, path, false)
		}
		t.objectParams(f, where)
		t.properties(f, where, path, depth+1)
		return
	}
	t.multiField(f, where, path)
	t.legacyParams(f, where)
	t.fieldType(f, where, path, false)
	t.params(f, where)
	t.multiFields(f, where, path)
}

// multiFields translates the fields that index one value in several ways.
func (t *translation) multiFields(f *node, where, path string) {
	fields := f.at("fields")
	if !fields.isObject() {
		return
	}
	kept := fields.members[:0]
	for _, m := range fields.members {
		below := join(join(where, "fields"), m.key)
		if m.value.isObject() {
			t.legacyParams(m.value, below)
			if t.fieldType(m.value, below, join(path, m.key), true) {
				t.blind[join(path, m.key)] = true
				fields.changed = true
				continue
			}
			t.params(m.value, below)
			t.dropParams(m.value, below, "obsolete-parameter-old", "copy_to")
			t.multiFields(m.value, below, join(path, m.key))
		}
		kept = append(kept, m)
	}
	fields.members = kept
}

// dangling removes what points at fields that stand for nothing any more.
func (t *translation) dangling(n *node, where, path string, depth int) {
	fields := n.at("properties")
	if !fields.isObject() || depth > deepest || len(t.blind) == 0 {
		return
	}
	kept := fields.members[:0]
	for _, m := range fields.members {
		below := join(join(where, "properties"), m.key)
		if !m.value.isObject() {
			kept = append(kept, m)
			continue
		}
		if target := m.value.at("path").text(); m.value.at("type").text() == "alias" && t.blind[target] {
			fields.changed = true
			t.tell("dangling", below, "the alias of "+target+" is left out")
			continue
		}
		t.copies(m.value, below)
		t.dangling(m.value, below, join(path, m.key), depth+1)
		kept = append(kept, m)
	}
	fields.members = kept
}

// copies removes from copy_to what cannot take values.
func (t *translation) copies(f *node, where string) {
	to := f.at("copy_to")
	if to == nil {
		return
	}
	var kept []string
	for _, target := range to.texts() {
		if t.blind[target] {
			t.tell("dangling", join(where, "copy_to"), target+" takes no values")
			continue
		}
		kept = append(kept, target)
	}
	switch {
	case len(kept) == len(to.texts()):
	case len(kept) == 0:
		f.take("copy_to")
	default:
		f.set("copy_to", listNode(kept))
	}
}

// dynamicTemplates translates the mappings that fields get when they are met first.
func (t *translation) dynamicTemplates(m *node, where string) {
	list := m.at("dynamic_templates")
	if !list.isList() {
		return
	}
	kept := list.items[:0]
	for _, item := range list.items {
		if !item.isObject() || len(item.members) != 1 || !item.members[0].value.isObject() || t.dynamicTemplate(item.members[0].value, join(where, "dynamic_templates."+item.members[0].key)) {
			kept = append(kept, item)
			continue
		}
		list.changed = true
	}
	list.items = kept
}

// dynamicTemplate is false when there is no counterpart.
func (t *translation) dynamicTemplate(n *node, where string) bool {
	for _, key := range []string{"match_mapping_type", "unmatch_mapping_type"} {
		value := n.at(key)
		if value == nil || !t.needs("dynamic-template") || key == "match_mapping_type" && !value.isList() {
			continue
		}
		if value.isList() && len(value.items) == 1 && key == "match_mapping_type" {
			n.set(key, textNode(value.items[0].text()))
			continue
		}
		t.tell("dynamic-template", where, "left out: "+key+" "+brief(value))
		return false
	}
	if n.at("runtime") != nil && t.needs("runtime-fields") {
		t.tell("runtime-fields", where, "left out: "+brief(n))
		return false
	}
	mapping := n.at("mapping")
	if !mapping.isObject() {
		return true
	}
	where = join(where, "mapping")
	if mapping.at("type") == nil && t.needs("string-type") && n.at("match_mapping_type").text() == "string" {
		mapping.set("type", textNode("string"))
	}
	if strings.HasPrefix(mapping.at("type").text(), "{") {
		t.params(mapping, where)
		return true
	}
	t.field(mapping, where, "*", 0)
	delete(t.blind, "*")
	return true
}

package translate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// LegacyTemplate is a template of PUT _template/NAME. Errors are those of Index.
func (r Route) LegacyTemplate(name string, template json.RawMessage) (Body, error) {
	return r.template(name, template, func(t *translation, n *node) error {
		if pattern := n.at("template"); pattern != nil && pattern.kind == token.String && n.at("index_patterns") == nil && t.needs("template-pattern") {
			n.rename("template", "index_patterns")
			n.set("index_patterns", listNode([]string{pattern.text()}))
			t.tell("template-pattern", "template", pattern.text())
		}
		return t.templateParts(n, "")
	})
}

// Template is a composable template of PUT _index_template/NAME. Errors are those of Index.
func (r Route) Template(name string, template json.RawMessage) (Body, error) {
	return r.template(name, template, func(t *translation, n *node) error {
		t.dropParams(n, "", "template-part", t.unknownParts()...)
		if n.at("data_stream").isObject() {
			t.stream(n.at("data_stream"))
		}
		return t.inner(n)
	})
}

// ComponentTemplate is a template of PUT _component_template/NAME. Errors are those of Index.
func (r Route) ComponentTemplate(name string, template json.RawMessage) (Body, error) {
	return r.template(name, template, func(t *translation, n *node) error {
		t.dropParams(n, "", "template-part", t.unknownParts()...)
		return t.inner(n)
	})
}

// template translates one template by its kind.
func (r Route) template(name string, template json.RawMessage, kind func(*translation, *node) error) (Body, error) {
	t, err := r.start(Server{})
	if err != nil {
		return Body{}, fault.At(err, name)
	}
	n, err := parse(template)
	if err == nil && !n.isObject() {
		err = fault.New(fault.Corrupt, "the template is no object")
	}
	if err == nil {
		err = kind(t, n)
	}
	if err != nil {
		return Body{}, fault.At(err, name)
	}
	return Body{Name: name, JSON: n.json(), Changes: t.told()}, nil
}

// unknownParts are what newer versions have beside the template.
func (t *translation) unknownParts() []string {
	parts := []string{"created_date", "created_date_millis", "modified_date", "modified_date_millis"} // a server writes them
	if !Servers("elasticsearch 8.12-").Has(t.to) {
		parts = append(parts, "deprecated")
	}
	if !Servers("elasticsearch 8.7-").Has(t.to) {
		parts = append(parts, "ignore_missing_component_templates")
	}
	if t.to.Product != elasticsearch {
		parts = append(parts, "allow_auto_create")
	}
	if !Servers("opensearch 2.16-").Has(t.to) {
		parts = append(parts, "context")
	}
	return parts
}

// inner translates what a template makes of an index.
func (t *translation) inner(n *node) error {
	inner := n.at("template")
	if !inner.isObject() {
		return nil
	}
	t.dropParams(inner, "template", "template-lifecycle", "lifecycle", "data_stream_options")
	return t.templateParts(inner, "template")
}

// stream translates what makes a template one of data streams.
func (t *translation) stream(n *node) {
	if t.to.Product == elasticsearch {
		if field := n.at("timestamp_field"); field != nil && t.from.Product == opensearch {
			rule := "template-part"
			if name := field.at("name").text(); name != "" && name != "@timestamp" {
				rule = "stream-time"
			}
			t.dropParams(n, "data_stream", rule, "timestamp_field")
		}
		return
	}
	t.dropParams(n, "data_stream", "template-part", "hidden", "allow_custom_routing", "index_mode", "failure_store", "replicated")
}

// templateParts translates settings, mappings and aliases.
func (t *translation) templateParts(n *node, where string) error {
	if mappings := n.at("mappings"); mappings.isObject() {
		mapping, err := t.templateMapping(mappings, join(where, "mappings"))
		if err != nil {
			return err
		}
		t.mapping(mapping, join(where, "mappings"))
		if mapping != mappings {
			n.set("mappings", mapping)
		}
	}
	if aliases := n.at("aliases"); aliases.isObject() {
		t.aliases(aliases, join(where, "aliases"), false)
	}
	settings := n.at("settings")
	if !settings.isObject() && !t.knn && !t.stripped {
		return nil
	}
	all := map[string]setting{}
	if settings.isObject() {
		flatten(all, "", settings)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "index.") {
			all["index."+name] = all[name]
			delete(all, name)
		}
	}
	before := maps.Clone(all)
	all = t.settings(all)
	if !t.knn && !t.stripped && maps.EqualFunc(before, all, func(a, b setting) bool { return a.String() == b.String() }) {
		return nil
	}
	n.set("settings", t.settingsNode(all))
	return nil
}

// templateMapping takes the type away that a mapping is under.
func (t *translation) templateMapping(mappings *node, where string) (*node, error) {
	if !Servers("elasticsearch 1-7").Has(t.from) || !typedMapping(mappings, t.from) {
		return mappings, nil
	}
	if mappings.take("_default_") != nil {
		t.tell("default-mapping", join(where, "_default_"), "left out")
	}
	slices.SortFunc(mappings.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	switch {
	case len(mappings.members) == 0:
		return newObject(), nil
	case len(mappings.members) > 1 && t.types == "":
		err := fault.New(fault.Refused, "the template has %d mapping types", len(mappings.members))
		return nil, fault.WithNext(err, "choose with --types: one index for each type (split), or one with the fields of all (merge)")
	}
	for _, m := range mappings.members {
		if !m.value.isObject() {
			return nil, fault.New(fault.Corrupt, "the mapping of the type %s is no object", m.key)
		}
	}
	if len(mappings.members) > 1 {
		t.tell("template-types", where, "become one mapping")
		for _, m := range mappings.members[1:] {
			t.mergeObject(mappings.members[0].value, m.value, where, 0)
		}
	} else if name := mappings.members[0].key; name != "_doc" && t.from.Major < 7 {
		t.tell("type-name", join(where, name), "is the mapping")
	}
	return mappings.members[0].value, nil
}

// typedMapping tells whether a mapping of a template lies under the names of types: up to
// Elasticsearch 6 all do, and from 7 on legacy templates may.
func typedMapping(mappings *node, from Server) bool {
	if from.Major == 7 {
		return len(mappings.members) == 1 && mappings.members[0].key == "_doc" && mappings.members[0].value.isObject()
	}
	return !slices.ContainsFunc(mappings.members, func(m member) bool { return m.key == "properties" || !m.value.isObject() })
}

// Stream is a data stream of the source.
type Stream struct {
	Name      string
	Timestamp string   // its field of time
	Backing   []string // indices, oldest first
	// Template makes a data stream of its name out of nothing, for PUT _index_template: the
	// target may have no template that does.
	Template json.RawMessage
	Changes  []Change
}

// DataStream reads a data stream as a snapshot's global state has it. On the target it is
// made with PUT _data_stream/NAME, which needs a template.
func (r Route) DataStream(name string, stream json.RawMessage) (Stream, error) {
	t, err := r.start(Server{})
	if err != nil {
		return Stream{}, fault.At(err, name)
	}
	n, err := parse(stream)
	if err == nil && !n.isObject() {
		err = fault.New(fault.Corrupt, "the data stream is no object")
	}
	if err != nil {
		return Stream{}, fault.At(err, name)
	}
	s := Stream{Name: name, Timestamp: "@timestamp"}
	if field := n.at("timestamp_field").at("name").text(); field != "" {
		s.Timestamp = field
	}
	for _, index := range n.at("indices").list() {
		s.Backing = append(s.Backing, index.at("index_name").text())
	}
	kind := newObject()
	switch {
	case s.Timestamp == "@timestamp":
	case t.to.Product == elasticsearch:
		t.tell("stream-time", "timestamp_field", s.Timestamp+" becomes @timestamp")
		s.Timestamp = "@timestamp"
	default:
		kind.set("timestamp_field", newObject(member{"name", textNode(s.Timestamp)}))
	}
	s.Template = newObject(member{"index_patterns", listNode([]string{name})}, member{"data_stream", kind}, member{"priority", literal(token.Integer, "500")}).json()
	s.Changes = t.told()
	return s, nil
}

// list are the items of a list.
func (n *node) list() []*node {
	if !n.isList() {
		return nil
	}
	return n.items
}

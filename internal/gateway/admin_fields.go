package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const capsParams = expressionParams + "fields include_unmapped"

var fieldRoutes = []route{
	{"GET POST", "/_field_caps", capsParams, (*call).fieldCaps},
	{"GET POST", "/{index}/_field_caps", capsParams, (*call).fieldCaps},
}

// capability is what can be done with a field of one type, as its mappings say, and what they
// note about it.
type capability struct {
	searchable, aggregatable bool
	meta                     map[string]string
}

// ownCapabilities are the fields that every index has, by name: their types are
// their names, but for one.
var ownCapabilities = map[string]capability{
	"_routing": {true, false, nil}, "_ignored": {true, false, nil}, "_seq_no": {true, true, nil}, "_doc_count": {false, false, nil},
	"_nested_path": {true, false, nil}, "_index": {true, true, nil}, "_field_names": {true, false, nil},
	"_data_stream_timestamp": {false, false, nil}, "_source": {false, false, nil}, "_id": {true, true, nil}, "_version": {false, false, nil},
}

// capabilities of one field name: type → index → what can be done there.
type capabilities map[string]map[string]capability

func (c capabilities) add(kind, index string, can capability) {
	if c[kind] == nil {
		c[kind] = map[string]capability{}
	}
	c[kind][index] = can
}

func (c *call) fieldCaps() error {
	patterns, err := c.capFields()
	if err != nil {
		return err
	}
	unmapped, err := c.boolean("include_unmapped", false)
	if err != nil {
		return err
	}
	if len(patterns) == 0 {
		return exception.New(exception.IllegalArgument, "specified fields can't be null or empty")
	}
	mappings, err := c.mappings(openOnes, catalog.ReadDocuments)
	if err != nil {
		return err
	}
	indices := sortedNames(mappings)
	found := map[string]capabilities{}
	for _, index := range indices {
		addCapabilities(found, index, mappings[index], patterns)
	}
	fields := object{}
	for _, name := range serverOrder(found, usualTable) {
		if unmapped {
			addUnmapped(found[name], indices)
		}
		fields.add(name, capabilitiesJSON(found[name]))
	}
	return c.answer(http.StatusOK, object{{"indices", append([]string{}, indices...)}, {"fields", fields}})
}

// capFields are the patterns of the fields that are asked for: a parameter, or, of Elasticsearch's
// clients from 8 on, a member of the body.
func (c *call) capFields() ([]string, error) {
	body, err := c.content()
	if err != nil {
		return nil, err
	}
	patterns := c.list("fields")
	if len(bytes.TrimSpace(body)) == 0 {
		return patterns, nil
	}
	var asked map[string]json.RawMessage
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, exception.New(exception.OpenSearchParse, "the body of _field_caps is no JSON object: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		switch {
		case name != "fields" || !c.s.elastic():
			return nil, exception.New(exception.IllegalArgument, "[%s] in the body of _field_caps is not supported: only [fields] is, with --compat elasticsearch", name)
		case len(patterns) > 0:
			return nil, exception.New(exception.IllegalArgument, "[fields] of _field_caps is given twice: as a parameter and in the body")
		}
	}
	if len(asked) == 0 {
		return patterns, nil
	}
	var fields oneOrMore
	if err := json.Unmarshal(asked["fields"], &fields); err != nil {
		return nil, exception.New(exception.IllegalArgument, "[fields] in the body of _field_caps is neither a string nor an array of strings")
	}
	return fields, nil
}

// oneOrMore is a JSON text, or an array of them.
type oneOrMore []string

// UnmarshalJSON reads both forms.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// addCapabilities adds the fields of an index that the patterns mean, and the
// objects that they are in.
func addCapabilities(found map[string]capabilities, index string, m *mapping.Mapping, patterns []string) {
	add := func(name, kind string, can capability) {
		if found[name] == nil {
			found[name] = capabilities{}
		}
		found[name].add(kind, index, can)
	}
	for name, can := range ownCapabilities {
		if wildcard.MatchAny(patterns, name) {
			kind := name
			if name == "_doc_count" {
				kind = "long"
			}
			add(name, kind, can)
		}
	}
	for f := range m.All() {
		if f.Path() == "" || f.IsObject() || !wildcard.MatchAny(patterns, f.Path()) {
			continue
		}
		stands := f
		if target, ok := m.Field(f.Target()); f.Target() != "" && ok {
			stands = target
		}
		add(f.Path(), stands.Type(), capability{stands.Indexed(), stands.DocValues(), stands.Meta()})
		for path, dot := f.Path(), 0; ; {
			if dot = strings.LastIndexByte(path, '.'); dot < 0 {
				break
			}
			path = path[:dot]
			if parent, ok := m.Field(path); ok && parent.IsObject() {
				add(path, parent.Type(), capability{})
			}
		}
	}
}

// addUnmapped adds the indices that do not know a field.
func addUnmapped(of capabilities, indices []string) {
	for _, index := range indices {
		known := false
		for _, here := range of {
			_, ok := here[index]
			known = known || ok
		}
		if !known {
			of.add("unmapped", index, capability{})
		}
	}
}

// capabilitiesJSON shows what can be done with a field: in all its indices, unless
// they are named.
func capabilitiesJSON(of capabilities) object {
	o := object{}
	for _, kind := range serverOrder(of, usualTable) {
		here := of[kind]
		searchable, aggregatable := true, true
		var notSearchable, notAggregatable []string
		for _, index := range sortedNames(here) {
			if !here[index].searchable {
				notSearchable, searchable = append(notSearchable, index), false
			}
			if !here[index].aggregatable {
				notAggregatable, aggregatable = append(notAggregatable, index), false
			}
		}
		one := object{{"type", kind}, {"searchable", searchable}, {"aggregatable", aggregatable}}
		if len(of) > 1 {
			one.add("indices", sortedNames(here))
		}
		if len(notSearchable) > 0 && len(notSearchable) < len(here) {
			one.add("non_searchable_indices", notSearchable)
		}
		if len(notAggregatable) > 0 && len(notAggregatable) < len(here) {
			one.add("non_aggregatable_indices", notAggregatable)
		}
		if notes := notesOf(here); len(notes) > 0 {
			one.add("meta", notes)
		}
		o.add(kind, one)
	}
	return o
}

// notesOf are the notes about a field in all its indices: by their names, all texts that there are.
func notesOf(here map[string]capability) object {
	texts := map[string]map[string]bool{}
	for _, can := range here {
		for name, text := range can.meta {
			if texts[name] == nil {
				texts[name] = map[string]bool{}
			}
			texts[name][text] = true
		}
	}
	o := object{}
	for _, name := range sortedNames(texts) {
		o.add(name, sortedNames(texts[name]))
	}
	return o
}

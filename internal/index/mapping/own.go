package mapping

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// timestampField is timestamp_field of _data_stream_timestamp.
type timestampField string

// ownTypes are the server's own fields. Those with a type may be given
// parameters; the others are not configurable. No field may have their names.
var ownTypes = map[string]*fieldType{
	"_source": {name: "null", multiAt: -1, params: []param{
		{name: "enabled", value: true, read: readBool},
		{name: "includes", value: []string{}, read: readList},
		{name: "excludes", value: []string{}, read: readList},
		{name: "recovery_source_enabled", value: true, read: readBool},
		{name: "recovery_source_includes", value: []string{}, read: readList},
		{name: "recovery_source_excludes", value: []string{}, read: readList},
	}},
	"_routing":     {name: "null", multiAt: -1, params: []param{{name: "required", value: false, read: readBool}}},
	"_field_names": {name: "null", multiAt: -1, params: []param{{name: "enabled", value: true, read: readBool, update: changes, explicit: true}}},
	"_data_stream_timestamp": {name: "null", multiAt: -1, params: []param{
		{name: "enabled", value: false, read: readBool},
		{name: "timestamp_field", value: timestampField("@timestamp"), read: readTimestamp},
	}},
	"_doc_count":   {name: "null", multiAt: -1},
	"_feature":     nil,
	"_id":          nil,
	"_ignored":     nil,
	"_index":       nil,
	"_nested_path": nil,
	"_seq_no":      nil,
	"_version":     nil,
}

// readOwn reads the parameters of one of the server's own fields.
func (r *reading) readOwn(name string, v any) (*Field, error) {
	kind := ownTypes[name]
	o, ok := v.(*object)
	if !ok {
		// the server's own text, whatever the field
		return nil, exception.New(exception.IllegalArgument, "[_parent] must be an object containing [type]")
	}
	if kind == nil {
		return nil, exception.New(exception.MapperParsing, "%s is not configurable", name)
	}
	f := newLeaf(name, name, kind)
	return f, r.params(f, o.clone())
}

func readList(_ *reading, _ *Field, _ string, v any) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, wrongClass(v, "java.util.List")
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = javaText(item)
	}
	return texts, nil
}

func readTimestamp(_ *reading, _ *Field, _ string, v any) (any, error) {
	o, err := asObject(v)
	if err != nil {
		return nil, err
	}
	return timestampField(javaText(o.at["name"])), nil
}

// ownNames are the server's own fields, by name.
var ownNames = slices.Sorted(maps.Keys(ownTypes))

// own reads a value of one of the server's own fields, of which a source may hold
// but one.
func (w *walk) own(name string, kind json.Kind) (known bool, err error) {
	if top, _, dotted := strings.Cut(name, "."); dotted {
		if _, own := ownTypes[top]; own {
			return true, exception.New(exception.MapperParsing, "Could not dynamically add mapping for field [%s]. Existing mapping for [%s] must be of type object but found [%s].", name, top, top)
		}
		return false, nil
	}
	if _, own := ownTypes[name]; !own {
		return false, nil
	}
	t, err := w.token(kind)
	if err != nil {
		return true, err
	}
	switch {
	case name != "_doc_count":
		err = exception.New(exception.MapperParsing, "Field [%s] is a metadata field and cannot be added inside a document. Use the index API request parameters.", name)
	case t.kind != json.Integer && t.kind != json.Float:
		line, column := w.here().lineColumn(w.at)
		err = exception.New(exception.Parsing, "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [%s]", t.kind).With("line", line).With("col", column)
	case number(t.text).float() < 1:
		err = exception.New(exception.IllegalArgument, "Field [%s] must be a positive integer.", name)
	default:
		return true, nil
	}
	return true, w.unreadable(&Field{path: name, kind: &fieldType{name: name}}, t, err)
}

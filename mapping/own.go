package mapping

import (
	"maps"
	"slices"

	"github.com/reshelve/reshelve/exception"
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

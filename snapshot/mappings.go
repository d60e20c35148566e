package snapshot

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
)

// defaultMapping is no type, but what new types of an index up to 6.x begin with.
const defaultMapping = "_default_"

// onlyType is the type that mappings without types are stored under.
const onlyType = "_doc"

// mappings reads the mappings of an index or template: an array with one
// element for each type (1.x to today), each an object {TYPE: mapping} or the
// compressed bytes of one, which arrive here as base64; or one object with all.
func (e *expander) mappings(data json.RawMessage) (map[string]json.RawMessage, error) {
	byType := map[string]json.RawMessage{}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return byType, nil
	}
	add := func(element json.RawMessage) error { return e.addMappings(byType, element) }
	var err error
	if data[0] == '[' {
		err = eachElement(data, add)
	} else {
		err = add(data)
	}
	if err != nil {
		return nil, err
	}
	return byType, nil
}

// addMappings adds the mappings of one element.
func (e *expander) addMappings(byType map[string]json.RawMessage, element json.RawMessage) error {
	plain, err := e.compressed(element)
	if err != nil {
		return err
	}
	var types map[string]json.RawMessage
	if err := decodeJSON(plain, &types); err != nil {
		return err
	}
	for name, mapping := range types {
		if _, twice := byType[name]; twice {
			return fault.New(fault.Corrupt, "type %q is there twice", name)
		}
		if mapping, err = e.compressed(mapping); err != nil {
			return fault.At(err, "type "+name)
		}
		byType[name] = mapping
	}
	return nil
}

// originalMappings are the mappings that a source-only snapshot keeps below _meta,
// by type, of mappings that are themselves disabled.
func originalMappings(byType map[string]json.RawMessage) map[string]json.RawMessage {
	original := make(map[string]json.RawMessage, len(byType))
	for name, data := range byType {
		var mapping struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		original[name] = data
		if json.Unmarshal(data, &mapping) == nil && len(mapping.Meta[name]) > 0 {
			original[name] = mapping.Meta[name]
		}
	}
	return original
}

// compressed returns the JSON of a value that is either that JSON or, as a
// base64 string, compressed x-content (CompressedXContent of the servers).
func (e *expander) compressed(value json.RawMessage) (json.RawMessage, error) {
	if len(value) == 0 || value[0] != '"' {
		return value, nil
	}
	var text string
	if err := decodeJSON(value, &text); err != nil {
		return nil, err
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "is neither an object nor compressed: %w", err)
	}
	plain, err := e.json(packed)
	if err != nil {
		return nil, err
	}
	if !json.Valid(plain) {
		return nil, fault.New(fault.Corrupt, "is not valid JSON after decompression")
	}
	return bytes.TrimSpace(plain), nil
}

// aliases reads aliases by name, whose filters may be compressed; up to 1.x
// they may also come as an array of such objects.
func (e *expander) aliases(data json.RawMessage) (json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return json.RawMessage("{}"), nil
	}
	all := map[string]map[string]json.RawMessage{}
	add := func(element json.RawMessage) error { return e.addAliases(all, element) }
	var err error
	if data[0] == '[' {
		err = eachElement(data, add)
	} else {
		err = add(data)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// addAliases adds the aliases of one element.
func (e *expander) addAliases(all map[string]map[string]json.RawMessage, element json.RawMessage) error {
	var aliases map[string]map[string]json.RawMessage
	if err := decodeJSON(element, &aliases); err != nil {
		return err
	}
	for name, alias := range aliases {
		if filter, ok := alias["filter"]; ok {
			var err error
			if alias["filter"], err = e.compressed(filter); err != nil {
				return fault.At(err, name, "filter")
			}
		}
		all[name] = alias
	}
	return nil
}

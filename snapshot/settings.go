package snapshot

import (
	"bytes"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
)

// flatten makes dotted keys of settings that may be nested, flat or mixed.
// Lists keep their JSON text.
func flatten(data json.RawMessage) (map[string]string, error) {
	f := flattener{flat: map[string]string{}, room: 16*len(data) + 1<<16}
	if len(data) == 0 {
		return f.flat, nil
	}
	return f.flat, f.add("", data)
}

// flattener collects settings. Keys repeat what they are nested in, so room bounds
// how long all of them, and all objects below, may be together: settings of real
// indices take four times the length of their text.
type flattener struct {
	flat map[string]string
	room int
}

func (f *flattener) add(prefix string, data json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := decodeJSON(data, &object); err != nil {
		return err
	}
	for key, value := range object {
		if f.room -= len(prefix) + len(key) + len(value); f.room < 0 {
			return fault.New(fault.Corrupt, "keys are nested too deep, or too long")
		}
		if err := f.value(prefix+key, value); err != nil {
			return err
		}
	}
	return nil
}

func (f *flattener) value(key string, value json.RawMessage) error {
	switch value[0] {
	case '{':
		return f.add(key+".", value)
	case 'n': // null: reset to its default
		return nil
	}
	if _, twice := f.flat[key]; twice {
		return fault.New(fault.Corrupt, "%s is set twice", key)
	}
	if value[0] == '"' {
		var text string
		err := decodeJSON(value, &text)
		f.flat[key] = text
		return err
	}
	var text bytes.Buffer
	err := json.Compact(&text, value)
	f.flat[key] = text.String()
	return understood(err)
}

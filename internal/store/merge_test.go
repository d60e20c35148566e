package store

import (
	"encoding/json"
	"testing"
)

// What an update makes of a source, and whether the server calls it a change.
func TestPartialDocumentsAreMerged(t *testing.T) {
	for _, tc := range []struct {
		source, partial, merged string
		changed                 bool
	}{
		{`{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`, true},
		{`{"a":1}`, `{"a":1}`, `{"a":1}`, false},
		{`{"a":1}`, `{}`, `{"a":1}`, false},
		{`{"a":1}`, `{"a":1.0}`, `{"a":1.0}`, true},
		{`{"a":1.0}`, `{"a":1.00}`, `{"a":1.00}`, false},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":3}}`, `{"a":{"b":3,"c":2}}`, true},
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`, false},
		{`{"a":{"b":1}}`, `{"a":5}`, `{"a":5}`, true},
		{`{"a":[1,{"x":1,"y":2}]}`, `{"a":[1,{"y":2,"x":1}]}`, `{"a":[1,{"y":2,"x":1}]}`, false},
		{`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`, true},
		{`{"a":null}`, `{"a":null}`, `{"a":null}`, false},
		{`{"a":true}`, `{"a":false}`, `{"a":false}`, true},
		{`{"a":"x"}`, `{"a":"\u0078"}`, `{"a":"\u0078"}`, false},
		{`{"\u0061":1}`, `{"a":2}`, `{"\u0061":2}`, true},
		{`{"big":123456789012345678901234567890}`, `{"b":1}`, `{"big":123456789012345678901234567890,"b":1}`, true},
		{`{"a":1 /* "z":9, */}`, `{"b": /* two */ 2}`, `{"a":1,"b":2}`, true},
	} {
		merged, changed, err := mergeSource([]byte(tc.source), []byte(tc.partial))
		if err != nil || string(merged) != tc.merged || changed != tc.changed {
			t.Errorf("%s with %s: %s, changed %t, %v; want %s, %t", tc.source, tc.partial, merged, changed, err, tc.merged, tc.changed)
		}
	}
	for _, bad := range []string{``, `[]`, `1`, `{"a":`, `{"a" 1}`, `{"a":1`} {
		if merged, _, err := mergeSource([]byte(`{}`), []byte(bad)); err == nil {
			t.Errorf("%q is merged to %s", bad, merged)
		}
	}
	if _, _, err := mergeSource([]byte(`[1]`), []byte(`{}`)); err == nil {
		t.Error("something is merged into an array")
	}
}

// FuzzMerge: what is merged from two objects is one, and merging the same again
// changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1}}`), []byte(`{"a":{"c":[1]},"d":null}`))
	f.Fuzz(func(t *testing.T, source, partial []byte) {
		var object map[string]any
		if json.Unmarshal(source, &object) != nil || json.Unmarshal(partial, &object) != nil {
			return
		}
		merged, _, err := mergeSource(source, partial)
		if err != nil {
			return
		}
		if !json.Valid(merged) {
			t.Fatalf("%s with %s is %s", source, partial, merged)
		}
		again, changed, err := mergeSource(merged, partial)
		if err != nil || changed || len(again) != len(merged) {
			t.Fatalf("merged again: %s, then %s, changed %t, %v", merged, again, changed, err)
		}
	})
}

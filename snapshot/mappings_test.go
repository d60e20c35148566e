package snapshot

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// packed is compressed x-content as a server stores it, in base64 as it arrives.
func packed(t *testing.T, text string) string {
	t.Helper()
	b := bytes.NewBufferString("DFL\x00")
	w, err := flate.NewWriter(b, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return `"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"`
}

func TestMappingsInAllTheirForms(t *testing.T) {
	for name, tc := range map[string]struct{ data, want string }{
		"an element for each type": {`[{"a":{"x":1}},{"b":{}}]`, `{"a":{"x":1},"b":{}}`},
		"one object":               {`{"a":{"x":1},"b":{}}`, `{"a":{"x":1},"b":{}}`},
		"compressed elements":      {`[` + packed(t, `{"a":{"x":1}}`) + `,` + packed(t, `{"b":{}}`) + `]`, `{"a":{"x":1},"b":{}}`},
		"compressed mapping":       {`{"a":` + packed(t, `{"x":1}`) + `}`, `{"a":{"x":1}}`},
		"nothing":                  {``, `{}`},
		"null":                     {`null`, `{}`},
		"no types":                 {`[]`, `{}`},
	} {
		byType, err := newExpander([]byte(tc.data)).mappings(json.RawMessage(tc.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := json.Marshal(byType); string(got) != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	for name, data := range map[string]string{
		"a type twice":          `[{"a":{}},{"a":{}}]`,
		"text":                  `"abc?"`,
		"a number":              `[1]`,
		"compressed no JSON":    packed(t, `{"a":`),
		"compressed and cut":    packed(t, `{"a":{"b":"cccccccccccccccccccccccccccccccccccc"}}`)[:25] + `"`,
		"a list within a list ": `[[]]`,
	} {
		if got, err := newExpander([]byte(data)).mappings(json.RawMessage(data)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestAliasesInAllTheirForms(t *testing.T) {
	for name, tc := range map[string]struct{ data, want string }{
		"one object":        {`{"a":{"filter":{"term":{"x":1}},"index_routing":"r"},"b":{}}`, `{"a":{"filter":{"term":{"x":1}},"index_routing":"r"},"b":{}}`},
		"a list":            {`[{"a":{}},{"b":{}}]`, `{"a":{},"b":{}}`},
		"compressed filter": {`{"a":{"filter":` + packed(t, `{"term":{"x":1}}`) + `}}`, `{"a":{"filter":{"term":{"x":1}}}}`},
		"nothing":           {``, `{}`},
	} {
		got, err := newExpander([]byte(tc.data)).aliases(json.RawMessage(tc.data))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tc.want)
		}
	}
}

func TestSettingsFlatNestedAndMixed(t *testing.T) {
	got, err := flatten(json.RawMessage(`{"index.a":"1","index":{"b":{"c":2,"d":true},"e.f":["x","y"]},"index.g":null}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"index.a": "1", "index.b.c": "2", "index.b.d": "true", "index.e.f": `["x","y"]`}
	if text, _ := json.Marshal(got); string(text) != mustJSON(want) {
		t.Errorf("got %s, want %s", text, mustJSON(want))
	}
	if _, err := flatten(json.RawMessage(`{"index.a":"1","index":{"a":"2"}}`)); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a setting twice: %v", err)
	}
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

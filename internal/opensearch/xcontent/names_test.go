package xcontent_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

func TestNamesGetTheirQuotationMarks(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{a:1}`, `{"a":1}`},
		{`{ a : 1, "b":{c_d:[1,2,true,{e:null}]}, $f@g:"x,y:z{w:1" }`, `{ "a" : 1, "b":{"c_d":[1,2,true,{"e":null}]}, "$f@g":"x,y:z{w:1" }`},
		{"{größe:1,\n 7 :2}", "{\"größe\":1,\n \"7\" :2}"},
		{`{"a":[1,2e-3,-4]}`, `{"a":[1,2e-3,-4]}`},
		{`{a`, `{a`},
		{``, ``},
	} {
		text := []byte(tc.text)
		if got := xcontent.WithQuotedNames(text); string(got) != tc.want {
			t.Errorf("%q\n got %q\nwant %q", tc.text, got, tc.want)
		}
		if string(text) != tc.text {
			t.Errorf("%q was changed", tc.text)
		}
	}
}

// FuzzQuotedNames: what is JSON stays as it is, a second time changes nothing, and the length stays bounded.
func FuzzQuotedNames(f *testing.F) {
	f.Add([]byte(`{a:1,"b":[true,{c:"d:e,f"}]}`))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := xcontent.WithQuotedNames(text)
		if json.Valid(text) && !bytes.Equal(got, text) || len(got) > len(text)+len(text)*2/3+2 || !bytes.Equal(xcontent.WithQuotedNames(got), got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

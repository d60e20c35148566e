package snapshot

import "testing"

// JSON is handed out byte for byte as it was stored, but for a byte order mark.
func TestSourcesThatAreJSON(t *testing.T) {
	for _, tc := range []struct{ stored, want string }{
		{`{"a": 1 }`, `{"a": 1 }`},
		{" \n{}", " \n{}"},
		{"\ufeff{}", "{}"},
		{"ZV\x00\x00\x02{}", "{}"},
		{"ZV\x00\x00\x05\ufeff{}", "{}"},
		{" \n{\"a\":/* c */1, // d\n \"b\":2}", " \n{\"a\":       1,     \n \"b\":2}"},
		{"\ufeff{\"a\":/* c */1}", `{"a":       1}`},
		{"\ufeff /* c */ {}", `         {}`},
		{" /* c */{}", `        {}`},
		{"// c\n{}", "    \n{}"},
		{"ZV\x00\x00\x09 {/*c*/}\n", " {     }\n"},
		{`{a:1,"b":{c:2}}`, `{"a":1,"b":{"c":2}}`},
		{" {/*c*/a:1}", ` {     "a":1}`},
	} {
		d := Documents{bareNames: true}
		d.doc.Source = []byte(tc.stored)
		if err := d.takeSource(nil); err != nil || string(d.doc.Source) != tc.want {
			t.Errorf("%q: %q, %v", tc.stored, d.doc.Source, err)
		}
	}
}

package xcontent_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

func TestCommentsBecomeSpaces(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{"u":"http://x/y/*no*/","b":"\"//"}`, `{"u":"http://x/y/*no*/","b":"\"//"}`},
		{"{\"u\":\"http://x\"\n}", "{\"u\":\"http://x\"\n}"},
		{"{\"a\":1, // note \"\n \"b\":2}", "{\"a\":1,          \n \"b\":2}"},
		{"{\"a\":1, // note\r\n \"b\":2}", "{\"a\":1,        \r\n \"b\":2}"},
		{`/* c */ {"a":/**/1}`, `        {"a":    1}`},
		{`{"a":1} /* open`, `{"a":1}        `},
		{`{"a":1/2}/*`, `{"a":1/2}  `},
		{``, ``},
	} {
		text := []byte(tc.text)
		if got := xcontent.WithoutComments(text); string(got) != tc.want {
			t.Errorf("%q\n got %q\nwant %q", tc.text, got, tc.want)
		}
		if string(text) != tc.text {
			t.Errorf("%q was changed", tc.text)
		}
	}
}

// FuzzComments: what is JSON stays as it is, and nothing changes its length.
func FuzzComments(f *testing.F) {
	f.Add([]byte("{\"a\":1, // x\n\"b\":\"//\"}"))
	f.Add([]byte(`{"a":"/*"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := xcontent.WithoutComments(text)
		if len(got) != len(text) || json.Valid(text) && !bytes.Equal(got, text) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

package token_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// TestStringsAreEscapedAsTheServerDoes holds an answer of OpenSearch 2.19.0: a source that
// it has written anew, as it does for filter_path.
func TestStringsAreEscapedAsTheServerDoes(t *testing.T) {
	const text, want = "v😀\b\f\n\r\t\x01\x7f\u2028/\"\\é\xffx", `"v\uD83D\uDE00\b\f\n\r\t\u0001` + "\x7f\u2028" + `/\"\\é` + "\ufffd" + `x"`
	if got := token.AppendString(nil, text); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := token.AppendString([]byte("x"), []byte(text)); string(got) != "x"+want {
		t.Errorf("%s, want x%s", got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("v😀\b\f\x01\x7f\u2028/\"\\é")
	f.Add("\xed\xa0\xbd\xf0\x9f")
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		if err := json.Unmarshal(token.AppendString(nil, text), &back); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if utf8.ValidString(text) && back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	})
}

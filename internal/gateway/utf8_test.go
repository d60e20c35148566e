package gateway

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// The answers of OpenSearch 2.19.0 to PUT /index/_doc/ID.
func TestIdsInURLsAreText(t *testing.T) {
	for id, want := range map[string]string{
		"a%00b": "a\x00b", "%C3%A9": "é", "%ff%fe": "\ufffd\ufffd", "%ed%a0%80": "\ufffd", "%ed%a0": "\ufffd", "%e2%82x": "\ufffdx",
		"%f0%9f%98x": "\ufffdx", "%c0%80": "\ufffd\ufffd", "%e0%80%80": "\ufffd\ufffd\ufffd", "%f4%90%80%80": "\ufffd\ufffd\ufffd\ufffd",
		"%80": "\ufffd", "%e2%28%a1": "\ufffd(\ufffd", "%f0%90": "\ufffd", "%f0%80%80%80": "\ufffd\ufffd\ufffd\ufffd",
		"%f8%88%80%80%80": "\ufffd\ufffd\ufffd\ufffd\ufffd", "%f0%9f%ffx": "\ufffd\ufffdx", "%c3x": "\ufffdx", "%ed%bf%bf%ed%a0": "\ufffd\ufffd",
	} {
		text, err := url.PathUnescape(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := wellFormed(text); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

// TestAnIdIsFoundAsItIsShown: two malformed ids that look the same are the same document.
func TestAnIdIsFoundAsItIsShown(t *testing.T) {
	s := newServer(t, Options{})
	ask := func(method, path string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(`{}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	ask("PUT", "/a/_doc/%ff%fe?routing=%ff")
	for _, path := range []string{"/a/_doc/%EF%BF%BD%EF%BF%BD?routing=%EF%BF%BD", "/a/_doc/%fe%ff?routing=%c3"} {
		if got := ask("GET", path); !strings.Contains(got, `"found":true`) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	for _, seed := range []string{"a", "é", "\xff", "\xed\xa0\x80", "\xf0\x9f\x98"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := wellFormed(text)
		if !utf8.ValidString(got) || utf8.ValidString(text) && got != text {
			t.Errorf("%q gives %q", text, got)
		}
	})
}

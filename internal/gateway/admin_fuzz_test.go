package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzSettings makes a tree out of settings and reads it again: nothing is lost,
// whatever the names are.
func FuzzSettings(f *testing.F) {
	f.Add("index.uuid", "index.number_of_shards", "index")
	f.Add("a", "a.b", "a.b.c")
	f.Add("", ".", "..a")
	f.Add("logger."+strings.Repeat(".", 50_000), strings.Repeat("a.", 39), strings.Repeat("a.", 41))
	f.Fuzz(func(t *testing.T, a, b, c string) {
		settings := map[string]string{a: "1", b: "2", c: `["x","y"]`}
		for name := range settings {
			if name != strings.ToValidUTF8(name, "\ufffd") {
				return // JSON cannot hold it
			}
		}
		for _, look := range []settingsLook{{}, {flat: true}} {
			tree := appendJSON(nil, settingsJSON(settings, look))
			got, err := flatSettings(tree)
			if err != nil || !maps.Equal(got, settings) {
				t.Errorf("%q became %s, read as %q, %v", settings, tree, got, err)
			}
		}
	})
}

// FuzzAdministration sends any names, parameters and bodies to any administrative
// endpoint: each gets an answer that is JSON where it says so, and never a fault of
// ours.
func FuzzAdministration(f *testing.F) {
	f.Add(byte(0), "books", "x", "pretty", []byte(`{"settings":{"index":{"number_of_shards":2}},"mappings":{"properties":{"a":{"type":"long"}}}}`))
	f.Add(byte(4), "b*,-books", "x", "expand_wildcards=all&ignore_unavailable", []byte(nil))
	f.Add(byte(20), "<books-{now/d}>", "al*", "timeout=1s", []byte(`{"index":"a,b","alias":"c"}`))
	f.Add(byte(50), "t", "x", "create=true", []byte(`{"index_patterns":["a*"],"template":{"settings":{"a":{"b":[1]}}}}`))
	f.Add(byte(90), "_all", "docs,store", "h=*&s=index:desc&v&bytes=kb&format=json", []byte(`[]`))
	server := newServer(f, Options{})
	f.Fuzz(func(t *testing.T, at byte, first, second, query string, body []byte) {
		route := adminRoutes[int(at)%len(adminRoutes)]
		names := []string{first, second, "z"}
		var path strings.Builder
		for segment := range strings.SplitSeq(strings.Trim(route.pattern, "/"), "/") {
			if strings.HasPrefix(segment, "{") {
				segment, names = url.PathEscape(names[0]), names[1:]
			}
			path.WriteString("/" + segment)
		}
		plain, err := url.PathUnescape(path.String())
		if err != nil {
			t.Fatal(err)
		}
		for method := range strings.FieldsSeq(route.methods) {
			r := httptest.NewRequestWithContext(t.Context(), method, "/", bytes.NewReader(body))
			r.URL.Path, r.URL.RawPath, r.URL.RawQuery = plain, path.String(), query
			r.RequestURI = r.URL.RequestURI()
			if len(body) > 0 {
				r.Header.Set("Content-Type", "application/json")
			}
			w := httptest.NewRecorder()
			server.ServeHTTP(w, r)
			checkAnswer(t, r, w)
		}
	})
}

func checkAnswer(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	text := w.Body.Bytes()
	asJSON := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json")
	if asJSON && r.Method != http.MethodHead && len(text) > 0 && !json.Valid(text) {
		t.Errorf("%s %q %q: not JSON: %q", r.Method, r.URL.Path, r.URL.RawQuery, text)
	}
	if w.Code >= 500 && (bytes.Contains(text, []byte(`"type":"exception"`)) || bytes.Contains(text, []byte("translog"))) {
		t.Errorf("%s %q %q: %d %s", r.Method, r.URL.Path, r.URL.RawQuery, w.Code, text)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOverrideFlags: values are texts, lists of texts, or nothing; a mapping is read from a file of JSON or YAML.
func TestOverrideFlags(t *testing.T) {
	var s settings
	for _, text := range []string{"books:index.codec=zstd", `logs-*:index.analysis.analyzer.a.filter=["lowercase"]`, "books:a=b=c", "books:a=null"} {
		if err := s.Set(text); err != nil {
			t.Error(err)
		}
	}
	if len(s) != 4 || s[0].Index != "books" || s[0].Name != "index.codec" || s[0].Value != "zstd" || s[1].Value.([]any)[0] != "lowercase" || s[2].Value != "b=c" || s[3].Value != nil {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"books", "books:codec", ":a=b", "books:=b", "codec=zstd"} {
		if s.Set(text) == nil {
			t.Error(text)
		}
	}
	file := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(file, []byte("properties:\n  a: {type: keyword}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var m mappings
	if err := m.Set("books=" + file); err != nil || string(m[0].Mapping) != `{"properties":{"a":{"type":"keyword"}}}` {
		t.Errorf("%s %v", m, err)
	}
	for _, text := range []string{"books", "=" + file, "books=", "books=" + file + "x"} {
		if m.Set(text) == nil {
			t.Error(text)
		}
	}
}

package analysis

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"
)

// FuzzText: no text makes an analyzer panic, and tokens are bounded by the text: at most
// eight for a code point and value.
func FuzzText(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Add([]byte("\xff\xfe a\xe2\x80 <b &#xd83d; 1\u20e3"))
	var all []*chain
	for _, build := range builtin {
		all = append(all, build())
	}
	seen := map[string]bool{}
	for _, body := range bodies() {
		delete(body, "text")
		if seen[fmt.Sprint(body)] {
			continue
		}
		seen[fmt.Sprint(body)] = true
		var a asked
		remarshal(body, &a)
		none, _ := New(nil)
		if c, err := none.inline(a.inline()); err == nil && a.Analyzer == "" {
			if c, ok := c.(*chain); ok {
				all = append(all, c)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<8 {
			return
		}
		was := bytes.Clone(text)
		for _, c := range all {
			tokens := c.Analyze(nil, text)
			if len(tokens) > 8*(utf8.RuneCount(text)*4+8) {
				t.Fatalf("%d tokens of %d bytes", len(tokens), len(text))
			}
			for _, token := range tokens {
				if token.Start < 0 || token.End > len(text) || token.Position < 0 || token.Length < 1 {
					t.Fatalf("%+v of %d bytes", token, len(text))
				}
			}
			if !bytes.Equal(was, text) {
				t.Fatal("the text was changed")
			}
		}
	})
}

// FuzzSettings: no settings make New panic, and what it makes takes a text apart.
func FuzzSettings(f *testing.F) {
	for _, line := range readLines(f, "testdata/settings.jsonl") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) > 1<<12 {
			return
		}
		settings, ok := settingsOfLine(line)
		if !ok {
			return
		}
		a, err := New(settings)
		if err != nil {
			return
		}
		for _, c := range a.parts.analyzers {
			c.Analyze(nil, []byte("The quick-fox's 2nd é😀 x_y"))
		}
		for _, n := range a.parts.normalizers {
			n.Normalize(nil, []byte("The É 😀"))
		}
	})
}

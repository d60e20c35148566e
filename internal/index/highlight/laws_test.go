package highlight

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/search"
)

const (
	openTag, closeTag = "\ue000", "\ue001" // no text has them
)

// standard takes texts apart as the standard analyzer does.
func standard(t testing.TB) analysis.Analyzer {
	t.Helper()
	a, err := analysis.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	found, ok := a.Analyzer("standard")
	if !ok {
		t.Fatal("no standard analyzer")
	}
	return found
}

// checkFragments holds the laws of fragments.
func checkFragments(t interface{ Fatalf(string, ...any) }, values, fragments []string, s Style) {
	for _, f := range fragments {
		if !utf8.ValidString(f) {
			t.Fatalf("a character is split: %q", f)
		}
		open := false
		for _, r := range f {
			switch {
			case string(r) == openTag && open, string(r) == closeTag && !open:
				t.Fatalf("tags are not balanced: %q", f)
			case string(r) == openTag, string(r) == closeTag:
				open = !open
			}
		}
		if open {
			t.Fatalf("tags are not balanced: %q", f)
		}
		bare := strings.NewReplacer(openTag, "", closeTag, "").Replace(f)
		if s.HTML {
			bare = html.UnescapeString(bare)
		}
		if !strings.Contains(strings.Join(values, "\x00"), bare) {
			t.Fatalf("%q is no part of %q", bare, values)
		}
	}
}

func drawStyle(t *rapid.T) Style {
	return Style{
		Open: openTag, Close: closeTag, HTML: rapid.Bool().Draw(t, "html"),
		Size: rapid.SampledFrom([]int{0, 1, 5, 18, 100}).Draw(t, "size"), Fragments: rapid.IntRange(0, 6).Draw(t, "fragments"),
		NoMatch: rapid.SampledFrom([]int{0, 0, 4, 50}).Draw(t, "no match"), ByScore: rapid.Bool().Draw(t, "by score"),
		ByWord: rapid.IntRange(0, 3).Draw(t, "by word") == 0, Whole: rapid.IntRange(0, 5).Draw(t, "whole") == 0,
	}
}

func TestFragmentsAreParts(t *testing.T) {
	a := standard(t)
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("aAb fox. Dog! \"é😀日本語のカ_'-<&>/5,\u200d\u0301")), 0, 120, -1)
	words := rapid.SampledFrom([]string{"a", "b", "fox", "dog", "é", "日", "5", "aa", "ab"})
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(texts, 1, 3).Draw(t, "values")
		w := search.Wanted{Field: "f"}
		for range rapid.IntRange(0, 3).Draw(t, "terms") {
			w.Terms = append(w.Terms, []byte(words.Draw(t, "term")))
		}
		if rapid.Bool().Draw(t, "phrase") {
			w.Phrases = []search.Phrase{{Words: []search.Word{
				{Position: 0, Terms: [][]byte{[]byte(words.Draw(t, "first"))}},
				{Position: rapid.IntRange(1, 2).Draw(t, "step"), Terms: [][]byte{[]byte(words.Draw(t, "second"))}},
			}, Slop: rapid.IntRange(0, 3).Draw(t, "slop")}}
		}
		if rapid.Bool().Draw(t, "form") {
			begin := words.Draw(t, "beginning")
			w.Forms = []search.Form{func(term []byte) bool { return strings.HasPrefix(string(term), begin) }}
		}
		s := drawStyle(t)
		fragments := Unified(Read(values, a, 100, NoLimit), []search.Wanted{w}, s)
		checkFragments(t, values, fragments, s)
		if s.Fragments > 0 && len(fragments) > s.Fragments {
			t.Fatalf("%d fragments of %d", len(fragments), s.Fragments)
		}
		var alone []*Text
		for _, v := range values {
			alone = append(alone, Read([]string{v}, a, 100, NoLimit))
		}
		plain := s
		plain.NoMatch = 0 // it is not encoded there
		checkFragments(t, values, Plain(alone, []search.Wanted{w}, plain, rapid.Bool().Draw(t, "simple")), s)
	})
}

func FuzzFragments(f *testing.F) {
	f.Add("The quick brown fox. Jumps!", "fox", 18, 3)
	f.Add("日本語。 \U0001f600 a\u0301 b\x00c", "a", 1, 0)
	f.Add("\xff\xfe x", "x", 0, 5)
	a := standard(f)
	f.Fuzz(func(t *testing.T, text, word string, size, fragments int) {
		s := Style{Open: openTag, Close: closeTag, Size: max(size, 0), Fragments: max(fragments, 0)}
		w := []search.Wanted{{Terms: [][]byte{[]byte(word)}}}
		if !utf8.ValidString(text) || strings.ContainsAny(text, openTag+closeTag) {
			Unified(Read([]string{text}, a, 0, NoLimit), w, s)
			return
		}
		checkFragments(t, []string{text}, Unified(Read([]string{text}, a, 0, NoLimit), w, s), s)
		checkFragments(t, []string{text}, Plain([]*Text{Read([]string{text}, a, 0, NoLimit)}, w, s, false), s)
		for _, b := range []*automaton{&sentences, &words} {
			last := -1
			for _, at := range b.all(Read([]string{text}, nil, 0, NoLimit).units) {
				if at <= last {
					t.Fatalf("boundary %d behind %d", at, last)
				}
				last = at
			}
		}
	})
}

package analysis

import (
	"fmt"
	"testing"

	library "github.com/blevesearch/go-porterstemmer"
	"pgregory.net/rapid"
)

// TestFastPath: the standard tokenizer takes words of ASCII without asking the rules, and
// finds what they find.
func TestFastPath(t *testing.T) {
	fast := &chain{tokenizer: standard{max: 5, lower: true}}
	slow := &chain{tokenizer: byRules{5}, filters: []filter{lowercase}}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(liveText(t))
		got, want := fast.Analyze(nil, text), slow.Analyze(nil, text)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q\nfast %v\nslow %v", text, got, want)
		}
	})
}

// byRules is the standard tokenizer without its fast path.
type byRules struct{ max int }

func (f byRules) tokenize(s *stream) {
	for i := 0; i < len(s.text); {
		end, typ := wordAt(s.text, i, f.max)
		if typ == "" {
			_, end = classAt(s.text, i)
		} else {
			s.part(i, end, typ)
		}
		i = end
	}
}

func BenchmarkAnalyzers(b *testing.B) {
	data := []byte("The quick brown foxes were jumping over the lazy dogs, and nobody in the village of 1234 people could tell why. ")
	for _, name := range []string{"standard", "simple", "whitespace", "keyword", "stop", "english", "french", "german"} {
		b.Run(name, func(b *testing.B) {
			a := builtin[name]()
			var tokens []Token
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tokens = a.Analyze(tokens[:0], data)
			}
		})
	}
}

func BenchmarkStandard(b *testing.B) {
	a := Analyzer(builtin["standard"]())
	for name, text := range map[string]string{
		"ascii": "The quick brown fox jumps over the lazy dog, and nobody in the village of 1234 people could tell why it did so. ",
		"lower": "the quick brown fox jumps over the lazy dog and nobody in the village of 1234 people could tell why it did so ",
		"latin": "Übermütige Füchse springen über träge Hunde, während die Bäckerei noch größere Brötchen bäckt als gestern. ",
	} {
		b.Run(name, func(b *testing.B) {
			var tokens []Token
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tokens = a.Analyze(tokens[:0], data)
			}
		})
	}
}

// TestPorter: the stemmer finds for words of ASCII what the library finds, which errs in
// words that are endings alone.
func TestPorter(t *testing.T) {
	endings := []string{"", "s", "es", "ies", "ed", "eed", "ing", "y", "e", "ll", "ational", "tional", "izer", "bli", "ousli", "ation", "ness",
		"fulness", "aliti", "biliti", "logi", "icate", "ful", "al", "ance", "ement", "ion", "sion", "tion", "ive", "ize", "able", "ate"}
	begin := rapid.StringOfN(rapid.RuneFrom([]rune("aeiouybcdflmnstwxz'1")), 2, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		word := begin.Draw(t, "begin")
		for range rapid.IntRange(1, 3).Draw(t, "endings") {
			word += rapid.SampledFrom(endings).Draw(t, "ending")
		}
		if word == "ies" {
			return
		}
		got, want := string(porterStem(new(stream), []byte(word))), library.StemString(word)
		if got != want {
			t.Fatalf("%s: %s, want %s", word, got, want)
		}
	})
}

package analysis

import (
	"fmt"
	"testing"

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

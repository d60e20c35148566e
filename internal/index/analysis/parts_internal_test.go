package analysis

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestTextsInParts: a text has the same tokens in parts as whole, wherever it is cut.
func TestTextsInParts(t *testing.T) {
	pieces := []string{" ", " ", " ", "  ", "\n", "a", "Word", "x1", "3.14", "1,000", "_", "it's", "foo_bar", "é", "\u0301", "\u200d", "👩‍👩‍👧", "#\ufe0f\u20e3", "#", "日本", "カタカナ", "ไทย", "א\"ב", "İ", ".", "-", strings.Repeat("z", 300)}
	analyzers := map[string]map[string]string{}
	for _, name := range []string{"standard", "simple", "whitespace", "english", "keyword", "stop"} {
		analyzers[name] = map[string]string{"index.analysis.analyzer.it.type": name}
	}
	for _, filters := range []string{"lowercase,asciifolding", "uppercase,porter_stem", "lowercase,shingle", "length", "edge_ngram"} {
		analyzers[filters] = map[string]string{"index.analysis.analyzer.it.type": "custom", "index.analysis.analyzer.it.tokenizer": "standard", "index.analysis.analyzer.it.filter": filters}
	}
	dice, cuts := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for name, settings := range analyzers {
		built, err := FromSettings(settings)
		if err != nil {
			t.Fatal(name, err)
		}
		a, _ := built.Analyzer("it")
		for range 300 {
			var text strings.Builder
			for range dice.IntN(40) {
				text.WriteString(pieces[dice.IntN(len(pieces))])
			}
			whole := a.Analyze(nil, []byte(text.String()))
			var parts []Token
			inParts(a, nil, []byte(text.String()), 1+dice.IntN(20), func(tokens []Token) {
				cuts[name]++
				for _, token := range tokens {
					token.Term = append([]byte{}, token.Term...)
					parts = append(parts, token)
				}
			})
			for i := range whole {
				whole[i].Term = append([]byte{}, whole[i].Term...)
			}
			if len(whole) != len(parts) || len(whole) > 0 && !reflect.DeepEqual(whole, parts) {
				t.Fatalf("%s: %q has whole\n%v and in parts\n%v", name, text.String(), whole, parts)
			}
		}
	}
	for _, name := range []string{"standard", "whitespace", "simple", "lowercase,asciifolding", "uppercase,porter_stem"} {
		if cuts[name] < 400 {
			t.Errorf("%s: the texts were cut into %d parts in all", name, cuts[name])
		}
	}
}

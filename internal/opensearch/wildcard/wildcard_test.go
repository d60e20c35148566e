package wildcard_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

func TestAStarStandsForAnyCharacters(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"books", "books", true},
		{"books", "books-1", false},
		{"*", "", true},
		{"*", "anything", true},
		{"books*", "books", true},
		{"books*", "books-2026", true},
		{"books*", "old-books", false},
		{"*books", "old-books", true},
		{"*books", "books-old", false},
		{"b*k*s", "books", true},
		{"b*k*s", "bks", true},
		{"b*k*s", "bsk", false},
		{"a*a", "a", false}, // one letter cannot be both ends
		{"a*a", "aa", true},
		{"a*ab*b", "aab", false},
		{"a**b", "ab", true},
		{"*ab*ab*", "abab", true},
		{"*ab*ab*", "aba", false},
		{"", "", true},
		{"", "x", false},
		{"b?oks", "books", false}, // only * is special
		{".ds-*", ".ds-logs-000001", true},
		{"a*b", "acbc", false},
		{"a*b*c", "acb", false},
	} {
		if got := wildcard.Match(tc.pattern, tc.name); got != tc.want {
			t.Errorf("Match(%q, %q) = %v", tc.pattern, tc.name, got)
		}
	}
}

// TestPatternsOverlapWhenATextMatchesBoth: every text over {a, b} up to length 6 is tried,
// which is long enough for patterns of three characters.
func TestPatternsOverlapWhenATextMatchesBoth(t *testing.T) {
	texts := []string{""}
	for from := 0; len(texts[from]) < 6; from++ {
		texts = append(texts, texts[from]+"a", texts[from]+"b")
	}
	pattern := rapid.StringMatching(`[ab*]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := pattern.Draw(t, "a"), pattern.Draw(t, "b")
		common := false
		for _, text := range texts {
			common = common || wildcard.MatchAny([]string{a}, text) && wildcard.Match(b, text)
		}
		if got := wildcard.Overlap(a, b); got != common {
			t.Errorf("Overlap(%q, %q) = %t", a, b, got)
		}
	})
}

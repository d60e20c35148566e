package control

import (
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/fault"
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
	} {
		if got := matches(tc.pattern, tc.name); got != tc.want {
			t.Errorf("matches(%q, %q) = %v", tc.pattern, tc.name, got)
		}
	}
}

func TestPatternsSelectInTheOrderOfBytes(t *testing.T) {
	names := []string{"loans", "Éclair", "books-2", "books-10", "empty"}
	for _, tc := range []struct {
		patterns []string
		want     string
	}{
		{nil, "books-10 books-2 empty loans Éclair"},
		{[]string{"loans", "books*"}, "books-10 books-2 loans"},
		{[]string{"books-2", "books*"}, "books-10 books-2"},
	} {
		got, err := selectIndices(names, tc.patterns)
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%q: %q, %v", tc.patterns, got, err)
		}
	}
	if !slices.Equal(names, []string{"loans", "Éclair", "books-2", "books-10", "empty"}) {
		t.Errorf("the caller's list was changed: %q", names)
	}
}

func TestAPatternThatFitsNothingIsNotFound(t *testing.T) {
	_, err := selectIndices([]string{"loans", "books"}, []string{"books", "lones"})
	if !fault.Is(err, fault.NotFound) || fault.Next(err) != "it holds books, loans" {
		t.Errorf("%v, next: %s", err, fault.Next(err))
	}
}

package control

import (
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

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

package migrate

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNamesOfWriteAliases: one for each index and movement, that an alias can have and an index cannot, and
// that fits the pattern for which rights are asked.
func TestNamesOfWriteAliases(t *testing.T) {
	seen := map[string]bool{}
	for _, index := range []string{"books", ".ds-loans-2024-000001", strings.Repeat("b", 237), strings.Repeat("b", 238), strings.Repeat("b", 255), strings.Repeat("б", 120) + "x"} {
		for _, of := range []string{"m 1", "m 2"} {
			alias := writeAlias(of, index)
			if len(alias) > 255 || !utf8.ValidString(alias) || strings.ToLower(alias) == alias || seen[alias] || !isWriteAlias(alias) || alias != writeAlias(of, index) {
				t.Errorf("%s is written to through %q", index, alias)
			}
			seen[alias] = true
			if stem, is := strings.CutSuffix(AliasPattern(index), "*"); !is || !strings.HasPrefix(alias, stem) {
				t.Errorf("%q does not fit %q", alias, AliasPattern(index))
			}
		}
	}
	for _, other := range []string{"", "books", "books-Reshelve-", "books-Reshelve-0123456", "books-Reshelve-0123456x", "books-reshelve-01234567"} {
		if isWriteAlias(other) {
			t.Errorf("%q is taken for one", other)
		}
	}
}

// TestASnapshotOfATargetAtWork has write aliases of the movement that was at work, which are not moved.
func TestASnapshotOfATargetAtWork(t *testing.T) {
	for aliases, want := range map[string]string{
		``:                    ``,
		`{"a-Reshelve-b":{}}`: `{"a-Reshelve-b":{}}`,
		`{"a":{},"b-Reshelve-0123abcd":{"is_hidden":true},"c":{"filter":{}}}`: `{"a":{},"c":{"filter":{}}}`,
	} {
		if got, err := withoutWriteAliases(json.RawMessage(aliases)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", aliases, got, err)
		}
	}
}

package catalog_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// The reasons are those of OpenSearch 2.19.0.
func TestIndexNames(t *testing.T) {
	const characters = `must not contain the following characters [ , ", *, \, <, |, ,, >, /, ?]`
	const start = `must not start with '_', '-', or '+'`
	for name, why := range map[string]string{
		"books": "", "ca-é": "", ".dot": "", "a.b_c-1": "", strings.Repeat("c", 255): "",
		"Upper": "must be lowercase", "_x": start, "-x": start, "+x": start, "": start,
		"a b": characters, "a,b": characters, `a"b`: characters, "a*b": characters, `a\b`: characters, "a|b": characters,
		"a<b": characters, "a>b": characters, "a?b": characters, "a/b": characters, "A b": characters,
		"a#b": "must not contain '#'", "a:b": "must not contain ':'", ".": "must not be '.' or '..'", "..": "must not be '.' or '..'",
		strings.Repeat("c", 256): "index name is too long, (256 > 255)",
	} {
		err := catalog.CheckIndexName(name)
		if why == "" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		e := exception.From(err)
		if err == nil || e.Type != exception.InvalidIndexName || e.Reason != "Invalid index name ["+name+"], "+why {
			t.Errorf("%q: %v, want %s", name, err, why)
		}
	}
}

// TestPatternsThatOverlapAreRefused: a template of the same priority is refused exactly when
// some name matches both patterns.
func TestPatternsThatOverlapAreRefused(t *testing.T) {
	var names []string // all over {a, b} up to length 6
	for length, last := 0, []string{""}; length <= 6; length++ {
		names = append(names, last...)
		var next []string
		for _, name := range last {
			next = append(next, name+"a", name+"b")
		}
		last = next
	}
	pattern := rapid.StringMatching(`[ab*]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		first, second := pattern.Draw(t, "first"), pattern.Draw(t, "second")
		common := ""
		for _, name := range names[1:] {
			if wildcard.Match(first, name) && wildcard.Match(second, name) {
				common = name
				break
			}
		}
		c, err := catalog.New().WithComposable("one", []byte(`{"index_patterns":["`+first+`"]}`), false, merge)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.WithComposable("two", []byte(`{"index_patterns":["`+second+`"]}`), false, merge)
		if (err != nil) != (common != "") {
			t.Errorf("%q and %q, both match %q: %v", first, second, common, err)
		}
	})
}

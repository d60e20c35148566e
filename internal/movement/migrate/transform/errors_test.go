package transform_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
)

// TestErrorsAreWholeCharacters, wherever what they quote is cut: in the steps, in an expression, and in a source.
func TestErrorsAreWholeCharacters(t *testing.T) {
	for n := range 300 {
		long := strings.Repeat("a", n) + strings.Repeat("€", 300)
		for _, steps := range []string{
			"steps: " + long, "steps: [{set: " + long + "}]", "steps: [{" + long + ": x}]", "steps: [{rename: {a: [" + long + "]}}]",
			"steps: [{remove: [" + long + " b]}]", fmt.Sprintf("steps: [{set: {a: %q}}]", long+" +"), fmt.Sprintf("steps: [{set: {a: %q}}]", "x + "+long+" ( "),
			fmt.Sprintf("steps: [{set: {a: %q}}]", "("+long+"."+long+" 'x'"),
		} {
			_, err := transform.Parse([]byte(steps))
			if err != nil && (!utf8.ValidString(err.Error()) || strings.ContainsRune(err.Error(), utf8.RuneError)) {
				t.Fatalf("%d: %q", n, err)
			}
		}
		parsed, err := transform.Parse([]byte("steps: [{set: {a.b: 'doc.c + 1'}}]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{fmt.Sprintf(`{"a":%q,"c":1}`, long), fmt.Sprintf(`{"c":%q}`, long), fmt.Sprintf(`{"c":1,%s}`, long), fmt.Sprintf(`{"c":{%q:[1]}}`, long)} {
			_, _, err := parsed.For("i").Apply([]byte(source), transform.Meta{}, nil)
			if err != nil && (!utf8.ValidString(err.Error()) || strings.ContainsRune(err.Error(), utf8.RuneError)) {
				t.Fatalf("%d: %s: %q", n, source, err)
			}
		}
	}
}

package control

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
)

// TestNamesThatNoIndexCanHaveAreRefusedAtOnce: a pattern, a list or date math would name other
// indices of the target.
func TestNamesThatNoIndexCanHaveAreRefusedAtOnce(t *testing.T) {
	for name, says := range map[string]string{
		"books-2": "", "本-é": "", ".books": "",
		"boo*": "must not contain", "a,b": "must not contain", "<books-{now/d}>": "must not contain", "a/../b": "must not contain",
		"-books": "must not start", "_all": "must not start", "..": "must not be", "Books": "lowercase", "a%2Cb": "lowercase", "a:b": "':'",
		strings.Repeat("b", 256): "too long", ".reshelve": "recorded",
	} {
		err := checkNames([]migrate.Index{{Source: "books", Target: name}}, map[string]string{"books": name})
		if (err == nil) != (says == "") || err != nil && (!fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

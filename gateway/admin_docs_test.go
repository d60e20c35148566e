package gateway

import (
	"os"
	"strings"
	"testing"
)

// TestEndpointsAreDocumented: every administrative endpoint, and no other, stands
// in docs/http-admin.md.
func TestEndpointsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/http-admin.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "## Endpoints\n")
	told := map[string]bool{}
	for line := range strings.Lines(list) {
		if strings.TrimSpace(line) != "" {
			told[strings.Join(strings.Fields(line), " ")] = true
		}
	}
	for _, r := range adminRoutes {
		row := r.methods + " " + r.pattern
		if !told[row] {
			t.Errorf("docs/http-admin.md lacks %s", row)
		}
		delete(told, row)
	}
	for row := range told {
		t.Errorf("docs/http-admin.md tells of %s, which is not there", row)
	}
}

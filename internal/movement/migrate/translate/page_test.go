package translate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

const page = "../../../../docs/metadata.md"

// TestPage: docs/metadata.md lists every rule, as the code has it.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | what it does | from | to | |\n|---|---|---|---|---|\n")
	for _, r := range translate.Rules() {
		marks := []string{}
		if r.Loses {
			marks = append(marks, "**loses**")
		}
		if r.Always {
			marks = append(marks, "always")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.What, r.From, r.To, strings.Join(marks, ", "))
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(data), "| rule |")
	if !found {
		t.Fatal("the page has no table")
	}
	if want := head + b.String(); *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Errorf("%s and the rules differ; -update writes the table anew", page)
	}
}

// TestRulesAreTold: names are unique, and every span of versions is understood.
func TestRulesAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range translate.Rules() {
		if seen[r.Name] || r.Name == "" || !strings.HasSuffix(strings.TrimSuffix(r.What, ")"), ".") {
			t.Errorf("rule %q: %s", r.Name, r.What)
		}
		seen[r.Name] = true
		for _, side := range []translate.Servers{r.From, r.To} {
			met := side == ""
			for major := 1; major < 10; major++ {
				for _, product := range []string{"elasticsearch", "opensearch", "reshelve"} {
					met = met || side.Has(translate.Server{Product: product, Major: major, Minor: 0})
				}
			}
			if !met {
				t.Errorf("rule %s: no server is %q", r.Name, side)
			}
		}
	}
}

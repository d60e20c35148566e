package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestParametersHaveTheFateThatIsDocumented: what is known somewhere and read nowhere is in the
// table of docs/settings.md with a reason, and the table has nothing that no endpoint knows.
func TestParametersHaveTheFateThatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Parameters of URLs\n")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| (refused|kept) \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([a-z].*?)`").FindAllStringSubmatch(row[1], -1) {
			name, _, _ := strings.Cut(name[1], "=")
			documented[name] = true
		}
	}
	var read strings.Builder
	for _, pattern := range []string{"*.go", "../query/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			} else if !strings.HasSuffix(file, "_test.go") {
				read.Write(text)
			}
		}
	}
	known := slices.Clone(commonParams)
	for _, r := range allRoutes() {
		known = append(known, strings.Fields(r.params)...)
	}
	slices.Sort(known)
	for _, name := range slices.Compact(known) {
		if !documented[name] && !strings.Contains(read.String(), `"`+name+`"`) {
			t.Errorf("%s is taken, read nowhere, and in no table", name)
		}
	}
	for name := range documented {
		if !slices.Contains(known, name) {
			t.Errorf("%s is documented, and no endpoint knows it", name)
		}
	}
}

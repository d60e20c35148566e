package gateway

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEndpointsAreDocumented: every endpoint, and no other, stands on its page.
func TestEndpointsAreDocumented(t *testing.T) {
	inTable := regexp.MustCompile("(?m)^\\| ([A-Z ]+) \\| `(/.*?)` \\|")
	inList := regexp.MustCompile(`(?m)^ {4}([A-Z ]+?) +(/.*)$`)
	for _, p := range []struct {
		page, section string
		row           *regexp.Regexp // its methods and its pattern
		routes        []route
	}{
		{"../../docs/http-admin.md", "## Endpoints\n", inList, adminRoutes},
		{"../../docs/store.md", "## Endpoints of documents and searches\n", inTable, slices.Concat(rootRoutes, documentRoutes, searchRoutes, scrollRoutes, pointRoutes, byQueryRoutes, taskRoutes, validateRoutes, analyzeRoutes)},
	} {
		text, err := os.ReadFile(p.page)
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), p.section)
		section, _, _ = strings.Cut(section, "\n## ")
		told := map[string]bool{}
		for _, row := range p.row.FindAllStringSubmatch(section, -1) {
			told[row[1]+" "+row[2]] = true
		}
		for _, r := range p.routes {
			row := r.methods + " " + r.pattern
			if !told[row] {
				t.Errorf("%s lacks %s", p.page, row)
			}
			delete(told, row)
		}
		for row := range told {
			t.Errorf("%s tells of %s, which is not there", p.page, row)
		}
	}
	text, err := os.ReadFile("../../docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Clients of Elasticsearch\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, r := range elasticRoutes {
		if !strings.Contains(section, "`"+r.methods+" "+r.pattern+"`") {
			t.Errorf("docs/store.md, of the dialect of Elasticsearch, lacks %s %s", r.methods, r.pattern)
		}
	}
}

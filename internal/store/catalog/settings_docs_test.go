package catalog

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// fates reads a table of docs/settings.md: patterns, and what becomes of what they match.
func fates(t *testing.T, section string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## "+section+"\n")
	table, _, _ = strings.Cut(table, "\n## ")
	all := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\| (effect|refused|kept) \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`(.*?)`").FindAllStringSubmatch(row[1], -1) {
			all[name[1]] = row[2]
		}
	}
	return all
}

// fate is that of a setting: of the longest pattern that matches.
func fate(of map[string]string, name string) (pattern, what string) {
	for p, is := range of {
		if wildcard.Match(p, name) && len(p) > len(pattern) {
			pattern, what = p, is
		}
	}
	return pattern, what
}

// TestSettingsHaveTheFateThatIsDocumented: every setting that is taken is in a table, what is said
// to have an effect is read, what is said to be refused is, and no row is of nothing.
func TestSettingsHaveTheFateThatIsDocumented(t *testing.T) {
	rows, used := fates(t, "Settings of an index"), map[string]bool{}
	read := sources(t)
	for _, s := range append(slices.Clone(known), families...) {
		if s.change == private {
			continue
		}
		pattern, what := fate(rows, s.name+map[bool]string{true: "x"}[strings.HasSuffix(s.name, ".")])
		used[pattern] = true
		_, isRefused := unsupported[prefix+s.name]
		switch {
		case what == "":
			t.Errorf("%s is taken, and in no row", s.name)
		case isRefused != (what == "refused"):
			t.Errorf("%s is documented as %s; refused: %v", s.name, what, isRefused)
		case what == "effect" && !strings.Contains(read, `"`+prefix+s.name) && !strings.Contains(read, `("`+s.name+`"`):
			t.Errorf("%s is documented to have an effect, and is read nowhere", s.name)
		}
	}
	for pattern := range rows {
		if !used[pattern] && pattern != "remote_store.*" { // those are private, or ends of them
			t.Errorf("the row of %s is of nothing", pattern)
		}
	}
}

// TestSettingsOfTheClusterHaveTheFateThatIsDocumented in both directions.
func TestSettingsOfTheClusterHaveTheFateThatIsDocumented(t *testing.T) {
	rows, used := fates(t, "Settings of the cluster"), map[string]bool{}
	for what, names := range map[string][]string{
		"effect": append(slices.Collect(maps.Keys(clusterKnown)), slices.Collect(maps.Keys(searchSettings))...), "kept": clusterIdle, "refused": clusterRefused,
	} {
		for _, name := range names {
			if strings.HasSuffix(name, ".") {
				name += "x"
			}
			pattern, is := fate(rows, name)
			if used[pattern] = true; is != what {
				t.Errorf("%s: documented as %q, and has the fate %s", name, is, what)
			}
			_, _, err := Catalog{}.WithCluster([]byte(`{"transient":{"` + name + `":null}}`))
			if err != nil {
				t.Errorf("%s cannot be reset: %v", name, err)
			}
			_, _, err = Catalog{}.WithCluster([]byte(`{"transient":{"` + name + `":"x"}}`))
			if refused := err != nil && strings.Contains(err.Error(), "not supported by reshelve"); refused != (what == "refused") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for pattern := range rows {
		if !used[pattern] {
			t.Errorf("the row of %s is of nothing", pattern)
		}
	}
}

// sources is the text of what reads settings.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*.go", "../*.go", "../../gateway/*.go", "../../index/analysis/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || file == "settings_table.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

package gateway

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestErrorsNameFields: each flag that an error of a plan may name stands for a field of an order, which is there, or is none
// of an order by HTTP.
func TestErrorsNameFields(t *testing.T) {
	body := reflect.TypeOf(createMovementRequest{}.Body)
	for flag, field := range fieldsOf {
		at, found := body, false
		for _, name := range strings.Split(field, ".") {
			if at, found = fieldNamed(at, name); !found {
				t.Errorf("%s: an order has no field %s", flag, field)
				break
			}
		}
	}
	// of processes, of places, of what is read at the terminal, and of orders that name their fields themselves
	others := []string{"--allow-host", "--allow-origin", "--allow-repository", "--allow-source", "--allow-target", "--allow-missing-source", "--use-recovery-source", "--ids-only",
		"--at", "--to", "--join", "--data", "--listen", "--once", "--output", "--compat", "--coordinate", "--token-file", "--records-lost", "--by", "--into", "--cut", "--shard", "--halve-largest", "--overwrite", "--delete-extra"}
	flag := regexp.MustCompile(`--[a-z][a-z-]+`)
	for _, of := range []string{"internal/control", "internal/movement/migrate", "snapshot", "internal/movement/migrate/translate", "internal/movement/migrate/transform", "internal/opensearch/cluster", "snapshot/blob"} {
		files, err := filepath.Glob("../../" + of + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(of, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range flag.FindAllString(string(text), -1) {
				if fieldsOf[found] == "" && !slices.Contains(others, found) {
					t.Errorf("%s names %s, which stands for no field", file, found)
				}
			}
		}
	}
}

func fieldNamed(of reflect.Type, name string) (reflect.Type, bool) {
	if of.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range of.NumField() {
		f := of.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type, true
		}
		if f.Anonymous {
			if t, found := fieldNamed(f.Type, name); found {
				return t, true
			}
		}
	}
	return nil, false
}

// TestInFields: flags of the order alone are named by their fields, and commands stay as they are.
func TestInFields(t *testing.T) {
	for text, want := range map[string]string{
		"choose another name with --rename, or allow it with --into-existing":        "choose another name with rename, or allow it with intoExisting",
		"name it by itself as well: --rename a=NEW":                                  `name it by itself as well: rename {"a":"NEW"}`,
		"start it with: reshelve serve … --allow-repository /x --index y; --yes":     "start it with: reshelve serve … --allow-repository /x --index y; acceptLoss",
		"--types split or --types merge":                                             "metadata.types split or metadata.types merge",
		"it is at --at, a --dry-run--yes, or accept it with --yes, or reshelve x":    "it is at --at, a --dry-run--yes, or accept it with acceptLoss, or reshelve x",
		"snapshot it with --snapshot-to; then name --snapshot or leave --since away": "snapshot it with from; then name snapshot or leave since away",
	} {
		if got := inFields(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

package rules_test

import (
	"go/ast"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestJSONIsDocumented: every key of control's answers stands in docs/json.md.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, file := range readSources(t)["internal/control"].files {
		for _, decl := range file.Decls {
			types, ok := decl.(*ast.GenDecl) // not the structs inside functions
			if !ok {
				continue
			}
			ast.Inspect(types, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || field.Tag == nil {
					return true
				}
				tag, _ := strconv.Unquote(field.Tag.Value)
				key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				if key != "" && key != "-" && !strings.Contains(string(page), "`"+key+"`") {
					t.Errorf("docs/json.md does not tell of the key %s", key)
				}
				keys++
				return true
			})
		}
	}
	if keys < 50 {
		t.Errorf("only %d keys were found", keys)
	}
}

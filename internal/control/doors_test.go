package control_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestNothingIsServedButBehindADoor: in all packages of the program there is one call that serves.
func TestNothingIsServedButBehindADoor(t *testing.T) {
	var served []string
	packages := map[string]bool{}
	program(t, "cmd/reshelve", packages, func(files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.SelectorExpr)
			serves := ok && (called.Sel.Name == "Serve" && len(call.Args) == 1 || strings.HasPrefix(called.Sel.Name, "ListenAndServe") || called.Sel.Name == "ServeTLS")
			if serves {
				served = append(served, files.Position(n.Pos()).String())
			}
			return true
		})
	})
	if !packages["internal/gateway"] || !packages["internal/coord/remote"] || packages["internal/gateway/gatewaytest"] {
		t.Errorf("the packages of the program are %v", slices.Sorted(maps.Keys(packages)))
	}
	if len(served) != 1 || !strings.HasPrefix(served[0], "../../internal/control/doors.go:") {
		t.Errorf("requests are served at %v", served)
	}
}

// program gives each file of a package and of those that it imports; packages are those that it has met.
func program(t *testing.T, name string, packages map[string]bool, each func(*token.FileSet, *ast.File)) {
	t.Helper()
	if packages[name] {
		return
	}
	packages[name] = true
	paths, err := filepath.Glob(filepath.Join("..", "..", name, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(name, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		each(files, file)
		for _, imported := range file.Imports {
			if below, ours := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), "github.com/reshelve/reshelve/"); ours {
				program(t, below, packages, each)
			}
		}
	}
}

// TestAWorkerBeyondLoopbackNeedsAToken, and says so before it opens anything.
func TestAWorkerBeyondLoopbackNeedsAToken(t *testing.T) {
	c := control.New(control.Wiring{})
	for _, listen := range []string{":8080", "0.0.0.0:8080", "[::]:8080", "10.1.2.3:8080", "worker.example:8080"} {
		_, err := c.Work(t.Context(), control.WorkerRequest{Join: filepath.Join(t.TempDir(), "none"), Listen: listen})
		if !fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "RESHELVE_TOKEN") {
			t.Errorf("%s: %v; %s", listen, err, fault.Next(err))
		}
		_, err = c.Work(t.Context(), control.WorkerRequest{Join: filepath.Join(t.TempDir(), "none"), Listen: listen, Token: "t"})
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Unavailable) { // it listens before it opens the place, and some are not of this machine
			t.Errorf("%s with a token: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "[::1]:0"} {
		if _, err := c.Work(t.Context(), control.WorkerRequest{Join: filepath.Join(t.TempDir(), "none"), Listen: listen}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

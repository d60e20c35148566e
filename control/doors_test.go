package control_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/fault"
)

// TestNothingIsServedButBehindADoor: in the program there is one call that serves.
func TestNothingIsServedButBehindADoor(t *testing.T) {
	var served []string
	for _, root := range []string{"control", "gateway", "cli", "cmd/reshelve", "coord", "worker", "store", "migrate", "reshard", "cluster", "blob", "door"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
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
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(served) != 1 || !strings.HasPrefix(served[0], "../control/doors.go:") {
		t.Errorf("requests are served at %v", served)
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
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s with a token: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "[::1]:0"} {
		if _, err := c.Work(t.Context(), control.WorkerRequest{Join: filepath.Join(t.TempDir(), "none"), Listen: listen}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

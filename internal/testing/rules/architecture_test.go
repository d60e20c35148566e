package rules_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/reshelve/reshelve"

// TestMain lets the tests run at the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// room is one row of the map.
type room struct {
	floor    int
	pure     bool
	sideways []string
	aside    bool
}

// readMap reads the tables of ARCHITECTURE.md.
func readMap(t *testing.T) map[string]room {
	t.Helper()
	file, err := os.Open("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code := regexp.MustCompile("`([^`]+)`")
	rooms := map[string]room{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		cells := strings.Split(strings.Trim(lines.Text(), "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(lines.Text(), "|") || len(cells) < 2 {
			continue
		}
		if name := code.FindStringSubmatch(cells[0]); name != nil { // aside
			rooms[name[1]] = room{aside: true}
			continue
		}
		floor, err := strconv.Atoi(cells[0])
		if err != nil {
			continue
		}
		r := room{floor: floor, pure: cells[2] == "pure"}
		if len(cells) > 4 {
			for _, m := range code.FindAllStringSubmatch(cells[4], -1) {
				r.sideways = append(r.sideways, m[1])
			}
		}
		rooms[code.FindStringSubmatch(cells[1])[1]] = r
	}
	return rooms
}

// source is one Go package of the main module as it stands on disk.
type source struct {
	files   map[string]*ast.File // without tests
	fileset *token.FileSet
}

func readSources(t *testing.T) map[string]*source {
	t.Helper()
	packages := map[string]*source{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
				return filepath.SkipDir // another module
			}
			if name := entry.Name(); path != "." && (name == "testdata" || strings.HasPrefix(name, ".") || name == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if packages[dir] == nil {
			packages[dir] = &source{files: map[string]*ast.File{}, fileset: token.NewFileSet()}
		}
		file, err := parser.ParseFile(packages[dir].fileset, path, nil, parser.ParseComments)
		packages[dir].files[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func imports(file *ast.File) (paths []string) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

func TestEveryPackageIsOnTheMap(t *testing.T) {
	rooms, sources := readMap(t), readSources(t)
	for name := range sources {
		if _, ok := rooms[name]; !ok {
			t.Errorf("package %s is not in ARCHITECTURE.md", name)
		}
	}
	for name := range rooms {
		if sources[name] == nil {
			t.Errorf("ARCHITECTURE.md lists %s, which does not exist", name)
		}
	}
}

func TestImportsGoDown(t *testing.T) {
	rooms := readMap(t)
	for name, src := range readSources(t) {
		for path, file := range src.files {
			for _, imported := range imports(file) {
				below, ours := strings.CutPrefix(imported, module+"/")
				if !ours || rooms[name].aside {
					continue
				}
				from, to := rooms[name], rooms[below]
				switch {
				case to.aside:
					t.Errorf("%s imports %s, which is for tests and tools", path, below)
				case to.floor < from.floor, slices.Contains(from.sideways, below):
				default:
					t.Errorf("%s on floor %d imports %s on floor %d", path, from.floor, below, to.floor)
				}
			}
		}
	}
}

// TestAdaptersAreWiredInOnePlace: only cmd/reshelve may import an adapter, and a user interface only
// what takes its orders and the vocabularies of its requests and answers.
func TestAdaptersAreWiredInOnePlace(t *testing.T) {
	faces := map[string][]string{
		"internal/cli": {"control", "document", "fault", "movement", "movement/work"},
		"internal/gateway": {"control", "document", "fault", "movement", "store", "store/catalog", "store/placement", "store/routing",
			"index/aggregate", "index/analysis", "index/fields", "index/highlight", "index/mapping", "index/query", "index/search", "index/segment",
			"opensearch/date", "opensearch/exception", "opensearch/java", "opensearch/token", "opensearch/wildcard", "opensearch/xcontent"},
	}
	rooms := readMap(t)
	for name, src := range readSources(t) {
		for at, file := range src.files {
			for _, imported := range imports(file) {
				below, ours := strings.CutPrefix(imported, module+"/")
				if !ours || rooms[name].aside {
					continue
				}
				if slices.Contains(rooms[below].sideways, path.Dir(below)) && name != "cmd/reshelve" {
					t.Errorf("%s imports the adapter %s", at, below)
				}
				if allowed, isFace := faces[name]; isFace && !slices.Contains(allowed, strings.TrimPrefix(below, "internal/")) {
					t.Errorf("%s, a face, imports %s", at, below)
				}
			}
		}
	}
}

var impure = regexp.MustCompile(`^(context|math/rand.*|crypto/rand|log.*|os.*|net.*|sync.*|syscall|io/fs|io/ioutil|runtime.*|embed|plugin|testing.*|database/.*)$`)

// clock are the functions of package time that ask the clock or wait for it; its
// values and their arithmetic are pure.
var clock = regexp.MustCompile(`^(Now|Since|Until|Sleep|After|AfterFunc|Tick|NewTimer|NewTicker|Local|LoadLocation)$`)

func TestPurePackagesArePure(t *testing.T) {
	sources := readSources(t)
	for name, r := range readMap(t) {
		if !r.pure || sources[name] == nil {
			continue
		}
		for path, file := range sources[name].files {
			for _, imported := range imports(file) {
				if impure.MatchString(imported) && imported != "net/netip" { // values, no network
					t.Errorf("%s is pure and imports %s", path, imported)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s is pure and starts a goroutine", path)
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && clock.MatchString(n.Sel.Name) {
						t.Errorf("%s is pure and asks the clock: time.%s", path, n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

func TestEveryPackageTellsItsStory(t *testing.T) {
	for name, src := range readSources(t) {
		told := false
		for _, file := range src.files {
			told = told || file.Doc != nil && len(file.Doc.Text()) > 80
		}
		if !told {
			t.Errorf("package %s has no story", name)
		}
	}
}

// TestStoriesNameFilesThatAreThere: where a story says in which file to look, there it is.
func TestStoriesNameFilesThatAreThere(t *testing.T) {
	name := regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)
	named := 0
	for dir, src := range readSources(t) {
		for _, file := range src.files {
			if file.Doc == nil {
				continue
			}
			for _, at := range name.FindAllString(file.Doc.Text(), -1) {
				named++
				if _, err := os.Stat(filepath.Join(filepath.FromSlash(dir), at)); err != nil {
					t.Errorf("the story of %s names %s, which it has not", dir, at)
				}
			}
		}
	}
	if named == 0 {
		t.Error("no story names a file")
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, src := range readSources(t) {
		for path, file := range src.files {
			for _, decl := range file.Decls {
				for _, name := range undocumented(decl) {
					t.Errorf("%s: %s is exported and has no comment", path, name)
				}
			}
		}
	}
}

func undocumented(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !conventional[d.Name.Name] {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// conventional methods are documented by the interface that they fulfil.
var conventional = map[string]bool{"Error": true, "String": true, "Read": true, "Close": true, "Write": true, "Unwrap": true, "Open": true, "Size": true, "List": true, "MarshalJSON": true, "MarshalText": true, "UnmarshalText": true}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

func TestFilesAndFunctionsFitAScreen(t *testing.T) {
	const fileLines, functionLines = 600, 100
	for _, src := range readSources(t) {
		for path, file := range src.files {
			if lines := src.fileset.File(file.Pos()).LineCount(); lines > fileLines {
				t.Errorf("%s has %d lines, more than %d", path, lines, fileLines)
			}
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if lines := src.fileset.Position(f.End()).Line - src.fileset.Position(f.Pos()).Line; lines > functionLines {
					t.Errorf("%s: %s has %d lines, more than %d", path, f.Name.Name, lines, functionLines)
				}
			}
		}
	}
}

func TestNoPackageIsCalledNothing(t *testing.T) {
	for name := range readSources(t) {
		if regexp.MustCompile(`(^|/)(utils?|common|helpers?|base|types|shared|misc)$`).MatchString(name) {
			t.Errorf("the name of package %s says nothing", name)
		}
	}
}

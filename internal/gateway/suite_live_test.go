package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// suiteList has the cases of the upstream suite that do not pass here, each with its reason.
const suiteList = "testdata/suite.txt"

// suiteFeatures are what a case may need of its runner.
var suiteFeatures = []string{"allowed_warnings", "warnings", "headers", "arbitrary_key", "contains", "node_selector", "stash_in_path", "stash_path_replace", "stash_in_key", "default_shards"}

// suiteFailure is all in which a case differs; nil when it passes.
type suiteFailure []string

// TestLiveSuite runs the cases that OpenSearch 2.19.0 is published with. Those that do not pass are
// in a list with their reasons; one that is not in it fails, and one in it that passes does too, or
// that is listed as refused and differs by something else than that refusal.
//
// RESHELVE_SUITE=REGEXP runs the cases ("file: case") that it matches, and tells all in which they
// differ. RESHELVE_RECORD=1 writes the list anew, keeping the reasons that are there.
func TestLiveSuite(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 fetches the suite")
	}
	chosen, err := regexp.Compile(os.Getenv("RESHELVE_SUITE"))
	if err != nil {
		t.Fatal(err)
	}
	failed := runSuite(t, chosen)
	listed := readSuiteList(t)
	if os.Getenv("RESHELVE_RECORD") != "" {
		writeSuiteList(t, failed, listed)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		reason, all := listed[name], strings.Join(failed[name], "\n\t")
		switch feature, refused := strings.CutPrefix(reason, "refused: "); {
		case len(failed[name]) == 0 && reason != "":
			t.Errorf("%s passes, and is in %s", name, suiteList)
		case len(failed[name]) == 0:
		case reason == "":
			t.Errorf("%s fails, and is not in %s:\n\t%s", name, suiteList, all)
		case refused && !failed[name].refused(strings.TrimRight(strings.Fields(feature)[0], ",:")):
			t.Errorf("%s is listed as %q, and differs by something else:\n\t%s", name, reason, all)
		case chosen.String() != "":
			t.Logf("%s | %s\n\t%s", name, reason, all)
		}
	}
	for name := range listed {
		if _, ran := failed[name]; !ran && chosen.MatchString(name) {
			t.Errorf("%s is in %s, and no case of the suite", name, suiteList)
		}
	}
}

// runSuite tells in what the cases differ that are for this version and chosen: all that were run.
func runSuite(t *testing.T, chosen *regexp.Regexp) map[string]suiteFailure {
	t.Helper()
	folder, err := servers.RestSuite(t.Context(), "2.19.0")
	if err != nil {
		t.Fatal(err)
	}
	specs := readSpecs(t, filepath.Join(folder, "rest-api-spec", "api"))
	failed, passed := map[string]suiteFailure{}, 0
	root := filepath.Join(folder, "rest-api-spec", "test")
	err = filepath.WalkDir(root, func(file string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".yml") {
			return err
		}
		name, _ := filepath.Rel(root, strings.TrimSuffix(file, ".yml"))
		for _, c := range readSuite(t, file) {
			if full := name + ": " + c.name; !c.skipped() && chosen.MatchString(full) {
				if failed[full] = c.run(t, specs); len(failed[full]) == 0 {
					passed++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d cases pass", passed, len(failed))
	if chosen.String() == "" && len(failed) < 1000 {
		t.Errorf("only %d cases were run", len(failed))
	}
	return failed
}

func readSpecs(t *testing.T, folder string) map[string]endpointSpec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no APIs", err)
	}
	all := map[string]endpointSpec{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &of); err != nil {
			t.Fatal(file, err)
		}
		for name, raw := range of {
			var spec endpointSpec
			if json.Unmarshal(raw, &spec) == nil && len(spec.URL.Paths) > 0 {
				all[name] = spec
			}
		}
	}
	return all
}

// suiteCase is one case, with what is done before and after all cases of its file.
type suiteCase struct {
	name               string
	setup, steps, tear []any
}

func readSuite(t *testing.T, file string) (cases []suiteCase) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var setup, tear []any
	for decoder := yaml.NewDecoder(in); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			break
		}
		of, _ := plainYAML(&document).(map[string]any)
		for name, steps := range of {
			list, _ := steps.([]any)
			switch name {
			case "setup":
				setup = list
			case "teardown":
				tear = list
			default:
				cases = append(cases, suiteCase{name: name, steps: list})
			}
		}
	}
	for i := range cases {
		cases[i].setup, cases[i].tear = setup, tear
	}
	return cases
}

// suiteOptions are what a step has beside the API that it calls.
var suiteOptions = []string{"catch", "warnings", "allowed_warnings", "node_selector", "headers"}

// withoutOthers leaves the last API of a step that names several, as the suite's own runner does.
func withoutOthers(step *yaml.Node) {
	last := len(step.Content) - 2
	for last >= 0 && slices.Contains(suiteOptions, step.Content[last].Value) {
		last -= 2
	}
	for i := last - 2; i >= 0; i -= 2 {
		if !slices.Contains(suiteOptions, step.Content[i].Value) {
			step.Content = slices.Delete(step.Content, i, i+2)
		}
	}
}

// plainYAML is YAML as JSON has it; dates stay texts.
func plainYAML(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return plainYAML(n.Content[0])
	case yaml.AliasNode:
		return plainYAML(n.Alias)
	case yaml.SequenceNode:
		list := []any{}
		for _, one := range n.Content {
			list = append(list, plainYAML(one))
		}
		return list
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "do" {
				withoutOthers(n.Content[i+1])
			}
			object[n.Content[i].Value] = plainYAML(n.Content[i+1])
		}
		return object
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		var value float64
		if n.Decode(&value) == nil {
			return json.Number(strconv.FormatFloat(value, 'g', -1, 64))
		}
	}
	return n.Value
}

// skipped reports whether the case is not for this version, or needs what this runner lacks.
func (c *suiteCase) skipped() bool {
	for _, one := range slices.Concat(c.setup, c.steps) {
		step, _ := one.(map[string]any)
		skip, ok := step["skip"].(map[string]any)
		if !ok {
			continue
		}
		for _, span := range strings.Split(fmt.Sprint(cmp.Or[any](skip["version"], "")), ",") {
			from, to, both := strings.Cut(span, "-")
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			if from == "all" || both && !later(from, "2.19.0") && (to == "" || !later("2.19.0", to)) {
				return true
			}
		}
		features, isList := skip["features"].([]any)
		if !isList && skip["features"] != nil {
			features = []any{skip["features"]}
		}
		for _, feature := range features {
			if !slices.Contains(suiteFeatures, fmt.Sprint(feature)) {
				return true
			}
		}
	}
	return false
}

// later compares versions; "" is before all. Those of 6 and 7 are before 1, as their product's was.
func later(a, b string) bool {
	parts := func(v string) []int {
		var all []int
		for part := range strings.SplitSeq(v, ".") {
			n, _ := strconv.Atoi(part)
			all = append(all, n)
		}
		if len(all) > 0 && all[0] >= 5 {
			all[0] -= 100
		}
		return all
	}
	return a != "" && slices.Compare(parts(a), parts(b)) > 0
}

func (c *suiteCase) run(t *testing.T, specs map[string]endpointSpec) (differs suiteFailure) {
	t.Helper()
	r := &suiteRun{server: newServer(t, Options{}), specs: specs, stash: map[string]any{}}
	defer func() {
		if p := recover(); p != nil {
			differs = suiteFailure{fmt.Sprintf("the case cannot be run: %v", p)}
		}
	}()
	if differs := r.steps(c.setup); len(differs) > 0 {
		return differs
	}
	return r.steps(c.steps)
}

// suiteRefusals are what an answer says that refuses something by its name.
var suiteRefusals = regexp.MustCompile("no handler found for|Incorrect HTTP method|not supported by|unrecognized parameter|o handler for type|not recognized|reshelve split|is not supported|are not supported")

// refused reports whether all that differs is that something was refused by this name.
func (f suiteFailure) refused(name string) bool {
	return !slices.ContainsFunc(f, func(one string) bool { return !suiteRefusals.MatchString(one) || !strings.Contains(one, name) })
}

var suiteLine = regexp.MustCompile(`(?m)^(.+?) \| (.+)$`)

func readSuiteList(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(suiteList)
	if err != nil && os.Getenv("RESHELVE_RECORD") == "" {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, row := range suiteLine.FindAllStringSubmatch(string(text), -1) {
		all[row[1]] = row[2]
	}
	return all
}

// suiteHead begins the list.
const suiteHead = `Cases of org.opensearch:rest-api-spec:2.19.0 that do not pass against a store in memory, and why.
refused: something is not here, and the answer names it. here: it cannot be the same in one process with a store of its own kind.
wrong: the answer is another one than there, and what keeps it from being mended.

`

// suiteUnread marks a case for which nobody has written a reason yet.
const suiteUnread = "unread: "

func writeSuiteList(t *testing.T, failed map[string]suiteFailure, reasons map[string]string) {
	t.Helper()
	var out strings.Builder
	out.WriteString(suiteHead)
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if len(failed[name]) > 0 {
			fmt.Fprintf(&out, "%s | %s\n", name, cmp.Or(reasons[name], suiteUnread+strings.Join(failed[name], "; ")))
		}
	}
	if err := os.WriteFile(suiteList, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// suiteReason is one of the three kinds of reasons, in words: no answer that was pasted.
var suiteReason = regexp.MustCompile(`^(refused: \S+|here: \S+( \S+){3,}|wrong: \S+( \S+){3,}, not mended: \S+( \S+){3,}$)`)

// TestSuiteList: no case is listed without a reason that a reader can judge.
func TestSuiteList(t *testing.T) {
	text, err := os.ReadFile(suiteList)
	if err != nil {
		t.Fatal(err)
	}
	head, rows, _ := strings.Cut(string(text), "\n\n")
	if head+"\n\n" != suiteHead {
		t.Errorf("%s begins with\n%s", suiteList, head)
	}
	before := ""
	for row := range strings.Lines(rows) {
		name, reason, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " | ")
		if !suiteReason.MatchString(reason) || strings.Contains(reason, `{"`) {
			t.Errorf("%s is listed without a reason that says what it is: %q", name, reason)
		}
		if name <= before {
			t.Errorf("%s is listed behind %s", name, before)
		}
		before = name
	}
}

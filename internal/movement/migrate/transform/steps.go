package transform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"go.yaml.in/yaml/v3"
)

// Bounds of what people write.
const (
	MaxText  = 1 << 20 // bytes of all steps
	maxSteps = 1000
	maxNodes = 10_000 // of one expression
	maxNames = 64     // of one path
)

// Steps are a transformation. Read-only after Parse, and safe for concurrent use.
type Steps struct {
	all []step
}

// step is one of them.
type step struct {
	number  int // from 1
	says    string
	indices []string
	when    *vm.Program // nil: always
	drop    bool
	renames [][2]path
	removes []path
	sets    []setting
}

// setting is a member and what it becomes.
type setting struct {
	at   path
	expr *vm.Program
}

// path is the names of members, from the outermost on.
type path []string

func (p path) String() string { return strings.Join(p, ".") }

// written is a step as it is written. Renames and sets keep their order.
type written struct {
	Index  list      `yaml:"index"`
	When   string    `yaml:"when"`
	Drop   bool      `yaml:"drop"`
	Rename yaml.Node `yaml:"rename"`
	Remove list      `yaml:"remove"`
	Set    yaml.Node `yaml:"set"`
}

// list is one text, or several.
type list []string

func (l *list) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = list{n.Value}
		return nil
	}
	var all []string
	err := n.Decode(&all)
	*l = all
	return err
}

// Parse reads steps in YAML, or in JSON:
//
//	steps:
//	  - index: logs-*            # for these indices of the source alone; may be a list
//	    when: doc.level == "debug"
//	    drop: true
//	  - rename: {user.name: user.login}
//	  - remove: [password, internal]
//	  - set: {origin: '"moved"', total: doc.price * doc.count}
//
// It is fault.Usage for anything else, and tells which step is wrong.
func Parse(text []byte) (*Steps, error) {
	if len(text) > MaxText {
		return nil, fault.New(fault.Usage, "the steps have %d bytes, and may have %d", len(text), MaxText)
	}
	var file struct {
		Steps []written `yaml:"steps"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Usage, "the steps are not understood: %s", whole(err))
	}
	if len(file.Steps) == 0 || len(file.Steps) > maxSteps {
		return nil, fault.New(fault.Usage, "there are %d steps; write 1 to %d below \"steps:\"", len(file.Steps), maxSteps)
	}
	s := &Steps{}
	for i := range file.Steps {
		one, err := file.Steps[i].compile(i + 1)
		if err != nil {
			return nil, fault.At(err, fmt.Sprintf("step %d", i+1))
		}
		s.all = append(s.all, one)
	}
	return s, nil
}

func (w *written) compile(number int) (s step, err error) {
	s = step{number: number, says: w.says(), indices: w.Index, drop: w.Drop}
	if w.When != "" {
		if s.when, err = compile(w.When, expr.AsBool()); err != nil {
			return s, err
		}
	}
	err = pairs(&w.Rename, "rename", func(from, to string) error {
		a, err := parsePath(from)
		if err != nil {
			return err
		}
		b, err := parsePath(to)
		s.renames = append(s.renames, [2]path{a, b})
		return err
	})
	if err != nil {
		return s, err
	}
	for _, name := range w.Remove {
		p, err := parsePath(name)
		if err != nil {
			return s, err
		}
		s.removes = append(s.removes, p)
	}
	err = pairs(&w.Set, "set", func(name, text string) error {
		at, err := parsePath(name)
		if err != nil {
			return err
		}
		program, err := compile(text)
		s.sets = append(s.sets, setting{at, program})
		return err
	})
	deeds := 0
	for _, is := range []bool{s.drop, len(s.renames) > 0, len(s.removes) > 0, len(s.sets) > 0} {
		if is {
			deeds++
		}
	}
	switch {
	case err != nil:
		return s, err
	case deeds == 0:
		return s, fault.New(fault.Usage, "it does nothing: write drop, rename, remove or set")
	case s.drop && deeds > 1:
		return s, fault.New(fault.Usage, "what is dropped is not changed: write steps of their own")
	}
	return s, nil
}

// says is the step for people: what it does, in which indices, and when.
func (w *written) says() string {
	var all []string
	if w.Drop {
		all = append(all, "drop")
	}
	for what, n := range map[string]*yaml.Node{"rename": &w.Rename, "set": &w.Set} {
		var names []string
		_ = pairs(n, what, func(name, _ string) error { names = append(names, name); return nil })
		if len(names) > 0 {
			all = append(all, what+" "+strings.Join(names, ", "))
		}
	}
	if len(w.Remove) > 0 {
		all = append(all, "remove "+strings.Join(w.Remove, ", "))
	}
	slices.Sort(all)
	text := strings.Join(all, "; ")
	if len(w.Index) > 0 {
		text += ", of " + strings.Join(w.Index, ", ")
	}
	if w.When != "" {
		text += ", when " + w.When
	}
	return text
}

// Says are the steps for people, in their order.
func (s *Steps) Says() (all []string) {
	for i := range s.all {
		all = append(all, s.all[i].says)
	}
	return all
}

// pairs are the members of a mapping, in their order.
func pairs(n *yaml.Node, what string, each func(key, value string) error) error {
	if n.Kind == 0 {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return fault.New(fault.Usage, "%s takes pairs, in line %d", what, n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			return fault.New(fault.Usage, "%s takes pairs of texts, in line %d", what, key.Line)
		}
		if err := each(key.Value, value.Value); err != nil {
			return err
		}
	}
	return nil
}

func parsePath(text string) (path, error) {
	names := strings.Split(text, ".")
	if len(names) > maxNames || slices.Contains(names, "") {
		return nil, fault.New(fault.Usage, "%.100q is no path: write names with dots between, at most %d", text, maxNames)
	}
	return names, nil
}

// sight is what expressions see.
func sight(doc map[string]any, m Meta) map[string]any {
	return map[string]any{"doc": doc, "id": m.ID, "routing": m.Routing, "type": m.Type, "index": m.Index}
}

// compile compiles an expression. Left out of the language is what looks at the clock or at
// the machine, and what gives the members of an object in an order that is another one each
// time.
func compile(text string, options ...expr.Option) (*vm.Program, error) {
	options = append(options, expr.Env(sight(map[string]any{}, Meta{})), expr.MaxNodes(maxNodes))
	for _, name := range []string{"now", "timezone", "keys", "values", "toPairs"} {
		options = append(options, expr.DisableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, fault.WithNext(fault.New(fault.Usage, "the expression %.200q is not understood: %w", text, err), "see docs/transform.md")
	}
	return program, nil
}

// For are the steps that an index of the source goes through; nil when there is none, and its
// documents pass as they are.
func (s *Steps) For(index string) *Program {
	p := &Program{index: index}
	for i := range s.all {
		one := &s.all[i]
		if len(one.indices) == 0 || slices.ContainsFunc(one.indices, func(pattern string) bool { return wildcard.Match(pattern, index) }) {
			p.steps = append(p.steps, one)
		}
	}
	if len(p.steps) == 0 {
		return nil
	}
	return p
}

// whole is the text of an error of the YAML library, which cuts what it quotes within characters: without their rests.
func whole(err error) string { return strings.ToValidUTF8(err.Error(), "") }

package transform

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/expr-lang/expr/vm"
	"github.com/reshelve/reshelve/internal/fault"
)

// Meta is what is known of a document besides its source.
type Meta struct {
	ID, Routing, Type string
	Index             string // of the source
}

// Program are the steps for one index. Safe for concurrent use.
type Program struct {
	index string
	steps []*step
}

// MaxDepth is how deep the sources that are changed may be nested.
const MaxDepth = 1000

// Apply sends a source through the steps. It is handed back as it came when no step has
// changed it, and nil when it was dropped. The error is fault.Refused, with the number of the
// step that could not be done: a source that is no JSON object, an expression that fails or
// gives what is no JSON. What each step does is counted in tally, unless that is nil: it is
// one of [Program.NewTally].
func (p *Program) Apply(source []byte, m Meta, tally Tally) (changed []byte, dropped bool, err error) {
	m.Index = p.index
	if deep(source) {
		return nil, false, fault.New(fault.Refused, "the source is nested more than %d deep", MaxDepth)
	}
	a := &applying{source: source, meta: m}
	for i, s := range p.steps {
		did, err := a.step(s)
		if tally != nil {
			tally[i].count(did, err)
		}
		if err != nil {
			return nil, false, fault.At(err, fmt.Sprintf("step %d of the transformation", s.number))
		}
		if did == dropping {
			return nil, true, nil
		}
	}
	return a.current(), false, nil
}

// deep tells whether a source is nested too deep to be taken apart.
func deep(source []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// applying is one document on its way through the steps.
type applying struct {
	source []byte
	meta   Meta
	tree   *value         // once a step has looked into it
	other  bool           // a step has changed something
	seen   map[string]any // what expressions see; nil when it has to be made again
}

// current is the source as it is now.
func (a *applying) current() []byte {
	if !a.other {
		return a.source
	}
	return a.tree.appendTo(nil)
}

func (a *applying) step(s *step) (did deed, err error) {
	if s.when != nil {
		is, err := a.run(s.when)
		if err != nil {
			return nothing, err
		}
		if is != true {
			return nothing, nil
		}
	}
	if s.drop {
		return dropping, nil
	}
	did = matching
	values := make([]*value, len(s.sets))
	for i := range s.sets { // all of them see the document as it was before the step
		if values[i], err = a.worth(s.sets[i].expr); err != nil {
			return did, err
		}
	}
	if err := a.open(); err != nil {
		return did, err
	}
	for _, pair := range s.renames {
		moved, err := a.tree.rename(pair[0], pair[1])
		if err != nil {
			return did, err
		}
		did = did.or(moved)
	}
	for _, p := range s.removes {
		found, err := a.tree.remove(p)
		if err != nil {
			return did, err
		}
		did = did.or(found)
	}
	for i := range s.sets {
		if err := a.tree.set(s.sets[i].at, values[i]); err != nil {
			return did, err
		}
		did = changing
	}
	a.other = a.other || did == changing
	a.seen = nil
	return did, nil
}

// open takes the source apart.
func (a *applying) open() error {
	if a.tree != nil {
		return nil
	}
	tree := &value{raw: bytes.TrimSpace(a.source)}
	if err := tree.open(); err != nil {
		return err
	}
	if tree.kind != object {
		return fault.New(fault.Refused, "the source is no JSON object")
	}
	a.tree = tree
	return nil
}

// run gives what an expression is worth.
func (a *applying) run(program *vm.Program) (worth any, err error) {
	if a.seen == nil {
		if a.seen, err = plain(a.current()); err != nil {
			return nil, err
		}
	}
	worth, err = vm.Run(program, sight(a.seen, a.meta))
	if err != nil {
		return nil, fault.New(fault.Refused, "the expression fails: %w", err)
	}
	return worth, nil
}

// worth is what an expression is worth, as JSON.
func (a *applying) worth(program *vm.Program) (*value, error) {
	is, err := a.run(program)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(is); err != nil {
		return nil, fault.New(fault.Refused, "what the expression gives is no JSON: %w", err)
	}
	return &value{raw: bytes.TrimSpace(text.Bytes())}, nil
}

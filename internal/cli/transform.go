package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
)

// maxSteps is more than any transformation may have; a larger file is none.
const maxSteps = 2 << 20

// readSteps reads the file of a transformation into steps.
func readSteps(file string, steps *string) error {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return fault.WithNext(fault.At(fault.Wrap(fault.Usage, err), "--transform"), "name a file of steps: see reshelve help transform")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSteps))
	if err != nil {
		return fault.At(fault.Wrap(fault.Usage, err), file)
	}
	if len(text) == 0 {
		return fault.WithNext(fault.At(fault.New(fault.Usage, "it is empty, and no transformation"), file), "see reshelve help transform")
	}
	*steps = string(text)
	return nil
}

// printSteps tells what each step of the transformation has done, and warns of those that have
// done nothing.
func printSteps(w io.Writer, steps []control.Step) {
	if len(steps) == 0 {
		return
	}
	t := newTable(">STEP", ">MATCHED", ">CHANGED", ">DROPPED", ">FAILED", "WHAT IT DOES")
	for _, s := range steps {
		t.row(fmt.Sprint(s.Step), count(s.Matched), count(s.Changed), count(s.Dropped), count(s.Failed), s.Says)
	}
	t.print(w)
	for _, s := range steps {
		if why := idle(&s); why != "" {
			fmt.Fprintf(w, "! step %d of the transformation has changed nothing: %s\n  → see whether it was meant so: %s\n", s.Step, why, oneLine(s.Says))
		}
	}
}

// idle is why a step has done nothing; "" when it has done something.
func idle(s *control.Step) string {
	switch {
	case s.Changed+s.Dropped+s.Failed > 0:
		return ""
	case s.Indices == 0:
		return "no index that was moved is one of its own"
	case s.Matched == 0:
		return "no document has met its condition"
	}
	return "of " + counted(s.Matched, "document") + ", none has what it names"
}

// transformations is the page of the topic transform.
const transformations = `A transformation is a file of steps in YAML or JSON, for migrate --transform FILE:

  steps:
    - index: logs-*                    # of the source; a pattern, or a list of them
      when: doc.level == "debug"
      drop: true
    - rename: {user.name: user.login}
      remove: [password, internal.notes]
      set: {total: (doc.price ?? 0) * (doc.count ?? 0), origin: '"moved"'}

A step drops a document, or renames, removes and sets fields, in this order. It is done for
the indices that fit, and for the documents for which the expression after when is true.
user.name is the member name of the object user, or the member "user.name"; it goes into
each object of an array. What no step names stays byte by byte as it was.

Expressions are those of github.com/expr-lang/expr: doc is the source as the steps before
have left it; id, routing, type and index are texts. doc.a?.b ?? 0 is 0 where there is no a.
A document for which a step cannot be done is not sent: it is one of those that
"reshelve movement failures" lists. Documents that were dropped are counted as such, and
verify expects what the steps make of the snapshot.
`

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// program is one command line being executed.
type program struct {
	control        *control.Control
	stdout, stderr io.Writer

	// The flags of all verbs.
	output string // "text" or "json"
	quiet  bool

	ran bool // a verb began; before, every error is wrong usage
}

// Run executes the command line args (without the program's name) and returns
// the exit code. Cancelling ctx stops it cleanly. Run may be called again, with
// other writers, in one process.
func Run(ctx context.Context, ctl *control.Control, args []string, stdout, stderr io.Writer) int {
	p := &program{control: ctl, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(args)
	pages := &pages{out: stdout}
	root.SetOut(pages)
	root.SetErr(stderr)
	p.refuseUnknown(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		p.ran = true
		err = written(pages.err)
	}
	if err == nil {
		return 0
	}
	if !p.ran {
		err = usage(cmd, err)
	}
	err = listedAt(cmd, atDefault(cmd, err))
	broken := false
	if ctx.Err() != nil && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Interrupted) {
		err, broken = fault.Wrap(fault.Interrupted, err), true // whatever it broke on its way
	}
	p.fail(err, broken)
	return fault.KindOf(err).ExitCode()
}

// atDefault says of a place that does not answer that nobody has named it.
func atDefault(cmd *cobra.Command, err error) error {
	at := cmd.Flags().Lookup("at")
	if at == nil || at.Changed || !fault.Is(err, fault.Unavailable) {
		return err
	}
	err = fault.New(fault.Unavailable, "%s", err) // without what else could be done
	return fault.WithNext(err, "name the place with --at, a URL or a folder: without it %s is meant", at.DefValue)
}

// listedAt says, of an index that is not there, how to list those that are.
func listedAt(cmd *cobra.Command, err error) error {
	at := cmd.Flags().Lookup("at")
	if at == nil || !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "index_not_found_exception") {
		return err
	}
	return fault.Reword(err, func(string) string {
		return control.Command("index", "ls", "--at", at.Value.String()) + " lists those that are there"
	})
}

// fail tells an error: "reshelve: PLACE: cause" and, on a line of its own, what
// can be done about it; or both as JSON. What an interruption has broken on its way is no
// error to tell of.
func (p *program) fail(err error, broken bool) {
	var told *toldError
	if errors.As(err, &told) {
		return
	}
	if p.output != "json" && (broken || fault.Is(err, fault.Interrupted) && fault.Next(err) == "") {
		p.note("interrupted")
		return
	}
	if p.output == "json" {
		problem := control.Tell(err)
		_ = printDocument(p.stderr, struct {
			Error control.Problem `json:"error"`
			Exit  int             `json:"exit"`
		}{problem, fault.KindOf(err).ExitCode()})
		return
	}
	fmt.Fprintf(p.stderr, "reshelve: %s\n", oneLine(err.Error()))
	if next := fault.Next(err); next != "" {
		fmt.Fprintf(p.stderr, "  → %s\n", oneLine(next))
	}
}

// toldError is an error that the user has been told of already; it only sets the
// exit code.
type toldError struct{ error }

func (e *toldError) Unwrap() error { return e.error }

func told(err error) error { return &toldError{err} }

// oneLine keeps a message that repeats text from files from leaving its line or
// steering the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, text)
}

// note prints a line for people.
func (p *program) note(format string, args ...any) {
	fmt.Fprintln(p.stderr, oneLine(fmt.Sprintf(format, args...)))
}

// verb makes the function that cobra calls for a verb.
func (p *program) verb(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if p.output != "text" && p.output != "json" {
			return fmt.Errorf("--output is text or json, not %q", p.output)
		}
		p.ran = true
		if err := enoughMemory(cmd); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
}

// answer prints v as one JSON document, or calls text, as --output says.
func (p *program) answer(v any, text func(io.Writer)) error {
	if p.output == "json" {
		return printDocument(p.stdout, v)
	}
	var page strings.Builder
	text(&page)
	_, err := io.WriteString(p.stdout, page.String())
	return written(err)
}

// answerWith is answer for a verb that met err beside its answer. Err decides the
// exit code, also when the answer is lost; it then tells so.
func (p *program) answerWith(err error, v any, text func(io.Writer)) error {
	lost := p.answer(v, text)
	switch {
	case err == nil:
		return lost
	case lost != nil:
		return fault.WithNext(err, "the answer is lost: %s", lost)
	}
	return err
}

// printLine prints v as JSON on one line.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return written(enc.Encode(v))
}

// printDocument prints v as one JSON document.
func printDocument(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return written(enc.Encode(v))
}

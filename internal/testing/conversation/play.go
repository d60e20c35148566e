package conversation

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

var update = flag.Bool("update", false, "write the answers that are given now into testdata")

// Machine hears what is said, and answers with lines, or with an error.
type Machine interface {
	Hear(line string, say func(line string)) error
}

// Play plays testdata/*.txt, each against a machine of its own.
func Play(t *testing.T, begin func(t *testing.T) Machine) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Golden(t, file, answered(string(script), begin(t)))
		})
	}
}

// answered is a script with the answers of a machine.
func answered(script string, m Machine) string {
	var b strings.Builder
	say := func(line string) { b.WriteString("\t" + line + "\n") }
	for line := range strings.SplitSeq(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // an answer of before
		}
		b.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := m.Hear(line, say); err != nil {
			say(fault.KindOf(err).String() + ": " + err.Error())
			if next := fault.Next(err); next != "" {
				say("→ " + next)
			}
		}
	}
	return b.String()
}

// Golden compares a text with a file, or writes it, with -update.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is otherwise now:\n%s", file, difference(string(want), got))
	}
}

// difference is the first one, with what is around it.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			return strings.Join(w[max(0, min(i, len(w))-6):min(len(w), i+3)], "\n") + "\n----- but -----\n" + strings.Join(g[max(0, i-6):min(len(g), i+3)], "\n")
		}
	}
	return "it ends early"
}

package movement_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
)

var update = flag.Bool("update", false, "write the answers that are given now into testdata")

// TestConversations plays testdata/*.txt: each paragraph is an event and, indented, what
// becomes of the movement and what is to be done. A paragraph "movement …" begins one;
// "offers", "owed" and "journal" ask. A minute passes between events.
func TestConversations(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no conversations")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(script))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != string(script) {
				t.Errorf("the conversation went otherwise:\n%s", difference(string(script), got))
			}
		})
	}
}

func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			return strings.Join(w[max(0, i-6):min(len(w), i+3)], "\n") + "\n----- but -----\n" + strings.Join(g[max(0, i-6):min(len(g), i+3)], "\n")
		}
	}
	return "it ended early"
}

func play(t *testing.T, script string) string {
	var b strings.Builder
	var r movement.Record
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // an answer of before
		}
		b.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		now = now.Add(time.Minute)
		say := func(s string) { b.WriteString("\t" + s + "\n") }
		var err error
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "movement":
			if r, err = movement.ParseRecord(rest); err == nil {
				say(r.String())
			}
		case "offers":
			var verbs []string
			for _, v := range r.Offers() {
				verbs = append(verbs, string(v))
			}
			say(strings.Join(verbs, " "))
		case "owed":
			say(movement.EffectsText(r.Owed()))
		case "journal":
			for _, a := range r.Journal {
				say(a.String())
			}
		default:
			err = event(&r, line, now, say)
		}
		if err != nil {
			say(fault.KindOf(err).String() + ": " + err.Error())
			if next := fault.Next(err); next != "" {
				say("→ " + next)
			}
		}
	}
	return b.String()
}

func event(r *movement.Record, line string, now time.Time, say func(string)) error {
	e, err := movement.ParseEvent(line)
	if err != nil {
		return err
	}
	e.At = now
	next, effects, err := movement.Step(*r, e)
	switch {
	case err != nil:
		return err
	case next.Events == r.Events:
		say("nothing to do")
		return nil
	}
	*r = next
	say(r.String())
	say(movement.EffectsText(effects))
	return nil
}

func TestTheTableIsPrinted(t *testing.T) {
	got := movement.TableText()
	if *update {
		if err := os.WriteFile("testdata/table.md", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/table.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("testdata/table.md is not what the table says:\n%s", difference(string(want), got))
	}
}

package transfer_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/transfer"
)

var update = flag.Bool("update", false, "write the answers that are given now into testdata")

var change = placement.Change{By: "ann", Why: "it is too big", At: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)}

// TestConversations plays testdata/*.txt: each line is something that happens, and below it,
// indented, stand the lines of the record that it has changed, and what is to be done.
// "index N" begins an index of N shards, "split SHARD into K", "split by M" and "merge A B"
// begin its reshaping; "map", "record" and "owed" ask; after "as M" workers of movement M speak.
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
				t.Errorf("the conversation went otherwise:\n%s", got)
			}
		})
	}
}

// talk is a conversation: the index, as the coordination store has it.
type talk struct {
	t        *testing.T
	placed   placement.Placement
	movement string // whose worker speaks
	out      strings.Builder
}

func play(t *testing.T, script string) string {
	c := talk{t: t, movement: "m1"}
	for line := range strings.SplitSeq(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // an answer of before
		}
		c.out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		before := c.record()
		effects, err := c.do(line)
		if err != nil {
			c.say(fault.KindOf(err).String() + ": " + err.Error())
			if next := fault.Next(err); next != "" {
				c.say("→ " + next)
			}
			continue
		}
		if word, _, _ := strings.Cut(line, " "); slices.Contains([]string{"map", "record", "owed", "index", "as"}, word) {
			continue
		}
		c.changed(before, effects)
	}
	return c.out.String()
}

func (c *talk) say(line string) { c.out.WriteString("\t" + line + "\n") }

func (c *talk) lines(text string) {
	for line := range strings.Lines(text) {
		c.say(strings.TrimSuffix(line, "\n"))
	}
}

// record is the text of the record; "" when there is none.
func (c *talk) record() string {
	r, found, err := transfer.Of(c.placed)
	switch {
	case err != nil:
		c.t.Fatal(err)
	case !found:
		return ""
	}
	return r.String()
}

// changed says which lines of the record are new, and what is to be done.
func (c *talk) changed(before string, effects []transfer.Effect) {
	after := c.record()
	if after == before {
		c.say("nothing to do")
		return
	}
	old := strings.Split(before, "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(after, "\n"), "\n") {
		if !slices.Contains(old, line) {
			c.say(line)
		}
	}
	c.say("do: " + transfer.EffectsText(effects))
}

func (c *talk) do(line string) (effects []transfer.Effect, err error) {
	words := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			c.t.Fatalf("%q: %v", line, err)
		}
		return n
	}
	var plan placement.Plan
	switch words[0] {
	case "index":
		c.placed = placement.New(7, number(1), placement.Local, change)
		return nil, nil
	case "map":
		c.lines(c.placed.String())
		return nil, nil
	case "record":
		c.lines(c.record())
		return nil, nil
	case "owed":
		r, _, err := transfer.Of(c.placed)
		c.say(transfer.EffectsText(r.Owed()))
		return nil, err
	case "as":
		c.movement = words[1]
		return nil, nil
	case "clear":
		c.placed, err = transfer.Clear(c.placed, c.movement, change)
		return nil, err
	case "split":
		if words[1] == "by" {
			plan, err = c.placed.SplitBy(number(2), nil)
		} else {
			plan, err = c.placed.SplitInto(uint32(number(1)), number(3), nil)
		}
	case "merge":
		var shards []uint32
		for i := range words[1:] {
			shards = append(shards, uint32(number(i+1)))
		}
		plan, err = c.placed.Join(shards, nil)
	default:
		e, err := transfer.ParseEvent(line)
		if err != nil {
			return nil, err
		}
		c.placed, effects, err = transfer.Advance(c.placed, c.movement, e, change)
		return effects, err
	}
	if err != nil {
		return nil, err
	}
	c.placed, err = transfer.Begin(c.placed, plan, transfer.Asked{Movement: c.movement, Name: "books", Change: change})
	if err != nil {
		return nil, err
	}
	r, _, err := transfer.Of(c.placed)
	return r.Owed(), err
}

func TestTheTableIsPrinted(t *testing.T) {
	got := transfer.TableText()
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
		t.Errorf("testdata/table.md is not what the table says:\n%s", got)
	}
}

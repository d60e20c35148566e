package transfer_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/testing/conversation"
)

var change = placement.Change{By: "ann", Why: "it is too big", At: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)}

// TestConversations: each line is something that happens, and below it, indented, stand the lines
// of the record that it has changed, and what is to be done.
// "index N" begins an index of N shards, "split SHARD into K", "split by M" and "merge A B"
// begin its reshaping; "map", "record" and "owed" ask; after "as M" workers of movement M speak.
func TestConversations(t *testing.T) {
	conversation.Play(t, func(t *testing.T) conversation.Machine { return &talk{t: t, movement: "m1"} })
}

// talk is a conversation: the index, as the coordination store has it.
type talk struct {
	t        *testing.T
	placed   placement.Placement
	movement string // whose worker speaks
	say      func(line string)
}

func (c *talk) Hear(line string, say func(string)) error {
	c.say = say
	before := c.record()
	effects, err := c.do(line)
	if word, _, _ := strings.Cut(line, " "); err == nil && !slices.Contains([]string{"map", "record", "owed", "index", "as"}, word) {
		c.changed(before, effects)
	}
	return err
}

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
	conversation.Golden(t, "testdata/table.md", transfer.TableText())
}

package movement_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/testing/conversation"
)

// TestConversations: each paragraph is an event and, indented, what becomes of the movement and
// what is to be done. A paragraph "movement …" begins one; "offers", "owed" and "journal" ask. A
// minute passes between events.
func TestConversations(t *testing.T) {
	conversation.Play(t, func(*testing.T) conversation.Machine {
		return &talk{now: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)}
	})
}

// talk is a conversation about one movement.
type talk struct {
	record movement.Record
	now    time.Time
}

func (c *talk) Hear(line string, say func(string)) (err error) {
	c.now = c.now.Add(time.Minute)
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "movement":
		if c.record, err = movement.ParseRecord(rest); err == nil {
			say(c.record.String())
		}
	case "offers":
		var verbs []string
		for _, v := range c.record.Offers() {
			verbs = append(verbs, string(v))
		}
		say(strings.Join(verbs, " "))
	case "owed":
		say(movement.EffectsText(c.record.Owed()))
	case "journal":
		for _, a := range c.record.Journal {
			say(a.String())
		}
	default:
		err = event(&c.record, line, c.now, say)
	}
	return err
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
	conversation.Golden(t, "testdata/table.md", movement.TableText())
}

package work_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/testing/conversation"
)

// TestConversations: each line is said by a worker or an operator at a time of the coordination
// store, and below it, indented, is what stands in the store then, or why not.
func TestConversations(t *testing.T) {
	conversation.Play(t, func(t *testing.T) conversation.Machine {
		return &table{t: t, items: map[string]work.Item{}, policy: work.Default}
	})
}

// table is where the items of a conversation lie.
type table struct {
	t      *testing.T
	items  map[string]work.Item
	policy work.Policy
	now    time.Time
	say    func(format string, args ...any)
}

func (c *table) Hear(line string, say func(string)) error {
	c.say = func(format string, args ...any) { say(fmt.Sprintf(format, args...)) }
	words := strings.Fields(line)
	if at, err := time.Parse("15:04:05", words[0]); err == nil {
		c.now = time.Date(2026, 3, 1, at.Hour(), at.Minute(), at.Second(), 0, time.FixedZone("elsewhere", 3600)).Add(time.Hour)
		words = words[1:]
	}
	return c.do(words)
}

func (c *table) do(words []string) error {
	number := func(n int) int64 {
		v, err := strconv.ParseInt(words[n], 10, 64)
		if err != nil {
			c.t.Fatalf("%q: %v", words, err)
		}
		return v
	}
	switch words[0] {
	case "item": // item INDEX SHARD START END
		i := work.Item{Index: words[1], Shard: int(number(2)), Start: number(3), End: number(4), Cursor: number(3)}
		i.CreatorID = "setup"
		c.put(i)
		return nil
	case "policy": // policy INITIAL HEARTBEAT ATTEMPTS
		initial, _ := time.ParseDuration(words[1])
		heartbeat, _ := time.ParseDuration(words[2])
		c.policy = work.Policy{InitialLease: initial, Heartbeat: heartbeat, MaxAttempts: int(number(3)), ClockTolerance: time.Second}
		return c.policy.Check()
	case "lease": // lease EXPONENT: how long, and when its holder begins to hand over
		lease := c.policy.Duration(int(number(1)))
		c.say("%s, handed over after %s", lease, work.Checkpoint(lease))
		return nil
	}
	item, ok := c.items[words[2]]
	if !ok {
		c.t.Fatalf("%q: no such item", words)
	}
	return c.worker(item, words[0], words[1], words[3:])
}

func (c *table) put(i work.Item) {
	c.items[i.Name()] = i
	c.say("%s", i)
}

// worker: WORKER VERB ITEM …
func (c *table) worker(i work.Item, worker, verb string, rest []string) (err error) {
	switch verb {
	case "claims":
		i.Lease, _, err = i.Claim(c.policy, worker, c.now)
	case "beats":
		i.Lease, err = i.Beat(worker, c.now, false)
	case "advances":
		cursor, _ := strconv.ParseInt(rest[0], 10, 64)
		i, err = i.Advance(worker, c.now, cursor, work.Counts{Read: cursor - i.Start, Acknowledged: cursor - i.Start})
	case "names":
		setup, perr := time.ParseDuration(rest[0])
		if perr != nil {
			c.t.Fatal(perr)
		}
		i, _, err = i.Successor(c.policy, worker, c.now, setup)
	case "creates":
		_, successor, err := i.Successor(c.policy, worker, c.now, 0)
		if err != nil {
			return err
		}
		if there, ok := c.items[successor.Name()]; ok {
			c.say("is there: %s", there)
			return nil
		}
		c.put(successor)
		return nil
	case "completes":
		i, err = i.Complete(worker, c.now)
	case "releases":
		i.Lease, err = i.Release(worker, c.now, strings.Join(rest, " "))
	case "fails":
		i.Lease, err = i.Fail(worker, c.now, strings.Join(rest, " "))
	case "redrives":
		i.Lease, err = i.Again()
	case "reads":
		record, err := json.Marshal(i)
		c.say("%s", record)
		return err
	default:
		c.t.Fatalf("what is %q?", verb)
	}
	if err != nil {
		return err
	}
	c.put(i)
	return nil
}

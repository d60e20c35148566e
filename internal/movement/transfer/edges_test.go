package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/testing/conversation"
)

// stages are how far a reshaping of one group can have come: each goes on from the one
// that is named, by the events in their order.
var stages = []struct {
	name, from string
	events     []transfer.Happening
}{
	{name: "begun"},
	{"cloned", "begun", []transfer.Happening{transfer.WasCloned}},
	{"different", "cloned", []transfer.Happening{different}},
	{"equal", "cloned", []transfer.Happening{transfer.Verified}},
	{"handed off", "equal", []transfer.Happening{transfer.WasHanded}},
	{"open", "handed off", []transfer.Happening{transfer.Opened}},
	{"different at H", "open", []transfer.Happening{differentAtH}},
	{"equal at H", "open", []transfer.Happening{transfer.VerifiedAtH}},
	{"finishing", "equal at H", []transfer.Happening{transfer.Finish}},
	{"shed", "finishing", []transfer.Happening{transfer.WasShed}},
	{"over", "shed", []transfer.Happening{transfer.Retired}},
	{"aborting", "equal", []transfer.Happening{transfer.Abort}},
	{"aborted", "aborting", []transfer.Happening{transfer.WasDropped}},
	{"reversing", "open", []transfer.Happening{transfer.Reverse}},
	{"led back", "reversing", []transfer.Happening{transfer.WasCloned, transfer.Verified, transfer.WasHanded, transfer.Opened}},
}

// Comparisons that find something, besides those that find nothing.
const (
	different    transfer.Happening = "verified, different"
	differentAtH transfer.Happening = "verified-at-h, different"
)

var asked = append([]transfer.Happening{different, differentAtH}, transfer.Happenings...)

// next is the event as somebody would tell it who has read r and does what h says, without
// asking whether it is time.
func next(r transfer.Record, h transfer.Happening) transfer.Event {
	g := r.Groups[0]
	e := transfer.Event{Happened: h, Shard: g.Targets[len(g.Targets)-1].Shard}
	seqNo := map[transfer.Happening]int64{transfer.WasCloned: 5, transfer.Verified: 6, different: 6}
	for i := range g.Sources {
		p := transfer.Position{Shard: g.Sources[i].Shard, Term: g.Sources[i].Before.Term, SeqNo: 7}
		if n := seqNo[h]; n > 0 {
			p.SeqNo = n
		}
		e.At = append(e.At, p)
	}
	switch h {
	case transfer.Verified, different:
		e.Happened, e.Run = transfer.Verified, g.Cloned.Run+1
	case transfer.VerifiedAtH, differentAtH:
		e.Happened, e.Run = transfer.VerifiedAtH, g.AtH.Run+1
	case transfer.Retired:
		e.Shard = g.Sources[len(g.Sources)-1].Shard
	}
	if h == different || h == differentAtH {
		e.Differences = 1
	}
	return e
}

// reached are the placements of the stages of a plan with one group.
func reached(t *testing.T, p placement.Placement, plan placement.Plan) map[string]placement.Placement {
	t.Helper()
	p, err := transfer.Begin(p, plan, transfer.Asked{Movement: "m1", Name: "books", Change: change})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]placement.Placement{"": p}
	for _, s := range stages {
		p := at[s.from]
		for _, h := range s.events {
			e := next(record(t, p), h)
			if p, _, err = transfer.Advance(p, "m1", e, change); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			// What is told of one target or source is told of all.
			for n := range 8 {
				if e.Shard = uint32(n); h == transfer.Opened || h == transfer.WasShed || h == transfer.Retired {
					if now, _, err := transfer.Advance(p, "m1", e, change); err == nil {
						p = now
					}
				}
			}
		}
		at[s.name] = p
	}
	return at
}

// TestEveryEdge asks in each stage for everything that can happen, and prints what came of
// it: the edges that there are stand in the table, and no others.
func TestEveryEdge(t *testing.T) {
	one, two := placement.New(7, 1, placement.Local, change), placement.New(7, 2, placement.Local, change)
	split, err := one.SplitInto(0, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	merge, err := two.Join([]uint32{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("→ it goes on, · nothing changes, ○ refused: something comes first, × conflict: too late\n")
	for _, c := range []struct {
		name string
		from placement.Placement
		plan placement.Plan
	}{{"split", one, split}, {"merge", two, merge}} {
		at := reached(t, c.from, c.plan)
		fmt.Fprintf(&b, "\n| %s |", c.name)
		for _, h := range asked {
			fmt.Fprintf(&b, " %s |", h)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(asked)) + "\n")
		for _, s := range stages {
			fmt.Fprintf(&b, "| **%s** |", s.name)
			for _, h := range asked {
				fmt.Fprintf(&b, " %s |", answer(t, at[s.name], next(record(t, at[s.name]), h)))
			}
			b.WriteString("\n")
		}
	}
	conversation.Golden(t, "testdata/edges.md", b.String())
}

func answer(t *testing.T, p placement.Placement, e transfer.Event) string {
	t.Helper()
	after, _, err := transfer.Advance(p, "m1", e, change)
	switch {
	case fault.Is(err, fault.Refused):
		return "○"
	case fault.Is(err, fault.Conflict):
		return "×"
	case err != nil:
		t.Fatalf("%s: %v", e, err)
	case after.Version == p.Version:
		return "·"
	}
	return "→"
}

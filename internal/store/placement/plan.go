package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Most is how many shards an index may have.
const Most = 1024

// Narrowest is the least number of order keys in a planned range: a 1024th of one
// routing value.
const Narrowest = 1 << 22

// Plan says what a reshaping makes of some shards of a placement. A plan changes
// nothing: package transfer begins it.
type Plan struct {
	Index   uint32  `json:"index"`
	Version int64   `json:"version"` // of the placement that it was made for
	Before  int     `json:"before"`  // shards of the index
	After   int     `json:"after"`
	Groups  []Group `json:"groups"`            // by range
	Weighed bool    `json:"weighed"`           // documents and bytes of the parts are known
	Hottest *Load   `json:"hottest,omitempty"` // the heaviest routing hash of the groups, when weighed
	Pause   *Pause  `json:"pause,omitempty"`   // predicted of each hand-off, when something was measured
	// Notes are what people should know of it, and what is no reason not to do it: parts that hold nothing.
	Notes []string `json:"notes,omitempty"`
}

// Group is one shard and its parts, or neighbours and the one part that they become.
// The first part keeps the number of the first shard; a part with another number is a
// new shard.
type Group struct {
	From []Shard `json:"from"` // as the placement has them, by range
	To   []Part  `json:"to"`   // by range
}

// Part is the range of a shard after the reshaping.
type Part struct {
	Shard     uint32        `json:"shard"` // the number that it keeps, or will get if nothing comes between
	Range     routing.Range `json:"range"`
	Documents int64         `json:"documents"` // 0 unless the plan is weighed
	Bytes     int64         `json:"bytes"`
}

// plan makes a Plan of groups whose parts have ranges: it numbers and weighs them, and
// refuses what no index may be.
func (p Placement) plan(w Weights, groups []Group) (Plan, error) {
	plan := Plan{Index: p.Index, Version: p.Version, Before: len(p.Shards), After: len(p.Shards), Groups: groups, Weighed: w != nil}
	for i := range groups {
		plan.After += len(groups[i].To) - len(groups[i].From)
	}
	if plan.After > Most {
		return Plan{}, refuse("make fewer parts, or join shards first", "the index would have %d shards, more than %d", plan.After, Most)
	}
	next := p.Next
	for i := range groups {
		g := &groups[i]
		for j := range g.To {
			part := &g.To[j]
			part.Shard = g.From[0].Number
			if j > 0 {
				part.Shard = next
				next++
			}
			if width := uint64(part.Range.To - part.Range.From); width < Narrowest-1 {
				return Plan{}, refuse("make fewer or wider parts", "the part %s is narrower than %d keys, a 1024th of one routing value", part.Range, Narrowest)
			}
			part.Documents, part.Bytes = w.in(part.Range)
		}
		plan.hottest(w, g)
	}
	plan.noteEmpty(w)
	return plan, nil
}

// noteEmpty says which parts of a weighed plan hold nothing. They are as right as others: before a
// load is the best time to split.
func (plan *Plan) noteEmpty(w Weights) {
	parts, empty := 0, []Part{}
	for _, g := range plan.Groups {
		for _, part := range g.To {
			parts++
			if plan.Weighed && part.Documents == 0 {
				empty = append(empty, part)
			}
		}
	}
	known := "now"
	if slices.ContainsFunc(w, func(one Weight) bool { return one.Documents > 1 }) {
		known = "as far as the sample of them shows"
	}
	switch n := len(empty); {
	case n == 0:
	case n == 1 && parts == 1:
		plan.Notes = append(plan.Notes, "the part holds no documents "+known)
	case n == parts:
		plan.Notes = append(plan.Notes, fmt.Sprintf("none of the %d parts holds documents %s: they are filled by what is written", parts, known))
	case n == 1:
		plan.Notes = append(plan.Notes, fmt.Sprintf("shard %d, %s, holds no documents %s", empty[0].Shard, empty[0].Range, known))
	default:
		plan.Notes = append(plan.Notes, fmt.Sprintf("%d of the %d parts hold no documents %s, the first of them shard %d, %s", n, parts, known, empty[0].Shard, empty[0].Range))
	}
}

// hottest finds the heaviest routing hash.
func (plan *Plan) hottest(w Weights, g *Group) {
	for _, s := range g.From {
		for _, load := range w.loads(s.Range) {
			if plan.Hottest == nil || load.Bytes > plan.Hottest.Bytes {
				plan.Hottest = &load
			}
		}
	}
}

// shard is the one with number; fault.NotFound when there is none.
func (p Placement) shard(number uint32) (Shard, error) {
	if s, ok := p.Shard(number); ok {
		return s, nil
	}
	err := fault.New(fault.NotFound, "the index has no shard %d", number)
	return Shard{}, fault.WithNext(err, "name one of %s", NumbersOf(p.Shards))
}

// refuse is fault.Refused for a plan that cannot be: the reason, and what to do instead.
func refuse(next, format string, args ...any) error {
	return fault.WithNext(fault.New(fault.Refused, format, args...), "%s", next)
}

// String is the plan for people: a line for each shard that comes of it.
//
//	index 7, version 1: 1 to 3 shards
//	shard  becomes  from              to                documents  size
//	0      0        0000000000000000  55555555ffffffff  3330       333000 bytes
//	       1 new    5555555600000000  aaaaaaaaffffffff  3335       333500 bytes
//	       2 new    aaaaaaab00000000  ffffffffffffffff  3335       333500 bytes
//	the heaviest routing hash is 0x2dc50d42: 12 documents, 1200 bytes
//
// What is joined is in one cell: "0,1". What is not weighed has "-" for documents and bytes.
// Notes follow, and a line about the predicted pause, where there is one.
func (plan Plan) String() string {
	return plan.Text(func(n int64) string { return strconv.FormatInt(n, 10) + " bytes" })
}

// Text is the same with bytes in the words of who shows it.
func (plan Plan) Text(bytes func(int64) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "index %d, version %d: %d to %d shards\n", plan.Index, plan.Version, plan.Before, plan.After)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.StripEscape)
	fmt.Fprintln(t, "shard\tbecomes\tfrom\tto\tdocuments\tsize")
	for _, g := range plan.Groups {
		cell := NumbersOf(g.From)
		for i, part := range g.To {
			fmt.Fprintln(t, cell+"\t"+plan.line(part, i > 0, bytes))
			cell = ""
		}
	}
	_ = t.Flush() // a strings.Builder takes everything
	if h := plan.Hottest; h != nil {
		fmt.Fprintf(&b, "the heaviest routing hash is 0x%08x: %s, %s\n", h.Hash, documents(h.Documents), bytes(h.Bytes))
	}
	for _, note := range plan.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if plan.Pause != nil {
		fmt.Fprintf(&b, "the predicted pause of each hand-off: %s", plan.Pause)
		if plan.Pause.Needs > 0 {
			fmt.Fprintf(&b, ": --pause-budget %s would do", plan.Pause.Needs)
		}
		fmt.Fprintln(&b)
	}
	return trimmed(b.String())
}

func documents(n int64) string {
	if n == 1 {
		return "1 document"
	}
	return strconv.FormatInt(n, 10) + " documents"
}

// line is a part's cells.
func (plan Plan) line(part Part, fresh bool, told func(int64) string) string {
	number, documents, bytes := strconv.FormatUint(uint64(part.Shard), 10), "-", "-"
	if fresh {
		number += " new"
	}
	if plan.Weighed {
		documents, bytes = strconv.FormatInt(part.Documents, 10), told(part.Bytes)
	}
	return strings.Join([]string{number, part.Range.From.String(), part.Range.To.String(), documents, bytes}, "\t")
}

// trimmed is text without spaces at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

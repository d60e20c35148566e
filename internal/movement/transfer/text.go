package transfer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the record in lines, from which tests read it back.
//
//	split of index 7, 1 to 3 shards, next 3, onward
//	movement "m1"
//	name "books"
//	by "ann"
//	why "it is too big"
//	at 2026-03-01T03:00:00Z
//	group 0
//	source 0 SOURCE 0000000000000000-ffffffffffffffff epoch 1 term 1 s 0/1:57 h - keeps 0000000000000000-55555555ffffffff epoch 0 term 0
//	target 1 CLONE 5555555600000000-aaaaaaaaffffffff epoch 0 term 0
//	target 2 CLONE aaaaaaab00000000-ffffffffffffffff epoch 0 term 0
//	cloned run 1 differences 0 at 0/1:60
//
// Of one that was reversed the groups of before stand at the end, as "past".
func (r Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of index %d, %d to %d shards, next %d, %s\n", r.Kind, r.Index, r.Before, r.After, r.Next, r.Course)
	fmt.Fprintf(&b, "movement %q\nname %q\nby %q\nwhy %q\nat %s\n", r.Movement, r.Name, r.By, r.Why, r.At.Format(time.RFC3339Nano))
	for i := range r.Groups {
		r.Groups[i].print(&b, "group", i)
	}
	for i := range r.Past {
		r.Past[i].print(&b, "past", i)
	}
	return b.String()
}

func (g *Group) print(b *strings.Builder, word string, i int) {
	fmt.Fprintf(b, "%s %d", word, i)
	if g.Status != Goes {
		b.WriteString(" " + string(g.Status))
	}
	b.WriteString("\n")
	for i := range g.Sources {
		s := &g.Sources[i]
		fmt.Fprintf(b, "source %d %s %s s %s h %s", s.Shard, s.State, s.Before, s.S, s.H)
		if s.Keeps != nil {
			fmt.Fprintf(b, " keeps %s", *s.Keeps)
		}
		b.WriteString("\n")
	}
	for i := range g.Targets {
		t := &g.Targets[i]
		fmt.Fprintf(b, "target %d %s %s\n", t.Shard, t.State, t.Shape)
	}
	for _, l := range g.Left {
		fmt.Fprintf(b, "left %d %s\n", l.Shard, l.State)
	}
	g.Cloned.print(b, "cloned")
	g.AtH.print(b, "at-h")
}

func (v Verdict) print(b *strings.Builder, word string) {
	if v.Run > 0 {
		fmt.Fprintf(b, "%s run %d differences %d at %s\n", word, v.Run, v.Differences, positionsText(v.At))
	}
}

// String is the range, the epoch and the term.
func (s Shape) String() string { return fmt.Sprintf("%s epoch %d term %d", s.Range, s.Epoch, s.Term) }

// String is the deed, its group, and its shard where it is about one.
func (e Effect) String() string {
	if e.Do == OpenTarget || e.Do == Shed || e.Do == Retire {
		return fmt.Sprintf("%s %d shard %d", e.Do, e.Group, e.Shard)
	}
	return fmt.Sprintf("%s %d", e.Do, e.Group)
}

func positionsText(at []Position) string {
	texts := make([]string, len(at))
	for i, p := range at {
		texts[i] = p.String()
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ",")
}

// String is "shard/term:sequence number"; "-" for none.
func (p Position) String() string {
	if p == (Position{}) {
		return "-"
	}
	return strconv.FormatUint(uint64(p.Shard), 10) + "/" + strconv.FormatInt(p.Term, 10) + ":" + strconv.FormatInt(p.SeqNo, 10)
}

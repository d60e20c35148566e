package transfer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// ParseRecord reads what [Record.String] prints; fault.Usage for anything else, and for a
// record that cannot be.
func ParseRecord(text string) (Record, error) {
	var r Record
	var g *Group
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		w := &words{left: strings.Fields(rest)}
		switch word {
		case string(Split), string(Merge), string(SplitBack), string(MergeBack):
			r.Kind = Kind(word)
			r.head(w)
		case "movement":
			r.Movement = unquoted(rest)
		case "name":
			r.Name = unquoted(rest)
		case "by":
			r.By = unquoted(rest)
		case "why":
			r.Why = unquoted(rest)
		case "at":
			r.At, _ = time.Parse(time.RFC3339Nano, rest)
		case "group":
			w.word()
			r.Groups = append(r.Groups, Group{Status: GroupStatus(w.word())})
			g = &r.Groups[len(r.Groups)-1]
		case "past":
			w.word()
			r.Past = append(r.Past, Group{Status: GroupStatus(w.word())})
			g = &r.Past[len(r.Past)-1]
		default:
			if g != nil {
				g.read(word, w)
			}
		}
	}
	// It is read loosely; what is not printed the same was not understood.
	if r.String() != text {
		return Record{}, fault.New(fault.Usage, "this is no text of a transfer")
	}
	return r, fault.Wrap(fault.Usage, r.Check())
}

// head is the rest of the first line.
func (r *Record) head(w *words) {
	w.word()
	w.word()
	r.Index = uint32(w.number())
	r.Before = int(w.number())
	w.word()
	r.After = int(w.number())
	w.word()
	w.word()
	r.Next = uint32(w.number())
	r.Course = Course(w.word())
}

// read is a line of a group.
func (g *Group) read(word string, w *words) {
	switch word {
	case "source":
		s := SourceLine{Shard: uint32(w.number()), State: SourceState(w.word()), Before: w.shape()}
		s.S, s.H = w.after("s").position(), w.after("h").position()
		if w.word() == "keeps" {
			keeps := w.shape()
			s.Keeps = &keeps
		}
		g.Sources = append(g.Sources, s)
	case "target":
		g.Targets = append(g.Targets, TargetLine{Shard: uint32(w.number()), State: TargetState(w.word()), Shape: w.shape()})
	case "left":
		g.Left = append(g.Left, LeftLine{Shard: uint32(w.number()), State: SourceState(w.word())})
	case "cloned":
		g.Cloned = w.verdict()
	case "at-h":
		g.AtH = w.verdict()
	}
}

// ParseEvent reads what [Event.String] prints; fault.Usage for anything else.
func ParseEvent(line string) (Event, error) {
	w := &words{left: strings.Fields(line)}
	e := Event{Happened: Happening(w.word())}
	if e.Happened.ofGroup() {
		e.Group = int(w.number())
	}
	for len(w.left) > 0 {
		switch w.word() {
		case "shard":
			e.Shard = uint32(w.number())
		case "version":
			e.Version = w.number()
		case "run":
			e.Run = int(w.number())
		case "differences":
			e.Differences = w.number()
		case "at":
			e.At = w.positions()
		}
	}
	for _, h := range Happenings {
		if h == e.Happened && e.String() == line {
			return e, nil
		}
	}
	return Event{}, fault.WithNext(fault.New(fault.Usage, "%q is nothing that happens to a transfer", line), "write it as it is printed")
}

// words are what is left of a line. What is not there is read as nothing.
type words struct{ left []string }

func (w *words) word() string {
	if len(w.left) == 0 {
		return ""
	}
	word := w.left[0]
	w.left = w.left[1:]
	return strings.TrimSuffix(word, ",")
}

// after passes over a word.
func (w *words) after(string) *words {
	w.word()
	return w
}

func (w *words) number() int64 {
	n, _ := strconv.ParseInt(w.word(), 10, 64)
	return n
}

func (w *words) shape() (s Shape) {
	from, to, _ := strings.Cut(w.word(), "-")
	s.Range.From, _ = routing.ParseKey(from)
	s.Range.To, _ = routing.ParseKey(to)
	s.Epoch, s.Term = w.after("epoch").number(), w.after("term").number()
	return s
}

func (w *words) position() (p Position) {
	if _, err := fmt.Sscanf(w.word(), "%d/%d:%d", &p.Shard, &p.Term, &p.SeqNo); err != nil {
		return Position{}
	}
	return p
}

func (w *words) positions() (at []Position) {
	text := w.word()
	if text == "-" || text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, ",") {
		at = append(at, (&words{left: []string{one}}).position())
	}
	return at
}

func (w *words) verdict() (v Verdict) {
	v.Run, v.Differences = int(w.after("run").number()), w.after("differences").number()
	v.At = w.after("at").positions()
	return v
}

func unquoted(text string) string {
	s, _ := strconv.Unquote(text)
	return s
}

// String is the event in one line that [ParseEvent] reads.
//
//	cloned 0 at 0/1:57
//	verified 0 run 1 differences 0 at 0/1:60
//	handed-off 0 version 4 at 0/1:64
//	opened 0 shard 2 at 0/1:64
//	finish
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(string(e.Happened))
	if e.Happened.ofGroup() {
		fmt.Fprintf(&b, " %d", e.Group)
	}
	if e.Happened.ofShard() {
		fmt.Fprintf(&b, " shard %d", e.Shard)
	}
	switch e.Happened {
	case WasHanded:
		fmt.Fprintf(&b, " version %d", e.Version)
	case Verified, VerifiedAtH:
		fmt.Fprintf(&b, " run %d differences %d", e.Run, e.Differences)
	}
	if e.Happened.placed() {
		b.WriteString(" at " + positionsText(e.At))
	}
	return b.String()
}

// EffectsText is effects in one line; "-" when there are none.
func EffectsText(effects []Effect) string {
	texts := make([]string, len(effects))
	for i, e := range effects {
		texts[i] = e.String()
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ", ")
}

// ofShard tells whether they concern one target or source of a group.
func (h Happening) ofShard() bool { return h == Opened || h == WasShed || h == Retired }

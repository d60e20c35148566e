package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
)

// screen is a movement, which place records, on a terminal of so many columns and rows: what it is doing, a bar for
// each index of as many as there is room for, those at work first, the totals, and what
// hinders it.
func screen(m *control.Movement, place string, width, height int) []string {
	lines := []string{stateLine(m, place)}
	var below []string
	if m.Progress != nil {
		below = totals(m.Progress)
		below = below[:min(len(below), max(height-2, 1))]
		if m.Kind != movement.Comparison { // of which nothing is copied
			lines = append(lines, indexLines(m.Progress, width, height-1-len(below))...)
		}
	}
	lines = append(append(lines, below...), reshapingLines(m)...)
	for i := range lines {
		lines[i] = fit(oneLine(lines[i]), width)
	}
	return lines[:min(len(lines), max(height, 1))]
}

// totals are how far all of it is, under which limits, and what hinders it.
func totals(p *control.Copying) []string {
	lines := []string{totalsLine(p)}
	if p.Limits != (control.Throttle{}) {
		lines = append(lines, "limits: "+p.Limits.String())
	}
	return append(lines, hindrances(p)...)
}

// hindrances are why it does not get on, with what to do.
func hindrances(p *control.Copying) (lines []string) {
	for _, h := range p.Hindrances {
		lines = append(lines, "! "+h.Cause, "  → "+h.Next)
	}
	return lines
}

// indexLines are the bars of the indices, at most so many lines; the last one counts those
// for which there is no room.
func indexLines(p *control.Copying, width, room int) (lines []string) {
	all := p.Active()
	shown := len(all)
	if shown > room {
		shown = max(room-1, 0)
	}
	names := 0
	for i := range all[:shown] {
		names = max(names, utf8.RuneCountInString(all[i].Target))
	}
	names = min(names, max(width/3, 8))
	for i := range all[:shown] {
		lines = append(lines, indexLine(&all[i], names))
	}
	if rest := all[shown:]; len(rest) > 0 && room > 0 {
		var s control.Pieces
		for i := range rest {
			s = sum(s, rest[i].Items)
		}
		lines = append(lines, fmt.Sprintf("… and %s more: %d items at work, %d waiting, %d done, %d failed",
			counted(int64(len(rest)), "index"), s.Leased, s.Waiting, s.Done, s.Failed))
	}
	return lines
}

func sum(a, b control.Pieces) control.Pieces {
	return control.Pieces{Waiting: a.Waiting + b.Waiting, Leased: a.Leased + b.Leased, Done: a.Done + b.Done, Failed: a.Failed + b.Failed}
}

const barWidth = 20

// indexLine is the bar of one index.
func indexLine(i *control.CopiedOf, names int) string {
	done := 0.0
	switch {
	case i.Items.Done > 0 && i.Items.Waiting+i.Items.Leased+i.Items.Failed == 0:
		done = 1
	case i.Documents > 0:
		done = min(float64(i.Copied.Read)/float64(i.Documents), 1)
	}
	full := int(done * barWidth)
	what := "waits"
	switch {
	case i.Cause != "" && i.State != "":
		what = "failed: " + i.Cause
	case i.Items.Failed > 0:
		what = counted(int64(i.Items.Failed), "item") + " failed"
	case i.Items.Leased > 0:
		what = counted(int64(i.Items.Leased), "worker")
	case done == 1:
		what = "copied"
	}
	if i.Copied.Failed > 0 {
		what += ", " + counted(i.Copied.Failed, "document") + " failed"
	}
	name := fit(i.Target, names)
	name += strings.Repeat(" ", max(names-utf8.RuneCountInString(name), 0))
	return fmt.Sprintf("%s %s%s %3.0f %%  %s of %s  %s", name, strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		100*done, count(i.Copied.Read), count(i.Documents), what)
}

// totalsLine is how far all of a migration is. What people look for first stands first: a narrow
// terminal cuts the rest.
func totalsLine(p *control.Copying) string {
	var words []string
	if t := p.Taken; t != nil && p.Phase == "snapshot" {
		return fmt.Sprintf("%s %s: %d of %s, %s of %s", t.Snapshot, orDash(t.Is), t.ShardsDone, counted(int64(t.Shards), "shard"), bytesText(t.BytesDone), bytesText(t.Bytes))
	}
	if p.Copies() {
		words = append(words, fmt.Sprintf("%.0f %%", 100*p.Fraction))
		if left, known := p.Pace.Left(); known {
			words = append(words, spanText(left)+" left")
		}
		if p.Rate.Documents > 0 {
			words = append(words, fmt.Sprintf("%s/s, %.1f MB/s", counted(int64(p.Rate.Documents), "document"), p.Rate.Bytes/1e6))
		}
	}
	if p.Read > 0 || p.Phase != movement.VerifyPhase {
		words = append(words, counted(p.Read, "document"), bytesText(p.Bytes))
	}
	if p.Phase == movement.VerifyPhase || strings.HasPrefix(p.Phase, movement.VerifyPhase+"/") {
		words = append(words, fmt.Sprintf("%d of %s compared", len(p.Verified), counted(int64(len(p.Indices)), "index")))
		if p.Compared > 0 {
			words = append(words, counted(p.Compared, "document")+" of both sides read")
		}
	}
	if p.Workers > 0 {
		words = append(words, counted(int64(p.Workers), "worker"))
	}
	if p.Retries > 0 {
		words = append(words, strings.Replace(counted(p.Retries, "retry"), "retrys", "retries", 1))
	}
	if p.Failed > 0 {
		words = append(words, counted(p.Failed, "document")+" failed")
	}
	return strings.Join(words, ", ")
}

// stateLine is what a movement, which place records, is doing, and when somebody has stopped it, who and why.
func stateLine(m *control.Movement, place string) string {
	line := fmt.Sprintf("movement %s: %s", m.ID, m.State)
	phase := ""
	switch current := m.Current(); {
	case m.Progress != nil:
		phase = m.Progress.Phase
	case m.Reshaping != nil && current != nil:
		phase = current.Key()
	}
	switch m.State {
	case movement.Running:
		if phase != "" {
			line += ", " + phase
		}
	case movement.Held, movement.Failed:
		line += ": " + m.Cause
	default:
		line += orderedBy(m)
	}
	if m.State == movement.Paused {
		line += "; it goes on with " + commandFor(string(movement.Resume), m, place)
	}
	if m.Idle != "" {
		line += "; nobody is seen to work at it: " + m.Idle + " → " + m.WorkerCommand(place)
	}
	return line
}

// orderedBy tells who has brought a movement where it is, and why; "" when it came there by
// itself.
func orderedBy(m *control.Movement) string {
	verb, ok := map[movement.State]movement.Verb{
		movement.Paused: movement.Pause, movement.Aborting: movement.Abort, movement.Aborted: movement.Abort,
		movement.Reversing: movement.Reverse, movement.Reversed: movement.Reverse,
	}[m.State]
	if !ok {
		return ""
	}
	for _, applied := range slices.Backward(m.Journal) {
		e, err := movement.ParseEvent(applied.Event)
		if err != nil || e.Verb != verb {
			continue
		}
		text := ""
		if applied.By != "" {
			text = " by " + applied.By
		}
		if e.Why != "" {
			text += ": " + e.Why
		}
		return text
	}
	return ""
}

// fit cuts a text to so many characters.
func fit(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(width-1, 0)]) + "…"
}

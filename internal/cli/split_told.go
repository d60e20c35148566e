package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
)

// printReshaping tells how far a split or a merge is: its groups, its pauses, what was compared
// and what is owed.
func printReshaping(w io.Writer, m *control.Movement) {
	r := m.Reshaping
	if r == nil {
		return
	}
	if r.Deleted {
		fmt.Fprintln(w, oneLine("index "+r.Index+" was deleted: nothing is left to be done or undone"))
	} else if m.State == movement.Reversed || m.State == movement.Aborted {
		fmt.Fprintln(w, "the shards own again what they owned before")
	} else if groups := m.Groups(); len(groups) > 0 {
		t := newTable("SHARDS", "STATE", "HANDED OFF AFTER")
		for _, g := range groups {
			t.row(g.Shards, g.State, orDash(g.H))
		}
		t.print(w)
	}
	for _, line := range reshapingLines(m) {
		fmt.Fprintln(w, oneLine(line))
	}
}

// reshapingLines are the words of a split or a merge.
func reshapingLines(m *control.Movement) (lines []string) {
	r := m.Reshaping
	if r == nil {
		return nil
	}
	way := r.Way
	if r.Deleted || m.State == movement.Reversed { // what was shared then is no more
		way.Shared = nil
	}
	if r.Waiting != "" {
		lines = append(lines, "it waits, and goes on by itself: "+r.Waiting)
	}
	for _, note := range r.Notes {
		lines = append(lines, "note: in the plan "+note)
	}
	lines = append(lines, wayLines(&way, r.Budget, comparedAtHandOff(m))...)
	if r.Back != nil {
		for _, line := range wayLines(r.Back, r.Budget, len(r.Back.Pauses) > 0 && m.State == movement.Reversed) {
			lines = append(lines, "the way back: "+line)
		}
	}
	if len(r.Owed) > 0 && !m.State.Ended() {
		lines = append(lines, "still to be done: "+strings.Join(r.Owed, ", "))
	}
	if limits := m.Limits(); limits.BytesPerSecond > 0 && !m.State.Ended() {
		lines = append(lines, "limit of what is written again: "+limits.String())
	}
	return lines
}

// wayLines are the words of the hand-offs of one way. Compared says that the comparison at the
// hand-off has been made.
func wayLines(way *control.ReshapedWay, budget time.Duration, compared bool) (lines []string) {
	if len(way.Predicted) > 0 {
		lines = append(lines, predictedLine(way.Predicted))
	}
	if len(way.Pauses) > 0 {
		lines = append(lines, pauseLine(way, budget))
	}
	if way.Cloned.Documents > 0 {
		lines = append(lines, fmt.Sprintf("%s compared before the hand-off: %s", counted(way.Cloned.Documents, "document"), counted(way.Cloned.Differences(), "difference")))
	}
	if way.Compared.Documents > 0 || compared {
		when := "at the hand-off"
		if way.Compared.Later {
			when = "after the hand-off"
		}
		lines = append(lines, fmt.Sprintf("%s compared %s: %s", counted(way.Compared.Documents, "document"), when, counted(way.Compared.Differences(), "difference")))
	}
	if line := sharedLine(way); line != "" {
		lines = append(lines, line)
	}
	for i, example := range append(slices.Clip(way.Cloned.Examples), way.Compared.Examples...) {
		if i == toldExamples {
			lines = append(lines, "differs: … --output json tells more")
			break
		}
		lines = append(lines, "differs: "+example)
	}
	return lines
}

// comparedAtHandOff tells whether the comparison at the hand-off has been made.
func comparedAtHandOff(m *control.Movement) bool {
	for i := range m.Phases {
		if p := &m.Phases[i]; p.Name == movement.VerifyPhase && !p.Ended.IsZero() {
			return true
		}
	}
	return false
}

// sharedLine is how much the shards share of their segments, and how that is shed: at the rate of
// the one that is at work, or of all of them when none is, and of the one that rests longest. ""
// when there is nothing to say.
func sharedLine(way *control.ReshapedWay) string {
	var left, written, timed, rate int64
	var rests, seconds float64
	var before, now time.Duration
	for _, s := range way.Shared {
		left, written = left+s.Bytes, written+s.Written
		if s.Written > 0 {
			rests, before, now = max(rests, s.Rests), s.Searches.Before, max(now, s.Searches.Now)
		}
		if s.Written > 0 && s.PerSecond > 0 { // else it has just begun, and nobody knows its rate
			timed += s.Written
			seconds += float64(s.Written) / float64(s.PerSecond)
		}
		if s.Written > 0 && s.Bytes > 0 {
			rate = s.PerSecond
		}
	}
	if rate == 0 && seconds > 0 {
		rate = int64(float64(timed) / seconds)
	}
	if left+written == 0 {
		return ""
	}
	text := "shared: " + bytesText(left) + " of segments of which another shard shows the rest"
	if written > 0 {
		text += fmt.Sprintf("; %s written again", bytesText(written))
	}
	if rate > 0 {
		text += fmt.Sprintf(", at %s/s", bytesText(rate))
	}
	if rests > 0 {
		text += fmt.Sprintf(", resting %gx as long as it works", rests)
	}
	if before > 0 && now > 0 {
		text += fmt.Sprintf("; searches p95 %s, before %s", roundedSpan(now), roundedSpan(before))
	}
	return text
}

// predictedLine is what the pauses were predicted to be: the longest of each measure.
func predictedLine(all []control.PredictedPause) string {
	worst := all[0]
	for _, p := range all {
		worst.Fence, worst.P50, worst.P99 = max(worst.Fence, p.Fence), max(worst.P50, p.P50), max(worst.P99, p.P99)
		worst.Max, worst.Needs = max(worst.Max, p.Max), max(worst.Needs, p.Needs)
	}
	return "predicted pause: " + worst.String()
}

// pauseLine is how long requests waited behind the hand-offs: the longest of each measure.
func pauseLine(way *control.ReshapedWay, budget time.Duration) string {
	var waited int64
	var fence, p50, p99, longest time.Duration
	for _, p := range way.Pauses {
		waited += p.Waited
		fence, p50, p99, longest = max(fence, p.Fence), max(p50, p.P50), max(p99, p.P99), max(longest, p.Max)
	}
	text := fmt.Sprintf("pause: %s of at most %s, %s waited", roundedSpan(fence), budget, counted(waited, "request"))
	if waited > 0 {
		text += fmt.Sprintf(", p50 %s, p99 %s, max %s", roundedSpan(p50), roundedSpan(p99), roundedSpan(longest))
	}
	if len(way.Pauses) > 1 {
		text += fmt.Sprintf("; the longest of %d hand-offs", len(way.Pauses))
	}
	return text
}

func roundedSpan(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

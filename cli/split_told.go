package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/movement"
)

// printReshaping tells how far a split or a merge is: its groups, its pauses, what was compared
// and what is owed.
func printReshaping(w io.Writer, m *control.Movement) {
	r := m.Reshaping
	if r == nil {
		return
	}
	if m.State == movement.Reversed || m.State == movement.Aborted {
		fmt.Fprintln(w, "the shards own again what they owned before")
	} else if groups := m.Groups(); len(groups) > 0 {
		t := newTable("SHARDS", "STATE", "HANDED OFF AT")
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
	if len(r.Pauses) > 0 {
		lines = append(lines, pauseLine(r))
	}
	if r.Cloned.Documents > 0 {
		lines = append(lines, fmt.Sprintf("%s compared before the hand-off: %s", counted(r.Cloned.Documents, "document"), counted(r.Cloned.Differences(), "difference")))
	}
	if r.Compared.Documents > 0 || handedOff(m) {
		lines = append(lines, fmt.Sprintf("%s compared at the hand-off: %s", counted(r.Compared.Documents, "document"), counted(r.Compared.Differences(), "difference")))
	}
	for i, example := range append(r.Cloned.Examples, r.Compared.Examples...) {
		if i == toldExamples {
			lines = append(lines, "differs: … --output json tells more")
			break
		}
		lines = append(lines, "differs: "+example)
	}
	if len(r.Owed) > 0 && !m.State.Ended() {
		lines = append(lines, "still to be done: "+strings.Join(r.Owed, ", "))
	}
	return lines
}

// handedOff tells whether the comparison at the hand-off has been made.
func handedOff(m *control.Movement) bool {
	for i := range m.Phases {
		if p := &m.Phases[i]; p.Name == movement.VerifyPhase && !p.Ended.IsZero() {
			return true
		}
	}
	return false
}

// pauseLine is how long requests waited behind the hand-offs: the longest of each measure.
func pauseLine(r *control.Reshaping) string {
	var waited int64
	var fence, p50, p99, longest time.Duration
	for _, p := range r.Pauses {
		waited += p.Waited
		fence, p50, p99, longest = max(fence, p.Fence), max(p50, p.P50), max(p99, p.P99), max(longest, p.Max)
	}
	text := fmt.Sprintf("pause: %s of at most %s, %s waited", roundedSpan(fence), r.Budget, counted(waited, "request"))
	if waited > 0 {
		text += fmt.Sprintf(", p50 %s, p99 %s, max %s", roundedSpan(p50), roundedSpan(p99), roundedSpan(longest))
	}
	if len(r.Pauses) > 1 {
		text += fmt.Sprintf("; the longest of %d hand-offs", len(r.Pauses))
	}
	return text
}

func roundedSpan(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

package transfer

import (
	"fmt"
	"strings"
)

// TableText is the table for people, as Markdown.
func TableText() string {
	var b strings.Builder
	b.WriteString("Who answers for a key that is in the range of a target, by the target's state. A source in DONE holds nothing\nthat is a target's: it filters no more. What was reversed before it was open waits for the hand-off back.\n\n")
	b.WriteString("| target | operation | answers | source shows | target shows | with the epoch of before |\n|---|---|---|---|---|---|\n")
	for _, a := range Answers() {
		by := string(a.By)
		if a.Waits {
			by += ", once it is open"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", a.State, a.Operation, by, shows(a.Source), shows(a.Target), a.OldEpoch)
	}
	return b.String()
}

func shows(f Filter) string {
	switch f {
	case NoFilter:
		return "all it holds"
	case OwnRange:
		return "its own range"
	}
	return string(f)
}

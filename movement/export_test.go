package movement

import (
	"slices"
	"strings"
)

// Offers are the verbs that would be carried out now.
func (r *Record) Offers() []Verb {
	return slices.DeleteFunc(slices.Clone(Verbs), func(v Verb) bool { return r.Ask(v).Answer != Goes })
}

// EffectsText is effects in one line; "-" when there are none.
func EffectsText(effects []Effect) string {
	if len(effects) == 0 {
		return "-"
	}
	words := make([]string, len(effects))
	for i, e := range effects {
		words[i] = string(e)
	}
	return strings.Join(words, " ")
}

// TableText is the table for people, as Markdown: which verb a state allows, and below,
// state by state, what it says where it does not.
func TableText() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, v := range Verbs {
		b.WriteString(" " + string(v) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Verbs)) + "\n")
	for _, s := range States {
		b.WriteString("| **" + string(s) + "** |")
		for _, v := range Verbs {
			b.WriteString(" " + cellText(s, v) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA state is where the verb leads; · is nothing to do; a circle is a refusal, and behind a condition.\n")
	for _, s := range States {
		b.WriteString("\n**" + string(s) + "**\n\n")
		refusals(&b, s)
	}
	return b.String()
}

// cellText is the shortest that a cell can say: where the verb leads, if something else
// does not forbid it.
func cellText(s State, v Verb) string {
	text, conditions := "○", 0
	for _, u := range table {
		if u.State != s || u.Verb != v {
			continue
		}
		conditions++
		switch {
		case u.Answer == Goes:
			text = string(u.To)
		case u.Answer == Nothing && text == "○":
			text = "·"
		}
	}
	if conditions > 1 && text != "○" {
		text += " ○"
	}
	return text
}

// refusals lists what s says no to, verbs with one reason together.
func refusals(b *strings.Builder, s State) {
	verbs := map[string][]string{}
	var lines []string
	for _, u := range table {
		if u.State != s || u.Answer != Refuses {
			continue
		}
		line := u.Reason + " → " + u.Next
		if u.When != Always {
			line = "when " + string(u.When) + ": " + line
		}
		if verbs[line] == nil {
			lines = append(lines, line)
		}
		verbs[line] = append(verbs[line], string(u.Verb))
	}
	for _, line := range lines {
		b.WriteString("- " + strings.Join(verbs[line], ", ") + ": " + line + "\n")
	}
}

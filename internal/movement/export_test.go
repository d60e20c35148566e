package movement

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
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

// ParseRecord reads how a movement begins, for conversations: its kind and its phases with
// their marks, then hold-before-switch and keep-way-back where they are wanted.
//
//	migrate metadata documents verify flip! cleanup~ keep-way-back
func ParseRecord(line string) (Record, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Record{}, fault.New(fault.Usage, "a movement has a kind and phases")
	}
	r := Record{ID: "m", Kind: Kind(words[0]), State: Planned}
	for _, word := range words[1:] {
		switch word {
		case "hold-before-switch":
			r.HoldBeforeSwitch = true
		case "keep-way-back":
			r.KeepWayBack = true
		default:
			name := strings.TrimRight(word, "!~")
			marks := word[len(name):]
			r.Phases = append(r.Phases, Phase{Name: name, Flips: strings.Contains(marks, "!"), Retires: strings.Contains(marks, "~")})
		}
	}
	return r, r.Check()
}

// Table is what every state answers to every verb, state by state, in the order of
// [States] and [Verbs].
func Table() []Rule { return slices.Clone(table) }

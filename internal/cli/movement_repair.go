package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// equalising are the flags of a repair that makes both sides equal.
type equalising struct{ overwrite, extra, yes bool }

func (e *equalising) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&e.overwrite, "overwrite", false, "replace what others had written on the target when it was compared, also where it is newer, and bring back what they have deleted")
	flags.BoolVar(&e.extra, "delete-extra", false, "delete what the target had when it was compared and the snapshot does not hold")
	flags.BoolVar(&e.yes, "yes", false, "do what --overwrite and --delete-extra say that they will do")
	cmd.Example += "\n  reshelve movement repair 20261121-221500-abcdef --at ./data --overwrite --delete-extra --yes"
}

// agreed says what a repair will do that replaces or deletes what others have written, by the last comparison, and refuses it
// until somebody has agreed.
func (p *program) agreed(ctx context.Context, at, id string, e *equalising) error {
	if !e.overwrite && !e.extra {
		return nil
	}
	m, err := p.control.Movement(ctx, at, id)
	if err != nil {
		return err
	}
	for _, line := range e.deeds(m) {
		p.note("%s", line)
	}
	if e.yes {
		return nil
	}
	words := []string{"movement", "repair", id, "--at", at}
	if e.overwrite {
		words = append(words, "--overwrite")
	}
	if e.extra {
		words = append(words, "--delete-extra")
	}
	err = fault.New(fault.Refused, "what others have written on the target is lost by that")
	return fault.WithNext(err, "%s", control.Command(append(words, "--yes")...))
}

// deeds are what a repair will do, index by index, as far as the last comparison tells.
func (e *equalising) deeds(m *control.Movement) (lines []string) {
	if m.Progress == nil {
		return nil
	}
	for _, v := range m.Progress.Verified {
		found := v.Result.Counts
		extra := found["ghost"] + found["zombie"]
		replaced := found["stale"] + found["different"]
		var will, leaves []string
		say := func(to *[]string, what string, n int64) {
			if n > 0 {
				*to = append(*to, what+" "+counted(n, "document"))
			}
		}
		say(&will, "create", found["missing"])
		say(&will, "replace", replaced)
		if e.overwrite {
			say(&will, "replace newer", found["newer"])
		} else {
			say(&leaves, "newer", found["newer"])
		}
		if e.extra {
			say(&will, "delete", extra)
		} else {
			say(&leaves, "of others", extra)
		}
		line := fmt.Sprintf("%s: will ", v.Target)
		if len(will) == 0 {
			will = []string{"change nothing"}
		}
		line += strings.Join(will, ", ")
		if len(leaves) > 0 {
			line += "; leaves " + strings.Join(leaves, ", ")
		}
		if v.Result.Rest != nil {
			line += "; and of what was not compared one by one: " + v.Result.Rest.String()
		}
		if v.Absent {
			line = v.Target + ": is not there, and is not made: migrate it"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{"nothing was compared yet: what it will do is found out as it goes"}
	}
	return lines
}

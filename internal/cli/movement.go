package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/spf13/cobra"
)

// movement is the group of verbs on movements.
func (p *program) movement() *cobra.Command {
	group := &cobra.Command{
		Use:   "movement",
		Short: "List, watch and steer movements",
		Long: `List, watch and steer movements: migrations, and all that changes the shape of an index.

--at names the place that records them: the URL or the data folder of the target.`,
		Example: "  reshelve movement ls --at ./data\n  reshelve movement status 20261121-221500-abcdef --at http://127.0.0.1:9200",
		Args:    cobra.NoArgs,
		RunE:    p.group,
	}
	var at string
	group.PersistentFlags().StringVar(&at, "at", control.DefaultAt, "the place that records them: `URL|DIR|local:DIR|postgres://…`")
	group.AddCommand(p.movementLs(&at), p.movementStatus(&at), p.movementWatch(&at), p.movementThrottle(&at), p.movementFailures(&at), p.movementSetAside(&at))
	for _, order := range orders {
		group.AddCommand(p.movementTell(&at, order.verb, order.short, order.long))
	}
	return group
}

// orders are the verbs that need no more than a movement.
var orders = []struct {
	verb        movement.Verb
	short, long string
}{
	{movement.Pause, "Stop working on a movement: leases are given back",
		`Stop working on a movement. Workers store how far they are and give their leases back,
within a heartbeat; "reshelve movement resume" goes on there.`},
	{movement.Resume, "Go on with a movement that is paused, held or failed, where it stopped",
		`Go on with a movement that is paused, held or failed, in the phase in which it stopped: one
that gave up is begun anew, and one that found differences compares again. Indices, items and
documents that have failed stay failed: "reshelve movement redrive" tries those again.`},
	{movement.Verify, "Compare both sides again",
		`Compare both sides again: every document of the snapshot with what the target holds now; of
a split or a merge, what was handed off with what the new shards show of it now. Nothing is sent.
Of a migration that has finished it begins a comparison of its own, as "reshelve verify" does, whose ID it prints.`},
	{movement.Repair, "Send what is missing or stale, and compare again",
		`Send what the comparison found missing or stale, once more as the snapshot holds it, and
compare again. What the target refused it refuses again: mend the cause before, which
"reshelve movement failures" lists.

What others have written on the target, or deleted there, stays as it is. With --overwrite
it is replaced, also where it is newer, and with --delete-extra what the snapshot does not
hold is deleted: with both of them the two sides become equal. They say what they will do,
and do it with --yes. It cannot be undone. What was written after the last comparison, and an
index that was made again since, is neither replaced nor deleted: it is named, the comparison
that follows lists it, and another repair goes by that.`},
	{movement.Redrive, "Try again what failed, indices, items and documents, and compare again",
		`Try again what failed: indices that could not be made, items that were given up, with all
their attempts, and documents that the target refused one by one. Then both sides are compared
again. Mend the causes before: "reshelve movement failures" lists them.`},
	{movement.Finish, "Close the way back: keep what was made, remove the records, keep the report",
		`Close the way back: what was made stays, the records of the work are removed, and the report
stays. A movement that is held for differences accepts them by it. It cannot be undone.`},
	{movement.Reverse, "Reverse a split or a merge: give back what it has handed off, with everything written since",
		`Give back what a split or a merge has handed off: the shards own again what they owned before,
with everything that was written and deleted since. It takes the same steps, with the same pause,
and the result is compared as well. It is possible until "reshelve movement finish", which comes by itself
unless the movement was started with --keep-way-back. One that is at work is stopped first.`},
	{movement.Abort, "Undo everything that the movement has made",
		`Undo everything that the movement has made on the target: indices, data streams, templates and
aliases, and the snapshot if it took one. What was there before stays; what was overwritten in it
is not brought back, and the report tells how much that is. A split or a merge is aborted before it
has handed something off: its shards stay as they were. From then on "reshelve movement reverse" leads back.

Abort waits until every lease has ended, and the deadlines of what was sent under it. A foreign
cluster knows of no leases: a worker that was suspended for longer than that, as a machine that
sleeps, may send a last batch when it wakes, by which the target may make the index again. Where
workers were not seen to end, look at the target once they have.`},
}

func (p *program) movementLs(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List movements",
		Example: "  reshelve movement ls --at ./data",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = p.verb(func(ctx context.Context, _ []string) error {
		all, err := p.control.Movements(ctx, *at)
		if err != nil {
			return err
		}
		return p.answer(all, func(w io.Writer) {
			if len(all) == 0 {
				fmt.Fprintln(w, "no movements are recorded there")
				return
			}
			t := newTable("ID", "KIND", "STATE", "PHASE", "INTO", "CAUSE")
			for i := range all {
				m := &all[i]
				phase := "-"
				if current := m.Current(); current != nil {
					phase = current.Key()
				}
				t.row(m.ID, string(m.Kind), string(m.State), phase, orDash(cut(into(m), 40)), orDash(cut(m.Cause, 60)))
			}
			t.print(w)
			for i := range all {
				switch m := &all[i]; {
				case m.State.Unreadable():
					fmt.Fprintf(w, "  → %s\n", remedy(&control.Movement{Record: *m}, *at))
				case m.Next != "" && len(m.Owed()) > 0: // nobody works at it
					fmt.Fprintf(w, "  → %s\n", oneLine(m.Next))
				}
			}
		})
	})
	return cmd
}

// movementSetAside is the verb for a record that no other verb can read.
func (p *program) movementSetAside(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set-aside ID",
		Short: "Move the damaged record of a movement out of the way",
		Long: `Move the record of a movement that "reshelve movement ls" shows as damaged out of the way: it is kept
under "set-aside/ID" in the coordination store. The workers of the movement stop. Nothing is undone: the
command lists what the movement made, according to its ledger, for you to keep or to delete.`,
		Example: "  reshelve movement set-aside 20261121-221500-abcdef --at ./data",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		s, err := p.control.SetAside(ctx, *at, args[0])
		if err != nil {
			return err
		}
		return p.answer(s, func(w io.Writer) {
			fmt.Fprintf(w, "the record of movement %s is set aside: %s\n", oneLine(s.ID), oneLine(s.Key))
			for _, thing := range s.Made {
				fmt.Fprintf(w, "not undone (made, or about to be made): %s %s\n", oneLine(thing.Kind), oneLine(thing.Name))
			}
		})
	})
	return cmd
}

func (p *program) movementStatus(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status ID",
		Short:   "Tell how far a movement is",
		Example: "  reshelve movement status 20261121-221500-abcdef --at ./data --output json",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m, err := p.control.Movement(ctx, *at, args[0])
		if err != nil {
			return err
		}
		return p.answer(m, func(w io.Writer) { printMovement(w, m, *at) })
	})
	return cmd
}

func (p *program) movementWatch(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch ID",
		Short: "Show how far a movement is until it ends or holds",
		Long: `Show how far a movement is until it ends, holds or has failed. The exit code is that of the
verb that began it. It only looks: ending it ends nothing else.`,
		Example: "  reshelve movement watch 20261121-221500-abcdef --at http://127.0.0.1:9200",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		follow := p.follow(*at)
		defer follow.stop()
		m, err := p.control.Watch(ctx, *at, args[0], follow.told)
		follow.stop()
		if err != nil {
			return err
		}
		return p.answerWith(outcomeOf(m, *at), m, func(w io.Writer) { printMovement(w, m, *at) })
	})
	return cmd
}

func (p *program) movementTell(at *string, verb movement.Verb, short, long string) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:     string(verb) + " ID",
		Short:   short,
		Long:    long,
		Example: fmt.Sprintf("  reshelve movement %s 20261121-221500-abcdef --at ./data", verb),
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&why, "why", "", "the `REASON`, for the movement's history")
	var lost bool
	equal := equalising{}
	if verb == movement.Repair {
		equal.add(cmd)
	}
	if verb == movement.Abort {
		cmd.Flags().BoolVar(&lost, "records-lost", false, "only lift the claim that a movement whose own records are lost has left on the target, which --at names; what it made stays")
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		if lost {
			if err := p.control.LiftClaim(ctx, *at, args[0]); err != nil {
				return err
			}
			return p.answer(struct {
				Lifted string `json:"lifted"`
			}{args[0]}, func(w io.Writer) { fmt.Fprintf(w, "the claim of movement %s is lifted\n", args[0]) })
		}
		if err := p.agreed(ctx, *at, args[0], &equal); err != nil {
			return err
		}
		m, err := p.control.Tell(ctx, control.Order{At: *at, ID: args[0], Verb: verb, By: userName(), Why: why, Overwrite: equal.overwrite, DeleteExtra: equal.extra})
		if err != nil {
			return err
		}
		return p.answer(m, func(w io.Writer) {
			fmt.Fprintf(w, "movement %s: %s\n", m.ID, m.State)
			if next := nextOf(m, *at); next != "" {
				fmt.Fprintf(w, "  → %s\n", oneLine(next))
			}
			if text := stayFailed(m); verb == movement.Resume && text != "" {
				fmt.Fprintf(w, "%s\n  → %s tries that again\n", text, control.Command("movement", string(movement.Redrive), m.ID, "--at", *at))
			}
		})
	})
	return cmd
}

// stayFailed tells what resume does not try again; "" when nothing has failed.
func stayFailed(m *control.Movement) string {
	if m.Progress == nil {
		return ""
	}
	var all []string
	for _, what := range []struct {
		n    int64
		noun string
	}{{int64(m.Progress.Items.Failed), "item"}, {m.Progress.Failed, "document"}} {
		if what.n > 0 {
			all = append(all, counted(what.n, what.noun))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, " and ") + " that failed: resume does not try again"
}

// into are the indices that a movement fills: by them people know it again.
func into(m *movement.Record) string {
	var plan struct {
		Index   string `json:"index"` // of a split or a merge
		Indices []struct {
			Target string `json:"target"`
		} `json:"indices"`
	}
	if json.Unmarshal(m.Plan, &plan) != nil {
		return ""
	}
	var names []string
	if plan.Index != "" {
		names = append(names, plan.Index)
	}
	for _, index := range plan.Indices {
		if !slices.Contains(names, index.Target) { // those of a data stream go into one
			names = append(names, index.Target)
		}
	}
	return strings.Join(names, ", ")
}

// cut is the beginning of a text that is longer than n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// userName is who is asking, for the history.
func userName() string {
	who, err := user.Current()
	if err != nil {
		return ""
	}
	return who.Username
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/user"
	"strings"

	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/movement"
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
	group.AddCommand(p.movementLs(&at), p.movementStatus(&at), p.movementWatch(&at), p.movementThrottle(&at), p.movementFailures(&at))
	for _, v := range []struct {
		verb  movement.Verb
		short string
	}{
		{movement.Pause, "Stop working on a movement: leases are given back"},
		{movement.Resume, "Go on with a movement that is paused, held or failed"},
		{movement.Verify, "Compare both sides again"},
		{movement.Repair, "Send what is missing or stale, and compare again"},
		{movement.Redrive, "Try again what failed, indices, items and documents, and compare again"},
		{movement.Finish, "Close the way back: keep what was made, remove the records, keep the report"},
		{movement.Abort, "Undo everything that the movement has made"},
	} {
		group.AddCommand(p.movementTell(&at, v.verb, v.short))
	}
	return group
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
		follow := p.follow()
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

func (p *program) movementTell(at *string, verb movement.Verb, short string) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:     string(verb) + " ID",
		Short:   short,
		Example: fmt.Sprintf("  reshelve movement %s 20261121-221500-abcdef --at ./data", verb),
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&why, "why", "", "the `REASON`, for the movement's history")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m, err := p.control.Tell(ctx, control.Order{At: *at, ID: args[0], Verb: verb, By: userName(), Why: why})
		if err != nil {
			return err
		}
		return p.answer(m, func(w io.Writer) {
			fmt.Fprintf(w, "movement %s: %s\n", m.ID, m.State)
			if next := nextOf(m, *at); next != "" {
				fmt.Fprintf(w, "  → %s\n", oneLine(next))
			}
		})
	})
	return cmd
}

// into are the indices that a movement fills: by them people know it again.
func into(m *movement.Record) string {
	var plan struct {
		Indices []struct {
			Target string `json:"target"`
		} `json:"indices"`
	}
	if json.Unmarshal(m.Plan, &plan) != nil {
		return ""
	}
	var names []string
	for _, index := range plan.Indices {
		names = append(names, index.Target)
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

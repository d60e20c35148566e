package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

func (p *program) ls() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "ls REPO",
		Short:             "List the snapshots of a repository, oldest first",
		Example:           "  reshelve snapshot ls /backups/repository\n  reshelve snapshot ls s3://backups/search --output json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.completeTarget,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		list, err := p.control.List(ctx, control.ListRequest{Repository: args[0]})
		if list == nil {
			return err
		}
		err = p.answerWith(err, list, func(w io.Writer) { printListing(w, list) })
		p.tellProblems(list.Problems, err)
		return err
	})
	return cmd
}

func printListing(w io.Writer, list *control.Listing) {
	if len(list.Snapshots) == 0 {
		if len(list.Problems) == 0 {
			fmt.Fprintln(w, "the repository holds no snapshot")
		}
		return
	}
	t := newTable("SNAPSHOT", "STATE", "STARTED", ">TOOK", ">INDICES", ">SHARDS", "SERVER", "UUID")
	for _, s := range list.Snapshots {
		t.row(s.Name, s.State, timeText(s.Start), tookText(s), count(int64(len(s.Indices))), shardsText(s.Shards), orDash(s.Version), s.UUID)
	}
	t.print(w)
}

// tellProblems names what cannot be read beside the answer, but for the one that
// the error tells which ends the command.
func (p *program) tellProblems(problems []control.Problem, err error) {
	for _, problem := range problems {
		if p.output == "json" || problem.Message == err.Error() {
			continue
		}
		p.note("%s: %s", problem.Kind, problem.Message)
		if problem.Next != "" {
			p.note("  → %s", problem.Next)
		}
	}
}

func tookText(s control.Snapshot) string {
	if s.Start == nil || s.End == nil {
		return "-"
	}
	return spanText(time.Duration(s.DurationMillis) * time.Millisecond)
}

// shardsText is "successful/total".
func shardsText(c control.ShardCount) string { return fmt.Sprintf("%d/%d", c.Successful, c.Total) }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

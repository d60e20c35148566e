package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

func (p *program) placement() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "placement INDEX",
		Short: "Show the shards of an index: who owns which order keys",
		Long: `Show the shards of an index: the range of order keys that each owns, both ends inclusive,
the version of the placement at which that last changed (its epoch), its part in a split or a
merge that is under way (OPEN: none), and what it holds. Bytes are those of ids, routing and
sources, before compression.`,
		Example: "  reshelve placement books --at ./data\n  reshelve placement books --output json",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&at, "at", control.DefaultAt, "the store: `URL|DIR`")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		status, err := p.control.Placement(ctx, at, args[0])
		if err != nil {
			return err
		}
		return p.answer(status, func(w io.Writer) { printPlacement(w, status, at) })
	})
	return cmd
}

func printPlacement(w io.Writer, s *control.PlacementStatus, at string) {
	fmt.Fprintf(w, "%s, placement version %d, %s\n", oneLine(s.Index), s.Version, counted(int64(len(s.Shards)), "shard"))
	t := newTable(">SHARD", "FROM", "TO", ">EPOCH", "STATE", ">DOCUMENTS", ">BYTES", "NODE")
	for _, row := range s.Shards {
		t.row(fmt.Sprint(row.Shard), row.From.String(), row.To.String(), fmt.Sprint(row.Epoch), row.State, count(row.Docs), bytesText(row.Bytes), row.Node)
	}
	for _, row := range s.Coming {
		t.row(fmt.Sprint(row.Shard), row.From.String(), row.To.String(), "-", row.State, "-", "-", "-")
	}
	t.print(w)
	if s.Movement != "" {
		fmt.Fprintf(w, "movement %s reshapes it\n  → %s\n", s.Movement, control.Command("movement", "status", s.Movement, "--at", at))
	}
}

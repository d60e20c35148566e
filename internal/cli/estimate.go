package cli

import (
	"context"
	"io"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

func (p *program) estimate() *cobra.Command {
	var sel control.Selection
	cmd := &cobra.Command{
		Use:   "estimate REPO [SNAPSHOT] [flags]",
		Short: "Tell what reading a snapshot would give and cost",
		Long: `Tell how many documents a snapshot holds and how long their sources are, and how
many bytes and requests reading them would take. Documents and source bytes of
long segments are extrapolated from their first documents, and said to be so.`,
		Example: `  reshelve snapshot estimate s3://backups/search
  reshelve snapshot estimate /backups/repository nightly-7 --index books --output json`,
	}
	selectionFlags(cmd, &sel)
	allowPartialFlag(cmd, &sel)
	return p.targeted(cmd, &sel, func(ctx context.Context) error {
		e, err := p.control.Estimate(ctx, sel)
		if err != nil {
			return err
		}
		return p.answer(e, func(w io.Writer) { printEstimate(w, e) })
	})
}

func printEstimate(w io.Writer, e *control.Estimate) {
	how := "about "
	if e.Exact {
		how = ""
	}
	t := &table{right: map[int]bool{1: true}}
	t.row("documents", how+count(e.Documents))
	t.row("source bytes", how+bytesText(e.SourceBytes))
	t.row("bytes to read", bytesText(e.ReadBytes))
	t.row("requests", count(e.Requests))
	t.print(w)
}

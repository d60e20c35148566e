package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// movementFailures lists what a movement could not bring.
func (p *program) movementFailures(at *string) *cobra.Command {
	req := control.FailuresRequest{}
	all := false
	cmd := &cobra.Command{
		Use:   "failures ID",
		Short: "List what a movement could not bring, and why: by cause, then one by one",
		Long: `List what a movement could not bring: how many documents failed by cause, the indices
and items that failed whole, and then the documents one by one.

Mend the cause, then "reshelve movement redrive" tries all of it again.`,
		Example: "  reshelve movement failures 20261121-221500-abcdef --at ./data\n  reshelve movement failures 20261121-221500-abcdef --at ./data --all --output json",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&req.Index, "index", "", "only those of this `INDEX` of the source")
	cmd.Flags().Int64Var(&req.Limit, "limit", 100, "list so many documents one by one")
	cmd.Flags().BoolVar(&all, "all", false, "list all documents one by one")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		req.At, req.ID = *at, args[0]
		if req.Limit < 0 {
			return fault.WithNext(fault.New(fault.Usage, "--limit is %d", req.Limit), "name how many are listed one by one, 0 for none; --all lists all of them")
		}
		if all {
			req.Limit = -1
		}
		if p.output == "json" {
			list := &jsonList{w: p.stdout}
			if err := p.control.Failures(ctx, req, list.head, list.each); err != nil {
				return err
			}
			return list.end()
		}
		list := &textList{w: p.stdout}
		if err := p.control.Failures(ctx, req, list.head, list.each); err != nil {
			return err
		}
		return list.end()
	})
	return cmd
}

// jsonList prints failures as one JSON document, as they come.
type jsonList struct {
	w     io.Writer
	count int64
}

func (l *jsonList) head(s *control.FailureSummary) error {
	head, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "%s,\"documents\":[", head[:len(head)-1])
	return written(err)
}

func (l *jsonList) each(f control.Failed) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	separator := ",\n"
	if l.count == 0 {
		separator = "\n"
	}
	l.count++
	_, err = fmt.Fprintf(l.w, "%s%s", separator, text)
	return written(err)
}

func (l *jsonList) end() error {
	_, err := fmt.Fprintln(l.w, "]}")
	return written(err)
}

// textList prints failures for people, as they come, in tables of some rows each.
type textList struct {
	w           io.Writer
	rows        *table
	total, told int64
}

// tableRows are the rows of which the columns are aligned with each other.
const tableRows = 500

func (l *textList) head(s *control.FailureSummary) error {
	l.total = s.Documents
	if s.Documents > 0 {
		fmt.Fprintf(l.w, "%s failed\n", have(s.Documents, "document"))
		t := newTable(">DOCUMENTS", "INDEX", "CAUSE", "REASON")
		for _, c := range s.Causes {
			t.row(count(c.Documents), c.Index, c.Type, c.Reason)
		}
		t.print(l.w)
	}
	if len(s.Pieces) > 0 {
		t := newTable("INDEX", "ITEM", ">FROM", "CAUSE")
		for _, piece := range s.Pieces {
			t.row(piece.Index, orDash(piece.Item), fmt.Sprint(piece.From), piece.Cause)
		}
		t.print(l.w)
	}
	if s.Documents == 0 && len(s.Pieces) == 0 {
		_, err := fmt.Fprintln(l.w, "nothing has failed")
		return written(err)
	}
	return nil
}

func (l *textList) each(f control.Failed) error {
	if l.rows == nil {
		l.rows = newTable("INDEX", ">SHARD", ">POSITION", "ID", "CAUSE", "REASON")
	}
	l.rows.row(f.Index, fmt.Sprint(f.Shard), fmt.Sprint(f.Position), f.ID, f.Type, f.Reason)
	l.told++
	if len(l.rows.rows) > tableRows {
		l.rows.print(l.w)
		l.rows = nil
	}
	return nil
}

func (l *textList) end() error {
	if l.rows != nil {
		l.rows.print(l.w)
	}
	if l.told > 0 && l.told < l.total {
		_, err := fmt.Fprintf(l.w, "%s more: --limit, or --all\n", count(l.total-l.told))
		return written(err)
	}
	return nil
}

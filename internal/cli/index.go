package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// index is the group of verbs on the indices of a store.
func (p *program) index() *cobra.Command {
	group := &cobra.Command{
		Use:   "index",
		Short: "List, create, delete, check and rebuild the indices of a store, and count what they hold",
		Long: `List, create, delete, check and rebuild the indices of a store; "stats" counts what they hold.

--at names the store: http://HOST:PORT, or a data folder. A folder that a server
has open is reached through the server.`,
		Example: "  reshelve index ls --at http://127.0.0.1:9200\n  reshelve index ls --at ./data",
		Args:    cobra.NoArgs,
		RunE:    p.group,
	}
	var at string
	group.PersistentFlags().StringVar(&at, "at", control.DefaultAt, "the store: a URL, or a data folder: `URL|DIR`")
	group.AddCommand(p.indexLs(&at), p.indexCreate(&at), p.indexDelete(&at), p.indexStats(&at), p.indexCheck(&at), p.indexRebuild(&at))
	return group
}

func (p *program) indexLs(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls [PATTERN]",
		Short:   "List indices",
		Example: "  reshelve index ls\n  reshelve index ls 'logs-*' --at ./data --output json",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		listing, err := p.control.ListIndices(ctx, *at, first(args))
		if err != nil {
			return err
		}
		return p.answer(listing, func(w io.Writer) { printIndexListing(w, listing, first(args)) })
	})
	return cmd
}

// first is the first argument, or "".
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func printIndexListing(w io.Writer, listing *control.IndexListing, pattern string) {
	if len(listing.Indices) == 0 {
		fmt.Fprintln(w, noIndices(pattern))
		return
	}
	t := newTable("INDEX", "STATE", "HEALTH", ">SHARDS", ">DOCUMENTS", ">DELETED", ">BYTES", "UUID")
	for _, i := range listing.Indices {
		t.row(i.Index, i.State, orDash(i.Health), fmt.Sprint(i.Shards), count(i.Documents), count(i.Deleted), bytesText(i.Bytes), i.UUID)
	}
	t.print(w)
}

// noIndices says that a list is empty, and why it may be.
func noIndices(pattern string) string {
	if pattern == "" {
		return "there are no indices"
	}
	return fmt.Sprintf("no index matches %q", pattern)
}

func (p *program) indexCreate(at *string) *cobra.Command {
	req := control.CreateIndexRequest{}
	var body string
	cmd := &cobra.Command{
		Use:     "create INDEX",
		Short:   "Create an index",
		Example: "  reshelve index create books --shards 4\n  reshelve index create books --body books.json --at ./data",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().IntVar(&req.Shards, "shards", 0, "the `number` of shards, whatever --body says; 0: as --body or templates say, else 1")
	cmd.Flags().StringVar(&body, "body", "", "a `FILE` with settings, mappings and aliases, as PUT /INDEX takes them; -: standard input")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) (err error) {
		req.At, req.Index = *at, args[0]
		if req.Body, err = readBody(body); err != nil {
			return err
		}
		created, err := p.control.CreateIndex(ctx, req)
		if err != nil {
			return err
		}
		return p.answer(created, func(w io.Writer) { fmt.Fprintf(w, "created %s\n", oneLine(created.Index)) })
	})
	return cmd
}

// readBody reads the file that a flag names; nil for none.
func readBody(name string) (body []byte, err error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		body, err = io.ReadAll(os.Stdin)
	default:
		body, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fault.WithNext(fault.At(fault.Wrap(fault.Usage, err), "--body"), "name a file with the body of PUT /INDEX, or - for standard input")
	}
	return body, nil
}

func (p *program) indexDelete(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete INDEX",
		Short:   "Delete an index with all of its documents",
		Example: "  reshelve index delete books",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		if err := p.control.DeleteIndex(ctx, *at, args[0]); err != nil {
			return err
		}
		deleted := struct {
			Index string `json:"index"`
		}{args[0]}
		return p.answer(deleted, func(w io.Writer) { fmt.Fprintf(w, "deleted %s\n", oneLine(args[0])) })
	})
	return cmd
}

func (p *program) indexStats(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats [PATTERN]",
		Short:   "Count the documents, bytes and operations of indices",
		Long:    "Count the documents, bytes and operations of indices.\n\nOperations count since the server was started.",
		Example: "  reshelve index stats books --output json",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		stats, err := p.control.StatIndices(ctx, *at, first(args))
		if err != nil {
			return err
		}
		return p.answer(stats, func(w io.Writer) {
			if len(stats.Indices) == 0 {
				fmt.Fprintln(w, noIndices(first(args)))
				return
			}
			t := newTable("INDEX", ">DOCUMENTS", ">DELETED", ">BYTES", ">INDEXED", ">DELETES", ">GETS", ">REFRESHES")
			for _, i := range stats.Indices {
				t.row(i.Index, count(i.Documents), count(i.Deleted), bytesText(i.Bytes), count(i.Indexed), count(i.Deletes), count(i.Gets), count(i.Refreshes))
			}
			t.print(w)
		})
	})
	return cmd
}

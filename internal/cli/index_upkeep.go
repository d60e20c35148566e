package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

func (p *program) indexCheck(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check INDEX",
		Short: "Compare the documents of an index with those that searches find",
		Long: `Compare the documents of an index with those that searches find, one by one and shard by
shard, while it answers: by id, order key and sequence number. Differences are counted by class:

  MISSING    the document is there, and not found
  GHOST      it is found, and not there
  STALE      it is found in a form that it had before
  MISPLACED  it is found more than once, or outside of the range of the shard

NUMBER is the sequence number of the shard's last change as of which both sides were compared. With differences the exit
code is 6, and reshelve index rebuild repairs the index. A shard of which a file is damaged is not compared: the file and what
to do are printed, the other shards are compared, and the exit code is 4.`,
		Example: "  reshelve index check books\n  reshelve index check books --at ./data --output json",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.upkeep(at, control.CheckIndex, printChecked)
	return cmd
}

func (p *program) indexRebuild(at *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild INDEX",
		Short: "Index all documents of an index again, while it answers",
		Long: `Make the segments of an index again out of its documents, one shard after the other. Reads,
writes and searches go on; searches use the old segments of a shard until its new ones are ready.
When this command is interrupted, a server goes on with it.`,
		Example: "  reshelve index rebuild books\n  reshelve index rebuild books --at ./data",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = p.upkeep(at, control.RebuildIndex, printRebuild)
	return cmd
}

// upkeep is a verb that checks or rebuilds an index, and waits for the end.
func (p *program) upkeep(at *string, verb string, print func(io.Writer, *control.Upkeep)) func(*cobra.Command, []string) error {
	return p.verb(func(ctx context.Context, args []string) error {
		progress := p.newProgress("document", true)
		defer progress.stop()
		done, err := p.control.RunUpkeep(ctx, *at, args[0], verb, func(u *control.Upkeep) { progress.set(upkeepDone(u)) })
		progress.stop()
		if done == nil {
			return err
		}
		return p.answerWith(err, done, func(w io.Writer) { print(w, done) })
	})
}

// upkeepDone is how many documents have been read, and which fraction of all that is.
func upkeepDone(u *control.Upkeep) (documents, bytes int64, fraction float64) {
	all := int64(0)
	for _, c := range u.Checked {
		documents += c.Documents
	}
	for _, r := range u.Rebuilt {
		documents, all = documents+r.Read, all+r.Documents
	}
	if fraction = -1; all > 0 {
		fraction = min(float64(documents)/float64(all), 1)
	}
	return documents, -1, fraction
}

func printChecked(w io.Writer, u *control.Upkeep) {
	t := newTable(">SHARD", ">NUMBER", ">DOCUMENTS", ">FOUND", ">MISSING", ">GHOST", ">STALE", ">MISPLACED")
	same, documents := true, int64(0)
	for _, c := range u.Checked {
		same = same && c.Differences() == 0 && c.Damage == ""
		documents += c.Documents
		if c.Damage != "" {
			t.row(fmt.Sprint(c.Shard), "-", "-", "-", "-", "-", "-", "-")
			continue
		}
		t.row(fmt.Sprint(c.Shard), fmt.Sprint(c.SeqNo), count(c.Documents), count(c.Found), count(c.Missing), count(c.Ghost), count(c.Stale), count(c.Misplaced))
	}
	t.print(w)
	if same && u.Problem == nil {
		fmt.Fprintf(w, "no differences: %s in %s\n", counted(documents, "document"), counted(int64(len(u.Checked)), "shard"))
	}
	for _, c := range u.Checked {
		if c.Damage != "" {
			fmt.Fprintf(w, "shard %d is damaged: %s\n", c.Shard, oneLine(c.Damage))
		}
		for _, example := range c.Examples {
			fmt.Fprintf(w, "shard %d: %s\n", c.Shard, oneLine(example))
		}
	}
}

func printRebuild(w io.Writer, u *control.Upkeep) {
	t := newTable(">SHARD", ">DOCUMENTS", "STATE")
	for _, r := range u.Rebuilt {
		state := "as before"
		if r.Done {
			state = "rebuilt"
		}
		t.row(fmt.Sprint(r.Shard), count(r.Read), state)
	}
	t.print(w)
}

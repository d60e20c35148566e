package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

func (p *program) verify() *cobra.Command {
	var sel control.Selection
	cmd := &cobra.Command{
		Use:   "verify REPO [SNAPSHOT] [flags]",
		Short: "Check every file of a snapshot: length, checksum, counts",
		Long: `Read every file of a snapshot to its end and compare its length and checksum with
the manifest and with its own footer, and the numbers of documents with what the
segments promise. Everything that is wrong is listed with its place; with damage
the exit code is 4.`,
		Example: `  reshelve snapshot verify /backups/repository
  reshelve snapshot verify s3://backups/search nightly-7 --output json`,
	}
	selectionFlags(cmd, &sel)
	allowPartialFlag(cmd, &sel)
	return p.targeted(cmd, &sel, func(ctx context.Context) error {
		progress := p.newProgress("file", true)
		defer progress.stop()
		done, err := p.control.Verify(ctx, sel, func(v control.Verification, fraction float64) {
			progress.set(int64(v.Files), v.Bytes, fraction)
		})
		progress.stop()
		if done == nil {
			return err
		}
		return p.answerWith(err, done, func(w io.Writer) { printVerification(w, done) })
	})
}

func printVerification(w io.Writer, v *control.Verification) {
	for _, problem := range v.Problems {
		fmt.Fprintf(w, "%s: %s\n", problem.Kind, oneLine(problem.Message))
		if problem.Next != "" {
			fmt.Fprintf(w, "  → %s\n", oneLine(problem.Next))
		}
	}
	for _, absent := range v.Absent {
		fmt.Fprintf(w, "not in the snapshot: %s\n", oneLine(absent.Message))
	}
	fmt.Fprintf(w, "snapshot %s: %s in %s, %s: %s, %s and their checksums, %s\n", oneLine(v.Snapshot),
		counted(int64(v.Shards), "shard"), counted(int64(v.Indices), "index"), counted(int64(v.Segments), "segment"),
		counted(int64(v.Files), "file"), bytesText(v.Bytes), counted(v.Documents, "Lucene document"))
	if v.Unchecked > 0 {
		fmt.Fprintf(w, "%s no checksum: Lucene before 4.8 wrote none\n", have(int64(v.Unchecked), "file"))
	}
	fmt.Fprint(w, conclusion(v))
}

// conclusion is the last line, which must not promise more than was seen: "" when
// the problems before it say enough.
func conclusion(v *control.Verification) string {
	found := "no damage"
	if n := len(v.Problems); n > 0 {
		found = counted(int64(n), "problem")
	}
	switch {
	case !v.Complete:
		return fmt.Sprintf("not finished: %s checked, %s found so far\n", counted(int64(v.Files), "file"), found)
	case len(v.Problems) > 0:
		return ""
	case len(v.Absent) > 0:
		return "what is there is as it should be\n"
	}
	return "everything is as it should be\n"
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// catFlags are the flags of cat.
type catFlags struct {
	request control.ReadRequest
	format  string // ndjson or bulk
	limit   int64  // when it was given
}

func (p *program) cat() *cobra.Command {
	var f catFlags
	cmd := &cobra.Command{
		Use:     "cat REPO [SNAPSHOT] [flags]",
		Short:   "Print the documents of a snapshot, one JSON object a line",
		Long:    catText,
		Example: catExample,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "ndjson", "ndjson: one object a line; bulk: lines for the _bulk API")
	flags.Int64Var(&f.limit, "limit", 0, "print `N` documents at most")
	flags.StringVar(&f.request.From, "from", "", "begin at this `POSITION` (index/shard/number), inclusive")
	flags.BoolVar(&f.request.IDsOnly, "ids-only", false, "print no sources")
	flags.BoolVar(&f.request.Versions, "versions", false, "add _version, _seq_no and _primary_term where the files hold them")
	flags.BoolVar(&f.request.AllowMissingSource, "allow-missing-source", false, "print documents that have no source too, without the key; in bulk, which cannot hold them, pass over them")
	flags.BoolVar(&f.request.UseRecoverySource, "use-recovery-source", false, "take the complete original (_recovery_source) where it is stored beside a disabled or filtered source")
	selectionFlags(cmd, &f.request.Selection)
	allowPartialFlag(cmd, &f.request.Selection)
	complete(cmd, "format", "ndjson", "bulk")
	return p.targeted(cmd, &f.request.Selection, func(ctx context.Context) error {
		if err := f.check(p.output); err != nil {
			return err
		}
		if flags.Changed("limit") {
			f.request.Limit = &f.limit
		}
		f.request.Typeless = f.format == "bulk"
		return p.runCat(ctx, f)
	})
}

const catText = `Print the documents of a snapshot, ordered by index name, shard, segment and
document number, one JSON object a line:

  {"_index":…,"_id":…,"_routing":…,"_type":…,"_parent":…,"_source":…}

Keys that a document lacks are left out. The source is printed byte for byte as
it is stored, with a space for each raw line break. Standard output carries
documents only.

--format bulk prints what the _bulk API of Elasticsearch 7 and later and of
OpenSearch takes unchanged: an index action with _index, _id and routing, and
the source on the next line. With --versions the action carries the version, as
external_gte, so that sending the lines twice changes nothing. An index with
several mapping types (Elasticsearch before 6.0) is refused: those servers know no
types, and documents of the same id would overwrite each other.

Documents are printed as they are read, and a file's checksum stands at its end.
When it is wrong, the exit code is 4. However a run ends, standard error names the
positions that were printed unconfirmed, and the files whose checksum it did not
reach, as with --from and --limit. A run that is interrupted says with which --from
another one goes on.`

const catExample = `  reshelve snapshot cat /backups/repository | jq ._source
  reshelve snapshot cat s3://backups/search nightly-7 --index 'logs-*' --limit 10
  reshelve snapshot cat /backups/repository --format bulk --index books | split -l 2000 --filter \
    'curl -s -H "Content-Type: application/x-ndjson" --data-binary @- localhost:9200/_bulk'
  reshelve snapshot cat /backups/repository --from books/0/813`

// check refuses flags that contradict each other.
func (f *catFlags) check(output string) error {
	switch {
	case output != "text":
		err := fault.New(fault.Usage, "cat has no --output: it prints documents only")
		return fault.WithNext(err, "leave --output out; each line is a JSON document already")
	case f.format != "ndjson" && f.format != "bulk":
		return fault.WithNext(fault.New(fault.Usage, "--format is ndjson or bulk, not %q", f.format), "write --format ndjson, or --format bulk")
	case f.format == "bulk" && f.request.IDsOnly:
		return fault.WithNext(fault.New(fault.Usage, "--format bulk needs sources, which --ids-only leaves out"), "leave one of them away")
	case f.limit < 0:
		return fault.WithNext(fault.New(fault.Usage, "--limit %d is negative", f.limit), "name how many documents are printed, 0 or more")
	}
	return nil
}

// catRun is one run of cat.
type catRun struct {
	*program
	flags      catFlags
	docs       *control.Documents
	out        *lines
	progress   *progress
	sourceless firstSourceless
}

// tickEvery is after how many documents the clock is looked at: often enough for
// people, too rarely to cost anything.
const tickEvery = 32

func (p *program) runCat(ctx context.Context, f catFlags) (err error) {
	r := &catRun{program: p, flags: f, out: newLines(p.stdout, ndjson)}
	if f.format == "bulk" {
		r.out.format = bulk
	}
	r.progress = p.newProgress("document", !isTerminal(p.stdout))
	defer r.progress.stop()
	r.sourceless.note = r.progress.note
	r.docs, err = p.control.Read(ctx, f.request, control.Watch{
		Sourceless: r.sourceless.name,
		Absent:     r.absent,
		Filtered:   r.filtered,
	})
	if err != nil {
		return err
	}
	defer r.docs.Close()
	return r.finish(ctx, r.print())
}

// absent names a shard, or an index, that is passed over.
func (r *catRun) absent(a control.Failure) {
	if a.Shard < 0 {
		r.progress.note("%s: passed over, the snapshot does not hold this index: %s", a.Index, a.Reason)
		return
	}
	r.progress.note("%s/%d: passed over, the snapshot does not hold this shard: %s", a.Index, a.Shard, a.Reason)
}

// filtered says that an index keeps less of a source than it was given.
func (r *catRun) filtered(index, why string) {
	r.progress.note("%s: sources are stored, and printed, incomplete: %s", index, why)
}

// print writes documents until their end or an error, which it returns, or until
// a write fails.
func (r *catRun) print() error {
	for n := 1; r.out.err == nil && r.docs.Next(); n++ {
		r.document(r.docs.Document())
		switch {
		case n == 1:
			r.out.flush() // the first document is shown at once
		case n%tickEvery == 0:
			r.tick()
		}
	}
	return r.docs.Err()
}

func (r *catRun) document(doc *document.Document) {
	if doc.Source == nil && r.flags.format == "bulk" {
		r.sourceless.name(doc)
		return
	}
	r.out.print(doc)
}

// tick moves the progress on, and shows documents that wait too long.
func (r *catRun) tick() {
	if r.progress.due() {
		r.out.flush()
		totals := r.docs.Totals()
		r.progress.set(totals.Documents, totals.SourceBytes, r.docs.Fraction())
	}
}

// finish says everything that the run owes, however it ended: what was left out,
// what was printed on the word of no checksum, and where another run goes on.
// What was met while reading, err, outlives a failed write; and a write that fails
// because people stop the whole pipe is an interruption.
func (r *catRun) finish(ctx context.Context, err error) error {
	r.out.flush()
	if err == nil && r.out.err != nil {
		err = interruptedToo(ctx)
	}
	totals := r.docs.Totals()
	r.progress.end(totals.Documents, totals.SourceBytes)
	next, more := r.docs.Position()
	first, last, unconfirmed := r.docs.Unconfirmed()
	r.docs.Close()

	r.sourcelessNotes(totals)
	if n := r.out.inexact; n > 0 {
		r.note("%s printed with an id, routing or type that is not UTF-8, with U+FFFD in the place of each such byte; the first is %s", counted(n, "document"), r.out.firstInexact)
	}
	if unconfirmed && (err != nil || !closedByReader(r.out.err)) { // head has what it wanted
		r.note("%s", unconfirmedText(first, last))
	}
	r.unreachedNotes(err)
	switch lost := written(r.out.err); {
	case err == nil:
		return lost
	case lost != nil:
		r.note("%s", lost)
	case !more: // nothing is left
	case fault.Is(err, fault.Interrupted):
		r.note("interrupted; go on with --from %s", next)
		r.handedNote()
		return told(err)
	case fault.KindOf(err).ExitCode() == fault.Unavailable.ExitCode():
		r.note("go on with --from %s", next)
		r.handedNote()
	}
	return err
}

// handedNote says that nobody knows how much the reader of a pipe took.
func (r *catRun) handedNote() {
	if !keepsAll(r.stdout) {
		r.note("this is what was handed to the pipe, whose reader may have kept less: go back to the last document that it kept")
	}
}

func unconfirmedText(first, last document.Position) string {
	if first == last {
		return fmt.Sprintf("%s was printed unconfirmed", first)
	}
	return fmt.Sprintf("%s to %s were printed unconfirmed", first, last)
}

// unreachedNotes name the files that were read, but not to a checksum: only a
// part of them was wanted, the run ended before, or they have none. The damaged
// file that err tells of needs no note.
func (r *catRun) unreachedNotes(err error) {
	var damage *fault.Error
	if fault.Is(err, fault.Corrupt) {
		errors.As(err, &damage)
	}
	for _, u := range r.docs.Unreached() {
		if damage == nil || !slices.Contains(damage.Place(), "file "+u.File) {
			r.note("%s/%d: the checksum of %s was not reached; verify reads the file to its end", u.Index, u.Shard, u.File)
		}
	}
}

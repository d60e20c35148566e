package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/spf13/cobra"
)

// compare compares a snapshot with a target.
func (p *program) compare() *cobra.Command {
	req, dry, steps := control.CompareRequest{Policy: work.Default}, false, ""
	cmd := &cobra.Command{
		Use:   "verify --from REPO [SNAPSHOT] --to TARGET [flags]",
		Short: "Compare a snapshot with a cluster or a data folder, document by document",
		Long: `Compare a snapshot with a cluster or a data folder, document by document, whatever
tool has filled that. Documents are equal when id, routing and source are; versions only show which side is
older. Documents that are missing, different or too many on the target are listed.
The exit code is 0 when nothing differs, and 6 when something does.

--from is the repository, as "reshelve help repositories" describes; SNAPSHOT is the name or the
UUID of one, without which the newest successful one is compared. --to is the URL of
an OpenSearch, an Elasticsearch or a "reshelve serve", or a data folder; an index may be
named by an alias that leads to it alone. Nothing is made or changed there, and the right
to read is enough. Credentials are read from the environment, as for migrate.

Killed at any time, the same command goes on where it was. It is a movement like any
other: "reshelve movement" shows and steers it, and "reshelve worker --join" helps. It is
recorded in a data folder itself, and for a URL in a folder of this user, which the
command names; --coordinate names another place.`,
		Example: `  reshelve verify --from /backups/repository --to http://127.0.0.1:9200
  reshelve verify --from s3://backups/search nightly-7 --to http://127.0.0.1:9200 --index 'logs-*' --rename 'logs-*=old-logs-*'
  reshelve verify --from /backups/repository --to ./data --transform steps.yaml --output json`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Repository, "from", "", "the repository: `REPO`")
	flags.StringVar(&req.Snapshot, "snapshot", "", "the same as the argument: name or UUID of the `SNAPSHOT`; none: the newest successful one")
	flags.StringVar(&req.Target, "to", "", "where the documents are: `URL|DIR`")
	flags.StringArrayVar(&req.Rename, "rename", nil, "an index has another name on the target: `OLD=NEW`; with one * on each side, what it matches goes over; may be repeated")
	flags.StringVar(&steps, "transform", "", "the documents were changed on their way as the `FILE` says: see reshelve help transform")
	flags.Var((*mappingTypes)(&req.Types), "types", "what became of an index of several mapping types: `split|merge|refuse` (default refuse)")
	complete(cmd, "types", "split", "merge", "refuse")
	flags.BoolVar(&req.NoVersions, "no-versions", false, "the target gave the documents versions of its own: do not call what differs older or newer by them")
	flags.IntVar(&req.Workers, "workers", 2, "how many indices this process compares at a time")
	flags.StringVar(&req.Coordinate, "coordinate", "auto", "where it is recorded, and workers join it: `auto|target|local:DIR|postgres://…`; auto: a data folder itself, for a URL a folder of this user")
	wait := flags.Bool("wait", true, "work until all is compared; --wait=false starts it, and leaves it to workers")
	flags.BoolVar(&dry, "dry-run", false, "show what would be compared, and start nothing")
	policyFlags(flags, &req.Policy)
	memory := size(256 << 20)
	flags.Var(&memory, "memory", "the memory to stay below when the target is a folder")
	selectionFlags(cmd, &req.Selection)
	allowPartialFlag(cmd, &req.Selection)
	_ = cmd.MarkFlagRequired("from")
	_ = cmd.MarkFlagRequired("to")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		if err := theSnapshot(cmd, &req.Selection, args); err != nil {
			return err
		}
		if err := checkSlots(req.Workers, &req.Policy); err != nil {
			return err
		}
		if err := readSteps(steps, &req.Transform); err != nil {
			return err
		}
		req.By, req.NoWait = userName(), !*wait
		req.Memory, req.Logger = int64(memory), slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		if dry {
			preview, err := p.control.PreviewComparison(ctx, req)
			if err != nil {
				return err
			}
			return p.answerWith(preview.Outcome(), preview, func(w io.Writer) { printComparison(w, preview) })
		}
		return p.compared(ctx, req)
	})
	return cmd
}

// theSnapshot sets the snapshot of the selection from the argument, if there is one.
func theSnapshot(cmd *cobra.Command, s *control.Selection, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Changed("from-cluster"):
		err := fault.New(fault.Usage, "--from-cluster takes a new snapshot, and the snapshot %q is named, too", args[0])
		return fault.WithNext(err, "leave the name out; or name the repository of that snapshot with --from in place of --from-cluster")
	case cmd.Flags().Changed("snapshot"):
		err := fault.New(fault.Usage, "the snapshot is named twice: %q, and --snapshot %q", args[0], s.Snapshot)
		return fault.WithNext(err, "leave one of them out")
	case args[0] == "":
		return fault.WithNext(fault.New(fault.Usage, "the name of the snapshot is empty"), "leave it out for the newest successful one")
	}
	s.Snapshot = args[0]
	return nil
}

// compared does a comparison, and prints its result.
func (p *program) compared(ctx context.Context, req control.CompareRequest) error {
	place, err := req.Place()
	if err != nil {
		return err
	}
	req.Planned = func(preview *control.Preview) {
		if place != req.Target && preview.Outcome() == nil {
			p.note("recorded at %s", control.Bare(place))
		}
		if p.output == "text" && !p.quiet {
			printComparison(p.stdout, preview)
		}
	}
	return p.begun(place, req.NoWait, func(told func(*control.Movement)) (*control.Movement, error) {
		return p.control.Compare(ctx, req, told)
	})
}

// printComparison prints the plan of a comparison.
func printComparison(w io.Writer, preview *control.Preview) {
	plan := preview.Plan
	fmt.Fprintf(w, "snapshot %s, of server %s, compared with %s\n", oneLine(plan.Snapshot), oneLine(plan.Version), oneLine(plan.Target))
	t := newTable("INDEX", "TARGET", ">SHARDS", ">DOCUMENTS", ">SOURCE BYTES", "ON THE TARGET")
	for i, index := range plan.Indices {
		there := "is not there"
		switch shown := &preview.Indices[i]; {
		case shown.Closed:
			there = "is closed"
		case shown.There:
			there = "holds " + counted(shown.Holds, "document")
		}
		target := index.Target
		if several := preview.Indices[i].Targets; len(several) > 0 {
			target = strings.Join(several, ", ")
		}
		t.row(index.Source, target, fmt.Sprint(index.Shards), count(index.Documents), bytesText(index.Bytes), there)
	}
	t.print(w)
	if len(preview.Private) > 0 {
		fmt.Fprintf(w, "left out, because only --index with a dot in front names them: %s\n", oneLine(strings.Join(preview.Private, ", ")))
	}
	for _, check := range preview.Checks {
		printCheck(w, &check)
	}
}

// printCompared prints what a comparison of its own has shown.
func printCompared(w io.Writer, m *control.Movement, place string) {
	t := newTable("INDEX", "TARGET", "RESULT")
	for _, v := range m.Progress.Verified {
		result := "equal"
		if v.Differs() || v.Others > 0 {
			result, _, _ = strings.Cut(v.Result.String(), "\n")
		}
		if v.Absent {
			result += "; the target has no such index"
		}
		t.row(v.Index, v.Target, result)
	}
	for _, u := range m.Progress.Uncompared {
		t.row(u.Index, u.Target, "could not be compared: "+oneLine(u.Cause))
	}
	if len(m.Progress.Verified)+len(m.Progress.Uncompared) > 0 {
		t.print(w)
	}
	for _, v := range m.Progress.Verified {
		fmt.Fprintf(w, "%s: snapshot %s, target %s\n", oneLine(v.Target), orDash(v.Expected), orDash(v.Found))
		if v.Others > 0 {
			fmt.Fprintf(w, "%s: %s there that the snapshot does not hold: the index was there before\n", oneLine(v.Index), have(v.Others, "document"))
		}
		if v.Unrefreshed {
			fmt.Fprintf(w, "%s: compared as its last refresh has shown it: these credentials may not refresh it\n", oneLine(v.Target))
		}
	}
	printSteps(w, m.Progress.Steps)
	printMissing(w, m, place)
}

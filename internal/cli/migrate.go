package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// migrate moves a snapshot into a target.
func (p *program) migrate() *cobra.Command {
	req, dry := control.MigrateRequest{Policy: work.Default}, false
	cmd := &cobra.Command{
		Use:   "migrate --from REPO [SNAPSHOT] --to TARGET [flags]",
		Short: "Move the documents of a snapshot into a cluster or a data folder, and prove it",
		Long: `Move the documents of a snapshot into a cluster or a data folder, and prove that
they are all there.

--from is the repository, as described by "reshelve help repositories". --to is the URL of
an OpenSearch, an Elasticsearch or a "reshelve serve", or a data folder, which is
made when it is not there and needs no server. The documents keep their ids, routing
and versions. Credentials for a cluster are read from the environment: RESHELVE_TARGET_USER and
RESHELVE_TARGET_PASSWORD, RESHELVE_TARGET_API_KEY, or RESHELVE_TARGET_BEARER; and
RESHELVE_TARGET_CA, RESHELVE_TARGET_CERT and RESHELVE_TARGET_KEY are files of certificates.
Killed at any time, the migration goes on where it was:
reshelve worker --join TARGET, from this machine or from others.`,
		Example: `  reshelve migrate --from /backups/repository --to ./data
  reshelve migrate --from s3://backups/search --to http://127.0.0.1:9200 --index 'logs-*' --workers 4
  reshelve migrate --from /backups/repository --to http://127.0.0.1:9200 --set 'logs-*:index.codec=best_compression' --mapping books=books.json
  reshelve migrate --from-cluster http://127.0.0.1:9201 --snapshot-to /backups/repository --to ./data`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Repository, "from", "", "the repository: `REPO`")
	flags.StringVar(&req.Snapshot, "snapshot", "", "the same as the argument: name or UUID of the `SNAPSHOT`; none: the newest successful one")
	var to, steps string
	flags.StringVar(&req.FromCluster, "from-cluster", "", "take a snapshot of the cluster at `URL` first")
	flags.StringVar(&to, "snapshot-to", "", "with --from-cluster: the repository of the snapshot, `REPO`, as this machine sees it")
	flags.StringVar(&req.SnapshotRepository, "snapshot-repository", "", "with --from-cluster: the `NAME` under which that cluster knows the repository; none: the repository is registered there for as long as the movement lasts")
	flags.StringVar(&req.Target, "to", "", "where the documents go: `URL|DIR`")
	flags.StringArrayVar(&req.Rename, "rename", nil, "give an index, or with --data-streams append a data stream, another name: `OLD=NEW`; with one * on each side, what it matches is kept: 'logs-*=old-logs-*'; may be repeated")
	flags.IntVar(&req.Workers, "workers", 2, "how many work items this process does at the same time")
	flags.BoolVar(&req.IntoExisting, "into-existing", false, "write into indices of the target that hold documents; what is overwritten (an equal or older version) is not brought back by abort")
	flags.StringVar(&req.Coordinate, "coordinate", "auto", "where the movement is recorded, and workers join it: `auto|target|local:DIR|postgres://…`; auto: the target")
	wait := flags.Bool("wait", true, "work until the movement ends or holds; --wait=false starts it, and leaves it to workers")
	flags.BoolVar(&req.NoVersions, "no-versions", false, "send documents without the versions that the snapshot holds")
	flags.BoolVar(&req.Delta, "delta", false, "send only what has changed since the newest movement that brought an older snapshot of the repository into the same indices; what was deleted is deleted")
	flags.StringVar(&req.Since, "since", "", "the same since the movement with this `ID`, or the one that moved this snapshot")
	flags.StringVar(&steps, "transform", "", "change documents on their way as the `FILE` says: see reshelve help transform")
	flags.Int64Var(&req.AllowFailures, "allow-failures", 0, "how many documents may fail: with no more, the movement finishes all the same, and the exit code is 10")
	flags.BoolVar(&dry, "dry-run", false, "show what would be done, and start nothing")
	flags.BoolVar(&req.Yes, "yes", false, "accept what loses meaning on the target")
	flags.BoolVar(&req.KeepWayBack, "keep-way-back", false, "do not finish by itself: abort stays possible until reshelve movement finish")
	policyFlags(flags, &req.Policy)
	memory := size(256 << 20)
	flags.Var(&memory, "memory", "the memory to stay below when the target is a folder")
	metadataFlags(cmd, &req)
	selectionFlags(cmd, &req.Selection)
	allowPartialFlag(cmd, &req.Selection)
	cmd.MarkFlagsOneRequired("from", "from-cluster")
	cmd.MarkFlagsMutuallyExclusive("from", "from-cluster")
	cmd.MarkFlagsMutuallyExclusive("snapshot", "from-cluster")
	cmd.MarkFlagsRequiredTogether("from-cluster", "snapshot-to")
	_ = cmd.MarkFlagRequired("to")
	limits := &limitFlags{}
	limits.add(flags)
	cmd.RunE = p.verb(func(ctx context.Context, args []string) (err error) {
		if err := theSnapshot(cmd, &req.Selection, args); err != nil {
			return err
		}
		if req.Limits, err = limits.change(flags); err != nil {
			return err
		}
		if err := checkWork(&req); err != nil {
			return err
		}
		req.By = userName()
		req.NoWait = !*wait
		if err := readSteps(steps, &req.Transform); err != nil {
			return err
		}
		if req.FromCluster != "" {
			req.Repository = to
		}
		req.Memory, req.Logger = int64(memory), slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		counting := p.counting()
		defer counting.stop()
		req.Counting = counting.told
		if dry {
			preview, err := p.control.Preview(ctx, req)
			if err != nil {
				return err
			}
			return p.answerWith(preview.Outcome(), preview, func(w io.Writer) { printPreview(w, preview) })
		}
		req.Planned = func(preview *control.Preview) {
			counting.stop()
			p.planned(preview)
		}
		return p.begun(req.Place(), req.NoWait, func(told func(*control.Movement)) (*control.Movement, error) {
			return p.control.Migrate(ctx, req, told)
		})
	})
	return cmd
}

// begun shows how far a movement is while it is worked for, and prints its result; with noWait it was only started.
func (p *program) begun(place string, noWait bool, work func(told func(*control.Movement)) (*control.Movement, error)) error {
	follow := p.follow(place)
	defer follow.stop()
	m, err := work(follow.told)
	follow.stop()
	if m == nil {
		return err
	}
	if err == nil && !noWait {
		err = outcomeOf(m, place)
	}
	return p.answerWith(err, m, func(w io.Writer) { printMovement(w, m, place) })
}

// policyFlags are those of the leases of pieces.
func policyFlags(flags *pflag.FlagSet, p *work.Policy) {
	flags.DurationVar(&p.InitialLease, "initial-lease", p.InitialLease, "how long the first lease of a piece lasts; each next one lasts twice as long")
	flags.DurationVar(&p.Heartbeat, "heartbeat", p.Heartbeat, "how often a worker stores how far it is")
	flags.IntVar(&p.MaxAttempts, "max-attempts", p.MaxAttempts, "attempts without progress after which a piece has failed")
	flags.DurationVar(&p.ClockTolerance, "clock-tolerance", p.ClockTolerance, "how far this machine's clock may be from the coordination store's")
}

// checkWork refuses, by their flags, numbers with which nothing would get on.
func checkWork(req *control.MigrateRequest) error {
	switch {
	case req.AllowFailures < 0:
		return fault.WithNext(fault.New(fault.Usage, "--allow-failures is %d", req.AllowFailures), "name how many documents may fail, 0 for none")
	case req.Metadata.Shards < 0:
		return fault.WithNext(fault.New(fault.Usage, "--shards is %d", req.Metadata.Shards), "name how many shards each index gets, 0 for as many as it had")
	}
	return checkSlots(req.Workers, &req.Policy)
}

// checkSlots is checkWork for those of slots and their leases.
func checkSlots(workers int, p *work.Policy) error {
	switch {
	case workers < 1:
		err := fault.New(fault.Usage, "--workers is %d", workers)
		return fault.WithNext(err, "name at least 1: so many pieces are worked at; to work elsewhere only, use reshelve worker")
	case p.MaxAttempts < 1:
		return fault.WithNext(fault.New(fault.Usage, "--max-attempts is %d", p.MaxAttempts), "name at least 1: so many attempts are made before a piece has failed")
	}
	if err := fault.At(p.Check(), "--initial-lease, --heartbeat, --clock-tolerance"); err != nil {
		return fault.WithNext(err, "leave these flags out: %s, %s and %s suit most targets", work.Default.InitialLease, work.Default.Heartbeat, work.Default.ClockTolerance)
	}
	return nil
}

// commandFor is the command of a verb for a movement that place records.
func commandFor(verb string, m *control.Movement, place string) string {
	return control.Command("movement", verb, m.ID, "--at", place)
}

// outcomeOf is the error that the state of a movement, which place records, stands for; nil
// while all is well.
func outcomeOf(m *control.Movement, place string) error {
	switch m.State {
	case movement.Held:
		kind := fault.Held
		if m.Differs() {
			kind = fault.Differences
		}
		return fault.WithNext(fault.New(kind, "movement %s holds: %s", m.ID, cut(m.Cause, 160)), "%s", remedy(m, place))
	case movement.Running, movement.Paused, movement.Planned:
		err := fault.New(fault.Interrupted, "movement %s is %s%s, and not at its end", m.ID, m.State, orderedBy(m))
		if m.State == movement.Paused {
			return fault.WithNext(err, "%s", commandFor("resume", m, place))
		}
		if m.Reshaping != nil {
			return fault.WithNext(err, "%s", goesOn(m, place))
		}
		return fault.WithNext(err, "it goes on with %s", m.WorkerCommand(place))
	case movement.Aborting, movement.Aborted, movement.Reversing, movement.Reversed:
		return fault.New(fault.Conflict, "movement %s is %s%s: what it made does not stay", m.ID, m.State, orderedBy(m))
	case movement.Failed:
		return fault.WithNext(fault.New(fault.Held, "movement %s has failed: %s", m.ID, cut(m.Cause, 160)), "%s", remedy(m, place))
	}
	switch m.State {
	case movement.Damaged:
		return fault.WithNext(fault.New(fault.Corrupt, "movement %s: %s", m.ID, cut(m.Cause, 160)), "%s", remedy(m, place))
	case movement.Newer:
		return fault.WithNext(fault.New(fault.Refused, "movement %s: %s", m.ID, cut(m.Cause, 160)), "%s", remedy(m, place))
	}
	if m.Progress != nil && m.Progress.Failed > 0 {
		err := fault.New(fault.Failures, "movement %s is done, and %s failed", m.ID, have(m.Progress.Failed, "document"))
		return fault.WithNext(err, "see which: %s", commandFor("failures", m, place))
	}
	if n := m.Differences(); n > 0 {
		err := fault.New(fault.Differences, "movement %s is %s, and %s", m.ID, m.State, differ(n))
		return fault.WithNext(err, "see which: %s --output json", commandFor("status", m, place))
	}
	return nil
}

// differ says of so many documents that they do.
func differ(n int64) string {
	if n == 1 {
		return "1 document differs"
	}
	return counted(n, "document") + " differ"
}

// goesOn is who works for a split or a merge: the process that has its store open.
func goesOn(m *control.Movement, place string) string {
	if strings.Contains(place, "://") {
		return "the store goes on with it: " + commandFor("watch", m, place)
	}
	return "it goes on while the folder is served, or with " + m.WorkerCommand(place)
}

// nextOf is what somebody can do about a movement that place records.
func nextOf(m *control.Movement, place string) string {
	switch m.State {
	case movement.Switched:
		back := movement.Abort
		if m.Reshaping != nil {
			back = movement.Reverse
		}
		return fmt.Sprintf("all is done and the way back is open: %s, or %s", commandFor("finish", m, place), commandFor(string(back), m, place))
	case movement.Aborting, movement.Reversing, movement.Running:
		if m.Idle != "" {
			return m.WorkerCommand(place)
		}
		if m.Reshaping != nil {
			return goesOn(m, place)
		}
		if m.Progress != nil && m.Progress.Workers > 0 {
			return fmt.Sprintf("%s at work: %s; another one, which may speed it up: %s", counted(int64(m.Progress.Workers), "worker"), commandFor("watch", m, place), m.WorkerCommand(place))
		}
		return "it goes on while a worker works for it: " + m.WorkerCommand(place)
	case movement.Paused:
		return commandFor("resume", m, place)
	}
	return remedy(m, place)
}

// remedy is the next step of a movement's record, with commands that can be pasted.
func remedy(m *control.Movement, place string) string {
	return control.Orders(m.Next, m.ID, place)
}

func printMovement(w io.Writer, m *control.Movement, place string) {
	fmt.Fprintf(w, "movement %s: %s\n", m.ID, m.State)
	if m.Cause != "" {
		fmt.Fprintf(w, "cause: %s\n", oneLine(m.Cause))
	}
	if m.Idle != "" {
		fmt.Fprintf(w, "nobody works at it: %s\n", oneLine(m.Idle))
	}
	if next := nextOf(m, place); next != "" {
		fmt.Fprintf(w, "  → %s\n", oneLine(next))
	}
	if m.Progress != nil && m.State == movement.Running {
		for _, line := range totals(m.Progress) {
			fmt.Fprintln(w, oneLine(line))
		}
	} else if m.Progress != nil {
		for _, line := range hindrances(m.Progress) {
			fmt.Fprintln(w, oneLine(line))
		}
	}
	printReshaping(w, m)
	if m.Progress != nil && m.Kind == movement.Comparison {
		printCompared(w, m, place)
	} else if m.Progress != nil {
		printMigration(w, m, place)
	}
	for _, phase := range m.Phases {
		if !phase.Ended.IsZero() {
			what := ""
			if phase.Outcome != "" {
				what = oneLine(phase.Outcome) + ", "
			}
			fmt.Fprintf(w, "%s: %s%s\n", phase.Key(), what, spanText(phase.Ended.Sub(phase.Started)))
		}
	}
}

// printMigration tells what a migration has brought.
func printMigration(w io.Writer, m *control.Movement, place string) {
	t := newTable("INDEX", "TARGET", ">SHARDS", ">EXPECTED", ">SENT", ">ACKNOWLEDGED", ">NEWER THERE", ">FAILED", ">SOURCE BYTES")
	for _, i := range m.Progress.Indices {
		t.row(i.Source, i.Target, fmt.Sprint(i.Shards), count(i.Documents), count(i.Copied.Read), count(i.Copied.Acknowledged),
			count(i.Copied.Conflicts), count(i.Copied.Failed), bytesText(i.Copied.Bytes))
	}
	t.print(w)
	if m.State == movement.Aborted {
		fmt.Fprintln(w, "what it had made on the target was undone: the above is how far it had come")
	}
	printChanged(w, m)
	printSteps(w, m.Progress.Steps)
	printCollapsed(w, m.Progress)
	for _, v := range m.Progress.Verified {
		fmt.Fprintf(w, "%s: snapshot %s, target %s\n", v.Target, orDash(v.Expected), orDash(v.Found))
		if v.Others > 0 {
			fmt.Fprintf(w, "%s: %s there that the snapshot does not hold: the index was there before\n", v.Index, have(v.Others, "document"))
		}
	}
	printMissing(w, m, place)
	for _, text := range append(notBroughtBack(m), m.Progress.Left...) {
		fmt.Fprintln(w, oneLine(text))
	}
}

// Bounds of what is told of what a movement could not bring: JSON tells more of it.
const (
	toldCauses   = 5
	toldExamples = 3 // of each index; and of each class one
)

// printMissing tells why documents failed, and names some of those that differ.
func printMissing(w io.Writer, m *control.Movement, place string) {
	for i, c := range m.Progress.Failures {
		if i == toldCauses {
			fmt.Fprintf(w, "… and %s\n", counted(int64(len(m.Progress.Failures)-i), "more cause"))
			break
		}
		fmt.Fprintln(w, oneLine(fmt.Sprintf("failed: %s of %s: %s: %s", counted(c.Documents, "document"), c.Index, c.Type, cut(c.Reason, 160))))
	}
	if len(m.Progress.Failures) > 0 && !m.State.Ended() {
		fmt.Fprintf(w, "  → %s lists them one by one\n", commandFor("failures", m, place))
	}
	switch m.State {
	case movement.Held, movement.Failed, movement.Switched, movement.Finished:
	default: // what the last comparison has found is being mended, or does not stay
		return
	}
	for _, v := range m.Progress.Verified {
		told, more := v.Some(toldExamples)
		for _, e := range told {
			fmt.Fprintf(w, "differs: %s: %s\n", oneLine(v.Index), oneLine(e.String()))
		}
		if more {
			fmt.Fprintf(w, "differs: %s: … --output json tells more\n", oneLine(v.Index))
		}
	}
}

// notBroughtBack tells what an abort cannot undo: what was written into indices that were
// there before.
func notBroughtBack(m *control.Movement) (texts []string) {
	if m.State != movement.Aborting && m.State != movement.Aborted {
		return nil
	}
	for _, i := range m.Progress.Indices {
		n := i.Copied.Acknowledged
		if i.Changed != nil && i.Changed.Deleted > 0 {
			texts = append(texts, fmt.Sprintf("index %s lacks %s that the movement has deleted, as the source had: they are not brought back", i.Target, counted(i.Changed.Deleted, "document")))
		}
		if i.Existed && n > 0 {
			texts = append(texts, fmt.Sprintf("index %s was there before, and keeps %s that the movement has written: what they replaced is not brought back", i.Target, counted(n, "document")))
		}
	}
	return texts
}

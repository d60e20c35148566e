package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/spf13/cobra"
)

// worker is one of the processes that do what movements need.
func (p *program) worker() *cobra.Command {
	req := control.WorkerRequest{}
	memory, tokenFile := size(256<<20), ""
	cmd := &cobra.Command{
		Use:   "worker --join PLACE [flags]",
		Short: "Work for the movements of a place: as many workers as you like, anywhere",
		Long: `Work for the movements that a place records: the URL or the data folder of their target, or what
was given to migrate as --coordinate.

Workers know of each other only by the records in that place. One that is killed, or
loses its connection, leaves a lease behind that another takes over; one that gets
SIGTERM stores how far it is and gives its lease back. A place that does not answer is waited
for; with --once it is an error.

Records name the locations that documents are read from and written to, and everybody with write
access to the place can write records. So this process connects only to PLACE, to folders, and
to what --allow-repository, --allow-target and --allow-source name. It leaves a movement that
names other locations to other workers, and the log says which flag would allow it.`,
		Example: "  reshelve worker --join http://127.0.0.1:9200 --slots 4\n  reshelve worker --join ./data --once\n  reshelve worker --join postgres://search@db/movements --allow-repository s3://backups --allow-target https://search.example:9200",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Join, "join", "", "the place that records the movements: `URL|DIR|local:DIR|postgres://…`")
	flags.IntVar(&req.Slots, "slots", 1, "how many work items this process does at the same time")
	flags.BoolVar(&req.Once, "once", false, "end when there is nothing to do, print the movements that were met, and exit with the code of their state")
	flags.StringVar(&req.Listen, "listen", "", "listen at this `HOST:PORT`, for GET /health/live (200 while all slots work), /health/ready or /health (200 while the place answers, too), /_reshelve/movements and /_reshelve/metrics")
	flags.Var(&memory, "memory", "the memory to stay below when the place is a folder")
	flags.StringArrayVar(&req.Allow.Repositories, "allow-repository", nil, "a `PREFIX` of locations: movements may read repositories at and below it, and always in folders of this machine; may be repeated")
	flags.StringArrayVar(&req.Allow.Targets, "allow-target", nil, "the `URL` of a cluster that movements may write to, when PLACE is not a cluster: it gets the credentials in RESHELVE_TARGET_…; may be repeated")
	flags.StringArrayVar(&req.Allow.Sources, "allow-source", nil, "the `URL` of a cluster of which movements may take snapshots: it gets the credentials in RESHELVE_SOURCE_…; may be repeated")
	flags.StringVar(&tokenFile, "token-file", "", "a `FILE` with the token that requests to --listen must carry as Authorization: Bearer, except for health; without this flag, the token is in RESHELVE_TOKEN. An address beyond loopback needs one")
	flags.StringArrayVar(&req.AllowHosts, "allow-host", nil, "a `NAME` that requests to --listen without the token may have in Host, besides localhost, addresses and the name in --listen; may be repeated")
	_ = cmd.MarkFlagRequired("join")
	cmd.RunE = p.verb(func(ctx context.Context, _ []string) error {
		if req.Slots < 1 {
			return fault.WithNext(fault.New(fault.Usage, "--slots is %d", req.Slots), "name at least 1: so many pieces are worked at")
		}
		var err error
		if req.Token, err = token(tokenFile); err != nil {
			return err
		}
		req.Memory, req.Logger = int64(memory), slog.New(slog.NewTextHandler(p.stderr, nil))
		req.Listening = func(address string) { p.note("health on %s/health", address) }
		if req.Once && !p.quiet {
			p.note("looking for work at %s; what a killed worker held is taken over when it has missed three heartbeats", control.Bare(req.Join))
		}
		met, err := p.control.Work(ctx, req)
		if err != nil || !req.Once || ctx.Err() != nil {
			return err
		}
		for _, m := range met {
			err = cmp.Or(err, metOutcome(m, req.Join))
		}
		return p.answerWith(err, met, func(w io.Writer) {
			for _, m := range met {
				printMovement(w, m, req.Join)
			}
			if len(met) == 0 {
				fmt.Fprintln(w, "no movement has anything to do")
			}
		})
	})
	return cmd
}

// token is the content of a file, or of RESHELVE_TOKEN when no file is named.
func token(file string) (string, error) {
	if file == "" {
		return strings.TrimSpace(os.Getenv("RESHELVE_TOKEN")), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		err = fault.At(fault.Wrap(fault.Usage, err), "--token-file")
		return "", fault.WithNext(err, "name a file that holds a token, which this makes: openssl rand -hex 32 > %s; or set RESHELVE_TOKEN and leave the flag away", control.Quoted(file))
	}
	if len(bytes.TrimSpace(text)) == 0 {
		err := fault.At(fault.New(fault.Usage, "the file is empty"), "--token-file", file)
		return "", fault.WithNext(err, "write a token into it: openssl rand -hex 32 > %s", control.Quoted(file))
	}
	return string(bytes.TrimSpace(text)), nil
}

// metOutcome is the error that a movement's state stands for to a worker: that one was undone
// is what somebody has asked for.
func metOutcome(m *control.Movement, place string) error {
	if m.State == movement.Aborted || m.State == movement.Reversed {
		return nil
	}
	return outcomeOf(m, place)
}

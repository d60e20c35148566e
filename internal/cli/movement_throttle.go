package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// limitFlags are those that say how fast, and when, a movement may be.
type limitFlags struct {
	documents float64
	bytes     size
	hours     string
}

func (l *limitFlags) add(flags *pflag.FlagSet) {
	flags.Float64Var(&l.documents, "docs-per-second", 0, "how many documents all workers together send in a second, at most; 0: no limit")
	flags.Var(&l.bytes, "bytes-per-second", "how many bytes all workers together send in a second, at most; 0: no limit")
	flags.StringVar(&l.hours, "hours", "", "when it may be at work each day: `FROM-TO [ZONE]`, such as 22:00-06:00; no zone: this machine's. 00:00-24:00: always")
}

// change is what the flags that were given ask for.
func (l *limitFlags) change(flags *pflag.FlagSet) (c control.LimitsChange, err error) {
	if flags.Changed("docs-per-second") {
		c.DocumentsPerSecond = &l.documents
	}
	if flags.Changed("bytes-per-second") {
		bytes := float64(l.bytes)
		c.BytesPerSecond = &bytes
	}
	if flags.Changed("hours") {
		text := strings.TrimSpace(l.hours)
		if !strings.Contains(text, " ") {
			text += time.Now().Format(" -07:00") // workers may be elsewhere
		}
		hours, err := control.ParseHours(text)
		if err != nil {
			return c, fault.At(err, "--hours")
		}
		c.Hours = &hours
	}
	return c, nil
}

func (p *program) movementThrottle(at *string) *cobra.Command {
	var why string
	var none bool
	limits := &limitFlags{}
	cmd := &cobra.Command{
		Use:   "throttle ID",
		Short: "Change how fast, and when, a movement may be, while it runs",
		Long: `Change how fast, and when, a movement may be, while it runs. The limits are those of the
whole movement: each worker takes its part of them, and obeys within a heartbeat. A limit that
is not named stays as it is; --none lifts all of them, before those that are named are set.

Outside of its hours workers give their leases back and wait.

A split or a merge has one limit, --bytes-per-second: of segments that are written again to
shed what another shard owns.`,
		Example: "  reshelve movement throttle 20261121-221500-abcdef --docs-per-second 5000 --bytes-per-second 10MB --hours 22:00-06:00\n" +
			"  reshelve movement throttle 20261121-221500-abcdef --none --at ./data",
		Args: cobra.ExactArgs(1),
	}
	limits.add(cmd.Flags())
	cmd.Flags().BoolVar(&none, "none", false, "lift all limits")
	cmd.Flags().StringVar(&why, "why", "", "the `REASON`, for the movement's history")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		change, err := limits.change(cmd.Flags())
		switch {
		case err != nil:
			return err
		case !none && change == (control.LimitsChange{}):
			return fault.WithNext(fault.New(fault.Usage, "no limit is named"), "name --docs-per-second, --bytes-per-second or --hours, or --none")
		}
		order := control.Order{At: *at, ID: args[0], Verb: movement.Throttle, By: userName(), Why: why}
		if none {
			order.Rate = json.RawMessage("{}")
		}
		m, err := p.control.Throttle(ctx, order, change)
		if err != nil {
			return err
		}
		return p.answer(m, func(w io.Writer) { fmt.Fprintf(w, "movement %s: %s; limits: %s\n", m.ID, m.State, m.Limits()) })
	})
	return cmd
}

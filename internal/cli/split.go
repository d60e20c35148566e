package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/spf13/cobra"
)

// reshaping are the flags that split and merge share.
type reshaping struct {
	req    control.ReshapeRequest
	at     string
	dry    bool
	wait   bool
	budget time.Duration
	rate   size
}

func (r *reshaping) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.at, "at", control.DefaultAt, "the store: `URL|DIR`")
	flags.BoolVar(&r.dry, "dry-run", false, "show the plan, and start nothing")
	flags.BoolVar(&r.wait, "wait", true, "wait until it has ended, or holds; --wait=false starts it and leaves it to the process that serves the store")
	flags.BoolVar(&r.req.KeepWayBack, "keep-way-back", false, "do not finish by itself: reshelve movement reverse leads back until reshelve movement finish")
	flags.DurationVar(&r.budget, "pause-budget", 0, "how long requests may wait behind one hand-off, at most; 0: 250ms")
	flags.Var(&r.rate, "throttle", "how many bytes of segments are written again in a second, at most, to shed what another shard owns; 0: as much as searches leave room for")
	flags.StringVar(&r.req.Why, "why", "", "the `REASON`, for the movement's history")
}

// reshape plans a split or a merge, starts it, and shows it until it rests.
func (p *program) reshape(ctx context.Context, r *reshaping) error {
	r.req.AskedBy, r.req.Limits.BytesPerSecond = userName(), int64(r.rate)
	if r.budget < 0 {
		return fault.WithNext(fault.New(fault.Usage, "--pause-budget is %s, and must be positive", r.budget), "write 250ms, or 1s")
	}
	if r.budget > 0 {
		r.req.PauseBudget = r.budget.String()
	}
	if r.dry {
		plan, err := p.control.PreviewReshape(ctx, r.at, r.req)
		if err != nil {
			return err
		}
		return p.answerWith(plan.Outcome(), plan, func(w io.Writer) { printReshapePlan(w, plan) })
	}
	follow := p.follow(r.at)
	defer follow.stop()
	if r.wait {
		r.req.Wait = &control.WaitReshaping{Told: follow.told, Planned: func(plan *control.ReshapePlan) {
			if p.output == "text" && !p.quiet {
				printReshapePlan(p.stdout, plan)
			}
		}}
	}
	m, err := p.control.Reshape(ctx, r.at, r.req)
	follow.stop()
	if m == nil {
		return err
	}
	if err == nil && r.wait {
		err = outcomeOf(m, r.at)
	}
	return p.answerWith(err, m, func(w io.Writer) { printMovement(w, m, r.at) })
}

func printReshapePlan(w io.Writer, plan *control.ReshapePlan) {
	fmt.Fprintf(w, "%s of %s: %s", plan.Kind, oneLine(plan.Name), plan.Plan.Text(bytesText))
	fmt.Fprintf(w, "requests wait at most %s at the hand-off; until what is not owned has been shed, at most %s more of disk\n", plan.PauseBudget, bytesText(plan.Worst))
	if len(plan.Refusals) == 1 {
		return // the error says it
	}
	for _, refusal := range plan.Refusals {
		fmt.Fprintf(w, "! %s\n", oneLine(refusal.Message))
		if refusal.Next != "" {
			fmt.Fprintf(w, "  → %s\n", oneLine(refusal.Next))
		}
	}
}

func (p *program) split() *cobra.Command {
	r := &reshaping{req: control.ReshapeRequest{Kind: movement.Split}}
	var shard uint32
	cmd := &cobra.Command{
		Use:   "split INDEX [flags]",
		Short: "Cut shards of an index into several, while it answers",
		Long: `Cut shards of an index into several, while it answers reads and writes.

No document is copied or indexed again: the new shards share the segments of the old one,
and what each does not own is shed behind the scenes. The ranges are handed over in one step,
during which requests wait for some milliseconds, within --pause-budget; then every document
is compared. The plan is printed first, but for --wait=false.

--by cuts every shard into so many equal ranges; --into one shard into so many in all, of
which it keeps the lowest; --cut before each key: 16 hexadecimal digits, or a 32-bit routing
hash as 0x40000000 or decimal; --halve-largest the shard with the most bytes into two that weigh
alike. Numbers of shards are never used again.

A folder that nobody serves is worked at by this process. Killed at any time, it goes on when
the store is served again, or with reshelve worker --join DIR --once.`,
		Example: `  reshelve split books --by 2 --at ./data
  reshelve split books --shard 0 --into 3 --keep-way-back
  reshelve split books --shard 0 --cut 0x40000000,c000000000000000 --dry-run
  reshelve split books --halve-largest --pause-budget 100ms --at http://127.0.0.1:9200`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.IntVar(&r.req.By, "by", 0, "cut every shard into `M` equal ranges")
	flags.IntVar(&r.req.Into, "into", 0, "cut the shard into `K` equal ranges in all")
	flags.StringSliceVar(&r.req.Cut, "cut", nil, "cut the shard before each `KEY`")
	flags.BoolVar(&r.req.HalveLargest, "halve-largest", false, "cut the shard with the most bytes into two that weigh alike")
	flags.Uint32Var(&shard, "shard", 0, "the shard that --into and --cut are about; an index of one shard needs none")
	r.add(cmd)
	cmd.MarkFlagsOneRequired("by", "into", "cut", "halve-largest")
	cmd.MarkFlagsMutuallyExclusive("by", "into", "cut", "halve-largest")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		r.req.Index = args[0]
		if flags.Changed("shard") {
			r.req.Shard = &shard
		}
		return p.reshape(ctx, r)
	})
	return cmd
}

func (p *program) merge() *cobra.Command {
	r := &reshaping{req: control.ReshapeRequest{Kind: movement.Merge}}
	var shards []string
	cmd := &cobra.Command{
		Use:   "merge INDEX --shards A,B[,C]|A-C|all [flags]",
		Short: "Join neighbouring shards of an index into one, while it answers",
		Long: `Join neighbouring shards of an index into one, while it answers reads and writes. The one
with the lowest range keeps its number. It goes as a split does: see "reshelve split --help".`,
		Example: `  reshelve merge books --shards 0,1 --at ./data
  reshelve merge books --shards 0,2,3 --dry-run --output json
  reshelve merge books --shards 0-255
  reshelve merge books --shards all`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringSliceVar(&shards, "shards", nil, "the neighbours: `A,B[,C]`, a range of numbers such as 0-255, or all: the whole index")
	r.add(cmd)
	_ = cmd.MarkFlagRequired("shards")
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		r.req.Index = args[0]
		var err error
		if r.req.Shards, err = p.shardsOf(ctx, r, shards); err != nil {
			return err
		}
		return p.reshape(ctx, r)
	})
	return cmd
}

// shardsOf are the shards that --shards names: "all" are those that the index has now.
func (p *program) shardsOf(ctx context.Context, r *reshaping, texts []string) (all []uint32, err error) {
	if len(texts) != 1 || texts[0] != "all" {
		all, err = shardNumbers(texts)
		return all, fault.WithNext(err, "%s lists them", control.Command("placement", r.req.Index, "--at", r.at))
	}
	status, err := p.control.Placement(ctx, r.at, r.req.Index)
	if err != nil {
		return nil, err
	}
	for _, row := range status.Shards {
		all = append(all, row.Shard)
	}
	return all, nil
}

// mostShards is how many shards one --shards may name.
const mostShards = 1 << 16

// shardNumbers reads numbers of shards, and ranges of them such as "0-255".
func shardNumbers(texts []string) (all []uint32, err error) {
	for _, text := range texts {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.ParseUint(first, 10, 32)
		to, errTo := strconv.ParseUint(last, 10, 32)
		if errFrom != nil || errTo != nil || from > to {
			return nil, fault.New(fault.Usage, "--shards: %q is neither the number of a shard nor a range such as 0-255, nor all", text)
		}
		if to-from >= uint64(mostShards-len(all)) {
			return nil, fault.New(fault.Usage, "--shards: more than %d shards are named", mostShards)
		}
		for n := from; n <= to; n++ {
			all = append(all, uint32(n))
		}
	}
	return all, nil
}

package reshard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// all does what the reshaping owes, of some deeds, until it owes nothing of them. Text tells
// people what was done, to each group.
func (t *turn) all(ctx context.Context, deeds []transfer.Deed) (text string, err error) {
	var told []string
	for {
		_, r, err := t.read(ctx)
		if err != nil || r == nil {
			return strings.Join(told, "; "), err
		}
		owed := slices.DeleteFunc(r.Owed(), func(e transfer.Effect) bool { return !slices.Contains(deeds, e.Do) })
		if len(owed) == 0 {
			return strings.Join(told, "; "), differing(r, deeds)
		}
		done, err := t.do(ctx, r, owed[0])
		if err != nil {
			return strings.Join(told, "; "), err
		}
		if done != "" {
			told = append(told, done)
		}
	}
}

// differing is the error of a group that owes nothing because a comparison has found
// differences.
func differing(r *transfer.Record, deeds []transfer.Deed) error {
	for i := range r.Groups {
		g := &r.Groups[i]
		switch {
		case g.Status != transfer.Goes:
		case !g.HandedOff() && g.Cloned.Differences > 0 && slices.Contains(deeds, transfer.Compare):
			return fault.WithNext(fault.New(fault.Corrupt, "%s: %d differences between the shards and what they would become: nothing was handed off", names(g), g.Cloned.Differences),
				"movement status tells examples; abort it, and let the index be read as it is")
		case g.HandedOff() && g.AtH.Differences > 0 && slices.Contains(deeds, transfer.CompareAtH):
			return fault.WithNext(fault.New(fault.Corrupt, "%s: %d differences between the documents and what is found, at the hand-off", names(g), g.AtH.Differences),
				"movement status tells examples; verify it again, or reverse it")
		}
	}
	return nil
}

// names are the shards of a group, for people.
func names(g *transfer.Group) string {
	numbers := make([]uint32, len(g.Sources))
	for i := range g.Sources {
		numbers[i] = g.Sources[i].Shard
	}
	return named(numbers)
}

// named are some shards, for people.
func named(numbers []uint32) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("shard %d", numbers[0])
	}
	return "shards " + placement.Numbers(numbers)
}

// do does one deed.
func (t *turn) do(ctx context.Context, r *transfer.Record, e transfer.Effect) (text string, err error) {
	switch e.Do {
	case transfer.MakeClone, transfer.Compare:
		return t.clone(ctx, e.Group)
	case transfer.HandOff:
		return t.handOff(ctx, e.Group)
	case transfer.OpenTarget: // the hand-off has opened it
		return "", t.opened(ctx, r, e)
	case transfer.CompareAtH:
		return t.compareAtH(ctx, r, e.Group)
	case transfer.Shed:
		if err := t.shedGroup(ctx, r, e.Group); err != nil {
			return "", err
		}
		return "", t.tell(ctx, transfer.Event{Happened: transfer.WasShed, Group: e.Group, Shard: e.Shard})
	case transfer.Retire:
		return "", t.retire(ctx, r, e)
	case transfer.Drop:
		if err := t.Store.Unstage(ctx, t.plan.Shards.Index); err != nil {
			return "", err
		}
		return "", t.tell(ctx, transfer.Event{Happened: transfer.WasDropped, Group: e.Group})
	}
	return "", fault.New(fault.Bug, "a reshaping owes %q", e.Do)
}

func (t *turn) opened(ctx context.Context, r *transfer.Record, e transfer.Effect) error {
	g := &r.Groups[e.Group]
	return t.tell(ctx, transfer.Event{Happened: transfer.Opened, Group: e.Group, Shard: e.Shard, At: atH(g)})
}

// retire sees to it that a source that goes on has shed, and forgets one that keeps nothing.
func (t *turn) retire(ctx context.Context, r *transfer.Record, e transfer.Effect) error {
	p, _, err := t.read(ctx)
	if err != nil {
		return err
	}
	switch _, goesOn := p.Shard(e.Shard); {
	case !goesOn:
		err = t.Store.ForgetShards(ctx, r.Index, []uint32{e.Shard})
	case slices.Contains(targets(&r.Groups[e.Group]), e.Shard):
		err = t.shedGroup(ctx, r, e.Group)
	default:
		err = t.shedOne(ctx, e.Shard)
	}
	if err != nil {
		return err
	}
	return t.tell(ctx, transfer.Event{Happened: transfer.Retired, Group: e.Group, Shard: e.Shard})
}

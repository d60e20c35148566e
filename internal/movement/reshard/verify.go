package reshard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// compareAgain compares again, as they are now, the groups that were compared at H, since an operator
// has asked for it: nobody else may say that a difference is none any more. What was pinned is gone
// since the first time.
func (t *turn) compareAgain(ctx context.Context) (string, error) {
	_, r, err := t.read(ctx)
	if err != nil || r == nil {
		return "", err
	}
	var said []string
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Status != transfer.Goes || !g.HandedOff() || g.AtH.Run == 0 {
			continue
		}
		text, err := t.compareAtH(ctx, r, i)
		if err != nil {
			return "", err
		}
		said = append(said, text)
	}
	return strings.Join(said, "; "), nil
}

// compareAtH compares the rows at H with what the new owners showed there: on the readers
// that the hand-off has pinned, or, when the process that did has ended, as both are now.
func (t *turn) compareAtH(ctx context.Context, r *transfer.Record, group int) (text string, err error) {
	g := &r.Groups[group]
	handed, pinned := t.take(t.pinOf(g, group))
	var found Found
	where := "at the hand-off"
	if pinned {
		defer func() {
			if err != nil { // another attempt looks at the same
				t.pin(t.pinOf(g, group), handed)
				return
			}
			_ = handed.Staged.Close()
		}()
		found, err = t.compareHanded(ctx, g, handed)
	} else {
		where = "as they are now, since what was pinned at the hand-off was let go of"
		found, err = t.compareNow(ctx, r, g)
		found.Later = true
	}
	if err != nil {
		return "", err
	}
	if err := t.keep(ctx, group, "verify", found); err != nil {
		return "", err
	}
	err = t.tell(ctx, transfer.Event{Happened: transfer.VerifiedAtH, Group: group, At: atH(g), Run: g.AtH.Run + 1, Differences: found.Differences()})
	return fmt.Sprintf("%s: %d documents compared %s, %d differences", names(g), found.Documents, where, found.Differences()), err
}

// compareHanded compares what a hand-off pinned.
func (t *turn) compareHanded(ctx context.Context, g *transfer.Group, handed store.HandedOff) (Found, error) {
	var parts []part
	for i, number := range targets(g) {
		row, named := handed.Placement.Shard(number)
		if !named {
			return Found{}, fault.New(fault.Bug, "shard %d was handed off, and is not in the placement", number)
		}
		parts = append(parts, part{number, row.Range, handed.Staged.To[i]})
	}
	return truthful(ctx, t.breaks(), handed.Staged.From, parts)
}

// atH are the positions of a group's hand-off.
func atH(g *transfer.Group) []transfer.Position {
	h := make([]transfer.Position, len(g.Sources))
	for i := range g.Sources {
		h[i] = g.Sources[i].H
	}
	return h
}

// targets are the shards that a group becomes, in the order of incarnations.
func targets(g *transfer.Group) (all []uint32) {
	if g.Sources[0].Keeps != nil {
		all = append(all, g.Sources[0].Shard)
	}
	for i := range g.Targets {
		all = append(all, g.Targets[i].Shard)
	}
	return all
}

// compareNow compares the rows and the views of readers that each owner gives now.
func (t *turn) compareNow(ctx context.Context, r *transfer.Record, g *transfer.Group) (all Found, err error) {
	readers, err := t.Store.Readers(ctx, r.Index, targets(g))
	if err != nil {
		return all, err
	}
	defer func() {
		for _, reader := range readers {
			err = errors.Join(err, reader.Close())
		}
	}()
	p, _, err := t.read(ctx)
	if err != nil {
		return all, err
	}
	for i, number := range targets(g) {
		row, _ := p.Shard(number)
		found, err := truthful(ctx, t.breaks(), []shard.Reader{readers[i]}, []part{{number, row.Range, readers[i].Views()}})
		if err != nil {
			return all, err
		}
		all.merge(found)
	}
	return all, nil
}

// keep stores what a comparison has found.
func (t *turn) keep(ctx context.Context, group int, name string, found Found) error {
	return t.Driver.Put(ctx, t.key(name, group), found)
}

package store

import (
	"context"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// CheckRemains is fault.Refused where records say more of shards than an engine would still know: a
// hand-off that it had never heard of would leave shards without a state, above rows that they do not
// know, and a reshaping would wait for positions that do not come. Such records are of the same
// moment as what the engine has lost, and only a backup has both.
func CheckRemains(ctx context.Context, records coord.Store, known map[shard.ID]shard.Remains) error {
	all, err := records.List(ctx, "placement/")
	if err != nil {
		return err
	}
	for _, record := range all {
		p, err := placement.Decode(record.Value)
		if err == nil {
			err = checkRemains(p, known)
		}
		if err != nil {
			return fault.At(err, record.Key)
		}
	}
	return nil
}

func checkRemains(p placement.Placement, known map[shard.ID]shard.Remains) error {
	for _, row := range p.Shards {
		k, is := known[shard.ID{Index: p.Index, Number: row.Number}]
		_, staged := k.Staged[row.Term]
		if row.Term > 1 && !staged && (!is || k.Range != row.Range) {
			return fault.New(fault.Refused, "the hand-off by which shard %d of index %d got its range (%s, %s) is among the changes that would be lost", row.Number, p.Index, p.Last.By, p.Last.Why)
		}
	}
	r, found, err := transfer.Of(p)
	if err != nil || !found {
		return err
	}
	for i := range r.Groups {
		if at, lost := lostPosition(&r.Groups[i], p, known); lost {
			return fault.New(fault.Refused, "movement %s of index %s has come to change %d of shard %d, which is among those that would be lost", r.Movement, r.Name, at.SeqNo, at.Shard)
		}
	}
	return nil
}

// lostPosition is one that a group has come to, and that its shards would not know.
func lostPosition(g *transfer.Group, p placement.Placement, known map[shard.ID]shard.Remains) (at transfer.Position, lost bool) {
	last := func(number uint32) int64 {
		row, _ := p.Shard(number)
		k, is := known[shard.ID{Index: p.Index, Number: number}]
		if staged, of := k.Staged[row.Term]; of {
			return staged
		}
		if !is {
			return -1
		}
		return k.SeqNo
	}
	for _, s := range g.Sources {
		for _, at := range []transfer.Position{s.S, s.H} {
			if _, named := p.Shard(s.Shard); named && at.Term > 0 && last(s.Shard) < at.SeqNo {
				return at, true
			}
		}
		for _, t := range g.Targets {
			if g.HandedOff() && s.H.Term > 0 && last(t.Shard) < s.H.SeqNo {
				return s.H, true
			}
		}
	}
	return transfer.Position{}, false
}

package control

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// PlacementStatus are the shards of an index: who owns which order keys.
type PlacementStatus struct {
	Index   string        `json:"index"`
	Version int64         `json:"version" doc:"Of the placement"`
	Shards  []ShardStatus `json:"shards" doc:"By range: they own all order keys, each once"`
	// Coming are the targets of a reshaping that own nothing yet.
	Coming   []ShardStatus `json:"coming,omitempty" doc:"Shards that own nothing yet, and the ranges that the movement will give them"`
	Movement string        `json:"movement,omitempty" doc:"The id of the one that reshapes the index now"`
}

// ShardStatus is one shard. From and To are inclusive, 16 hexadecimal digits.
type ShardStatus struct {
	Shard uint32      `json:"shard"`
	From  routing.Key `json:"from"`
	To    routing.Key `json:"to"`
	Epoch int64       `json:"epoch" doc:"The version of the placement at which its ownership last changed"`
	State string      `json:"state" enum:"OPEN,SOURCE,CLONE,HANDOFF,SPLIT,DONE" doc:"OPEN: it takes no part in a reshaping"`
	Docs  int64       `json:"docs"`
	Bytes int64       `json:"bytes" doc:"Of ids, routing and sources, before compression"`
	Node  string      `json:"node"`
}

// The state of a shard that takes no part in a reshaping.
const stateOpen = "OPEN"

// Placement tells how the shards of an index are placed.
func (k *MovementService) Placement(ctx context.Context, index string) (*PlacementStatus, error) {
	s, err := k.served()
	if err != nil {
		return nil, err
	}
	view, err := s.PlacementView(ctx, index)
	if err != nil {
		return nil, noIndex(err, index)
	}
	told := &PlacementStatus{Index: index, Version: view.Version, Shards: []ShardStatus{}}
	states := map[uint32]string{}
	if len(view.Transfer) > 0 {
		r, err := transfer.Decode(view.Transfer)
		if err != nil {
			return nil, fault.At(err, "index "+index)
		}
		told.Movement, states = r.Movement, statesOf(&r)
		told.Coming = coming(&r)
	}
	for _, s := range view.Shards {
		state := stateOpen
		if named := states[s.Number]; named != "" {
			state = named
		}
		told.Shards = append(told.Shards, ShardStatus{Shard: s.Number, From: s.Range.From, To: s.Range.To, Epoch: s.Epoch, State: state, Docs: s.Docs, Bytes: s.Bytes, Node: s.Node})
	}
	return told, nil
}

// statesOf are those of the shards that take part in a reshaping, and own something. Before the
// hand-off the target of a merge has the number of a source, which is what it is then.
func statesOf(r *transfer.Record) map[uint32]string {
	states := map[uint32]string{}
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Status != transfer.Goes {
			continue
		}
		for j := range g.Sources {
			states[g.Sources[j].Shard] = string(g.Sources[j].State)
		}
		for j := range g.Targets {
			if g.HandedOff() {
				states[g.Targets[j].Shard] = string(g.Targets[j].State)
			}
		}
	}
	return states
}

// coming are the targets of groups that are yet to be handed off.
func coming(r *transfer.Record) (all []ShardStatus) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Status != transfer.Goes || g.HandedOff() {
			continue
		}
		for _, t := range g.Targets {
			all = append(all, ShardStatus{Shard: t.Shard, From: t.Range.From, To: t.Range.To, State: string(t.State)})
		}
	}
	return all
}

// reshapedBy is the movement that reshapes the index of a placement; "" when none does.
func reshapedBy(p placement.Placement) (string, error) {
	r, found, err := transfer.Of(p)
	if err != nil || !found {
		return "", err
	}
	return r.Movement, nil
}

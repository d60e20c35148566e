package control

import (
	"context"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// SetAside is what is left of a movement whose damaged record was set aside.
type SetAside struct {
	ID string `json:"id"`
	// Key is where the coordination store keeps the damaged record.
	Key string `json:"key"`
	// Made is what the movement has made, or was about to make, and which is not undone.
	Made []MadeThing `json:"made"`
}

// MadeThing is what a movement has made, or was about to make.
type MadeThing struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// SetAside takes the damaged record of a movement out of the way. What it has made stays, and is listed.
func (c *Control) SetAside(ctx context.Context, at, id string) (s *SetAside, err error) {
	err = c.with(ctx, at, func(ctx context.Context, d *drive.Driver, side *side) error {
		s, err = setAside(ctx, d, id)
		return ordered(claimed(ctx, side, id, at, err), id, at)
	})
	return s, err
}

func setAside(ctx context.Context, d *drive.Driver, id string) (*SetAside, error) {
	entries, _, err := d.ReadLedger(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &SetAside{ID: id, Made: []MadeThing{}}
	for _, e := range entries {
		s.Made = append(s.Made, MadeThing{e.Kind, e.Name})
	}
	s.Key, err = d.SetAside(ctx, id)
	return s, err
}

// writerOf is a movement of a place that may write to the target of a plan; nil when it does not.
func writerOf(ctx context.Context, records coord.Store, m *movement.Record, plan *migrate.Plan, several bool) (*otherMovement, error) {
	if Reshapes(m.Kind) || m.Kind == movement.Comparison && !repairs(m) || m.State.Ended() { // writers do not see shards, and who compares writes nothing
		return nil, nil
	}
	if !m.State.Unreadable() {
		other, err := migrate.ReadPlan(m)
		if err == nil {
			if several && other.Target != plan.Target { // one target by two names is met by their claims
				return nil, nil
			}
			return &otherMovement{id: m.ID, state: m.State, indices: written(&other)}, nil
		} else if !fault.Is(err, fault.Corrupt) {
			return nil, err
		}
	}
	indices, err := migrate.Traces(ctx, drive.New(records, 0), m.ID)
	return &otherMovement{id: m.ID, state: m.State, indices: indices}, err
}

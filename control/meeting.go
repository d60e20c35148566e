package control

import (
	"context"
	"slices"
	"time"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
)

// How long a movement that is about to start waits for another that has been stored, and has
// not started: it starts, or is forgotten, within a moment, unless whoever stored it is dead.
const (
	meetingWait  = 10 * time.Second
	meetingPause = 100 * time.Millisecond
)

// meeting is another movement that writes to an index of a plan.
type meeting struct {
	other *movement.Record
	index string
}

func (m *meeting) refusal() error {
	err := fault.New(fault.Conflict, "movement %s, which is %s, writes to index %s", m.other.ID, m.other.State, m.index)
	return fault.WithNext(err, "wait for it, or abort it: reshelve movement abort %s", m.other.ID)
}

// yields tells whether the other one, which was stored as own was, may still give way.
//
// A movement looks for others when its own record has been stored, so of two that start at the
// same time at least one sees the other. Were the one that was stored later with the lesser ID
// to go on whatever it sees, both would: the other had looked before. So nobody passes one that
// may have looked; the greater ID gives way, and the lesser waits to see what became of it.
func (m *meeting) yields(own string) bool {
	return m.other.State == movement.Planned && own != "" && m.other.ID > own
}

// refuseTwice refuses a plan whose indices another movement, which has not ended, writes to.
// Own is the plan's own movement, when it has been stored.
func refuseTwice(ctx context.Context, side *side, plan *migrate.Plan, own string) error {
	ctx, stop := context.WithTimeout(ctx, meetingWait)
	defer stop()
	for {
		all, err := drive.New(side.coord, 0).Movements(ctx)
		if err != nil {
			return err
		}
		met, err := meets(all, plan, own)
		if err != nil || met == nil {
			return err
		}
		if !met.yields(own) || drive.Wait(ctx, meetingPause) != nil {
			return met.refusal()
		}
	}
}

// meets is the other movement that the plan meets, one that does not give way before any that
// may; nil when there is none.
func meets(all []movement.Record, plan *migrate.Plan, own string) (met *meeting, err error) {
	for i := range all {
		m := &all[i]
		if Reshapes(m.Kind) || m.State.Ended() || m.ID == own { // shards are not seen by who writes
			continue
		}
		other, err := migrate.ReadPlan(m)
		if err != nil {
			return nil, err
		}
		index, both := common(plan, &other)
		if !both {
			continue
		}
		met = &meeting{m, index}
		if !met.yields(own) {
			return met, nil
		}
	}
	return met, nil
}

// common is an index to which both plans write.
func common(a, b *migrate.Plan) (name string, both bool) {
	for i := range a.Indices {
		for _, name := range a.Indices[i].Targets() {
			if slices.ContainsFunc(b.Indices, func(o migrate.Index) bool { return slices.Contains(o.Targets(), name) }) {
				return name, true
			}
		}
	}
	return "", false
}

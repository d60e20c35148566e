package worker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Tidy removes what was kept under the closing keys of movements that have ended, or are
// forgotten: a process that died right after it had told an end has left it. What it holds does
// not matter, and may be damaged.
func Tidy(ctx context.Context, d *drive.Driver) error {
	kept, err := d.Keys(ctx, closing)
	if err != nil {
		return err
	}
	over := map[string]bool{}
	for _, key := range kept {
		id, _, _ := strings.Cut(key, "/")
		if _, known := over[id]; !known {
			m, err := d.Movement(ctx, id)
			if err != nil && !fault.Is(err, fault.NotFound) && !drive.IsUnread(err) {
				return err
			}
			over[id] = fault.Is(err, fault.NotFound) || err == nil && m.State.Ended() // of a record that cannot be read nobody knows
		}
		if over[id] {
			if err := d.Remove(ctx, closing+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// TidyEnded removes what was left of movements that have ended: besides what Tidy does, records of
// pieces that somebody who slept past the end has made, and died before he could see that. It asks
// once for each movement that is remembered, and is for the start of a process.
func TidyEnded(ctx context.Context, d *drive.Driver) error {
	all, err := d.Movements(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].State.Ended() {
			if err := d.RemoveAll(ctx, work.Prefix(all[i].ID)); err != nil {
				return err
			}
		}
	}
	return Tidy(ctx, d)
}

// arrives is within which what a process sent before it heard of the store again has come there.
const arrives = 2 * time.Second

// lastLook is how long a slot that is told to stop may take to see that it leaves nothing.
const lastLook = 4 * time.Second

// tidy is for a slot that has lost its lease, or may have: where the movement has ended meanwhile,
// which waits for leases but not for who sleeps past one, a record that the slot was just making
// is left. Then it is removed, and that the lease was lost is no error any more.
func (s Slot) tidy(stopped context.Context, m *movement.Record, lost error) error {
	ctx, end := context.WithCancel(context.WithoutCancel(stopped))
	defer end()
	defer context.AfterFunc(stopped, func() { time.AfterFunc(lastLook, end) })()
	now, err := s.Driver.Movement(ctx, m.ID)
	if err != nil || !now.State.Ended() {
		return errors.Join(lost, err)
	}
	if err := drive.Wait(ctx, arrives); err != nil {
		return errors.Join(lost, err)
	}
	return errors.Join(s.Driver.RemoveAll(ctx, work.Prefix(m.ID)), Tidy(ctx, s.Driver))
}

package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// Nobody is said to work at a movement when no worker has held a piece of it for so long, unless it is known at once: a worker that
// has just begun, or is between two pieces, holds none.
const idleAfter = 30 * time.Second

// How often a watch looks at a place that nobody serves, which it opens for a moment, and how often it sees whether somebody serves it.
const (
	aloneEvery  = 30 * time.Second
	servedEvery = 500 * time.Millisecond
)

// idle says in a movement that has something to do when nobody works at it. Alone tells that no other process has its place open.
func (m *Movement) idle(alone bool, now time.Time) {
	switch {
	case len(m.Owed()) == 0:
		return
	case alone:
		m.Idle = "no process has the folder open"
		if m.Progress != nil {
			m.Progress.Workers = 0
		}
		return
	case m.Progress == nil || m.Progress.Workers > 0 || len(m.Progress.Hindrances) > 0:
		return
	}
	heard := m.Progress.Heard
	for _, at := range []time.Time{m.Created, m.Started} {
		if at.After(heard) {
			heard = at
		}
	}
	if n := len(m.Journal); n > 0 && m.Journal[n-1].At.After(heard) {
		heard = m.Journal[n-1].At
	}
	quiet := now.Sub(heard)
	plan, err := migrate.ReadPlan(&m.Record)
	if err == nil && quiet > max(idleAfter, 6*plan.Policy.Heartbeat) {
		m.Idle = fmt.Sprintf("no worker has held a piece of it for %s (one that runs says in its log, and in /health, what it waits for)", quiet.Round(time.Second))
	}
}

// idleMovements says in the records of movements for which nobody works that this is so, and how they go on.
func idleMovements(ctx context.Context, d *drive.Driver, s *side, all []movement.Record, at string) error {
	for i := range all {
		if len(all[i].Owed()) == 0 || all[i].Cause != "" {
			continue
		}
		m, err := (&lookout{d: d, side: s, id: all[i].ID, at: at, alone: s.alone}).look(ctx)
		if err != nil {
			return err
		}
		if m.Idle != "" {
			all[i].Cause, all[i].Next = "nobody works at it: "+m.Idle, m.WorkerCommand(at)
		}
	}
	return nil
}

// Watch looks at a movement until it ends, holds or has failed, and tells of each look. What it returns is the last. A folder that
// nobody serves is opened for moments alone, since whoever wants to work for the movement has to get in; and when the process that
// served it has gone, the folder itself is looked at.
func (c *Control) Watch(ctx context.Context, at, id string, told func(*Movement)) (m *Movement, err error) {
	for {
		alone := false
		err := c.with(ctx, at, func(ctx context.Context, d *drive.Driver, side *side) (err error) {
			l := &lookout{d: d, side: side, id: id, at: at, leaves: isFolder(at), alone: side.alone}
			if alone = side.alone; !alone {
				m, err = l.watch(ctx, told)
			} else if m, err = l.look(ctx); err == nil {
				told(m)
			}
			return ordered(err, id, at)
		})
		switch {
		case ctx.Err() != nil:
			return m, context.Cause(ctx)
		case err == nil && (m == nil || rests(&m.Record)):
			return m, nil
		case err != nil && (m == nil || !isFolder(at) || !drive.Passing(err)):
			return m, err
		}
		if err := untilServed(ctx, at, alone); err != nil {
			return m, err
		}
	}
}

// isFolder tells whether a place is a folder, which one process has open at a time.
func isFolder(at string) bool { return strings.HasPrefix(at, "local:") || !strings.Contains(at, "://") }

// untilServed waits until somebody serves a folder, or it is time to look at it again; not at all where nothing is known yet.
func untilServed(ctx context.Context, at string, alone bool) error {
	if !alone {
		return drive.Wait(ctx, servedEvery)
	}
	dir := strings.TrimPrefix(at, "local:")
	for end := time.Now().Add(aloneEvery); time.Now().Before(end); {
		if err := drive.Wait(ctx, servedEvery); err != nil {
			return err
		}
		if conn, err := dialInside(ctx, dir); err == nil {
			return conn.Close()
		}
	}
	return nil
}

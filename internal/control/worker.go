package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// WorkerRequest asks this process to work for the movements of a place.
type WorkerRequest struct {
	Join   string // the place: the URL or the data folder of the target, or a coordination store
	Slots  int    // pieces at a time; 1
	Once   bool   // end when there is nothing to do
	Memory int64  // bytes to stay below when the place is a folder
	Listen string // HOST:PORT of the health endpoint; "": none
	// Token is what a request to the endpoint carries, but for GET /health; "": nothing, on
	// loopback alone. AllowHosts are names that a request without it may have in Host.
	Token      string
	AllowHosts []string
	// Allow is where the records of the place may lead, beside folders of this machine.
	Allow  Allowed
	Logger *slog.Logger
	// Listening is told the address of the health endpoint; nil: nobody is.
	Listening func(address string)
}

// Work works for all movements of a place, until ctx ends or, when asked so, until there is
// nothing to do. It gives the movements that this process has done something for, and those
// that have not ended, by ID.
func (c *Control) Work(ctx context.Context, req WorkerRequest) (met []*Movement, err error) {
	bound, err := c.bound(req.Allow, "reshelve worker", true)
	if err != nil {
		return nil, err
	}
	board := &worker.Board{}
	o := worker.Options{Name: workerName(), Slots: req.Slots, Once: req.Once, Logger: req.Logger, Board: board}
	h := &health{name: o.Name, join: Bare(req.Join), board: board, began: time.Now(), listening: func() {}}
	if req.Listen != "" { // before the place is open: that may take long
		end, err := c.listenHealth(ctx, req, h)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	side, err := c.join(ctx, req, h)
	if side == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, side.leave()) }()
	h.joined(ctx, side.coord, c.newMovementService(side.coord))
	d := drive.New(side.coord, work.Default.ClockTolerance)
	switch err := worker.Run(ctx, d, bound.lanes(side), o); {
	case err != nil:
		return nil, err
	case ctx.Err() != nil && req.Once:
		return nil, fault.Wrap(fault.Interrupted, context.Cause(ctx))
	case ctx.Err() != nil: // it was told to stop, and has
		return nil, nil
	}
	return movementsMet(ctx, d, side, req.Join, board.Touched())
}

// The pauses between the attempts to open a place.
const (
	firstJoin   = time.Second
	longestJoin = 30 * time.Second
)

// join opens the place of a worker. One that cannot be reached is waited for, as often as it takes, unless the worker ends when
// there is nothing to do; any other error, which no waiting mends, ends it. It is nothing, without an error, when ctx has ended.
func (c *Control) join(ctx context.Context, req WorkerRequest, h *health) (*side, error) {
	said := ""
	for pause := firstJoin; ; pause = min(2*pause, longestJoin) {
		side, err := c.side(ctx, req.Join, false, req.Memory, req.Logger)
		switch {
		case err == nil:
			if said != "" {
				cmp.Or(req.Logger, slog.Default()).Info("the place answers", "place", h.join, "waited", time.Since(h.began).Round(time.Second))
			}
			return side, nil
		case ctx.Err() != nil && !req.Once:
			return nil, nil
		case req.Once || !drive.Passing(err):
			return nil, err
		}
		h.waits(err)
		if err.Error() != said {
			said = err.Error()
			cmp.Or(req.Logger, slog.Default()).Warn("this worker waits for its place", "place", h.join, "since", h.began.Format(time.RFC3339), "error", err, "next", fault.Next(err))
		}
		if drive.Wait(ctx, pause) != nil {
			return nil, nil
		}
	}
}

// movementsMet are those that a worker has touched, and those that have not ended.
func movementsMet(ctx context.Context, d *drive.Driver, side *side, at string, touched []string) (met []*Movement, err error) {
	all, err := d.Movements(ctx)
	if err != nil {
		return nil, err
	}
	met = []*Movement{}
	for i := range all {
		if _, found := slices.BinarySearch(touched, all[i].ID); !found && all[i].State.Ended() {
			continue
		}
		m, err := movementOf(ctx, d, side, all[i].ID, at)
		if err != nil {
			return nil, err
		}
		met = append(met, m)
	}
	return met, nil
}

// lanes are what this program can do for movements whose target is side.
func (c *Control) lanes(side *side) map[movement.Kind]worker.Lane {
	all := map[movement.Kind]worker.Lane{movement.Migrate: &migrate.Lane{
		Open: func(ctx context.Context, location string) (*snapshot.Repository, error) {
			return c.repository(ctx, location)
		},
		Reach:  func(ctx context.Context, target string) (*cluster.Client, error) { return side.reach(ctx, c, target) },
		Source: func(ctx context.Context, at string) (*cluster.Client, error) { return side.source(ctx, c, at) },
		Complete: func(ctx context.Context, id string, p migrate.Plan) (migrate.Plan, error) {
			return c.complete(ctx, side, id, p)
		},
		Records: func(ctx context.Context, at string) (coord.Store, func() error, error) {
			return c.recordsAt(ctx, side, at, false)
		},
	}}
	all[movement.Comparison] = all[movement.Migrate]
	if side.lane != nil {
		all[movement.Split], all[movement.Merge] = side.lane, side.lane
	}
	return all
}

package control

import (
	"context"
	"errors"
	"log/slog"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

// WorkerRequest asks this process to work for the movements of a place.
type WorkerRequest struct {
	Join   string // the place: the URL or the data folder of the target
	Slots  int    // pieces at a time; 1
	Once   bool   // end when there is nothing to do
	Memory int64  // bytes to stay below when the place is a folder
	Logger *slog.Logger
}

// Work works for all movements of a place, until ctx ends or, when asked so, until there is
// nothing to do.
func (c *Control) Work(ctx context.Context, req WorkerRequest) error {
	side, err := c.side(ctx, req.Join, false, req.Memory, req.Logger)
	if err != nil {
		return err
	}
	d := drive.New(side.coord, work.Default.ClockTolerance)
	err = worker.Run(ctx, d, c.lanes(side), worker.Options{Name: workerName(), Slots: req.Slots, Once: req.Once, Logger: req.Logger})
	return errors.Join(err, side.leave())
}

// lanes are what this program can do for movements whose target is side.
func (c *Control) lanes(side *side) map[movement.Kind]worker.Lane {
	return map[movement.Kind]worker.Lane{movement.Migrate: &migrate.Lane{
		Open: func(ctx context.Context, location string) (*snapshot.Repository, error) {
			return c.repository(ctx, location)
		},
		Reach:  func(ctx context.Context, target string) (*cluster.Client, error) { return side.reach(ctx, c, target) },
		Source: func(ctx context.Context, source string) (*cluster.Client, error) { return openSource(ctx, source) },
		Complete: func(ctx context.Context, id string, p migrate.Plan) (migrate.Plan, error) {
			return c.complete(ctx, side, id, p)
		},
	}}
}

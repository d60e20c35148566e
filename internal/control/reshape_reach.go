package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// reshaper plans and begins splits and merges, and looks after indices, where the store is open: a service, or one that is
// reached by HTTP.
type reshaper interface {
	PlanReshape(ctx context.Context, req ReshapeRequest) (*ReshapePlan, error)
	BeginReshape(ctx context.Context, req ReshapeRequest) (*Movement, error)
	Placement(ctx context.Context, index string) (*PlacementStatus, error)
	BeginUpkeep(ctx context.Context, index, verb string) (*Upkeep, error)
	Upkeep(ctx context.Context, index, verb string) (*Upkeep, error)
}

// Reshape plans a split or a merge at the store, starts it, and, if asked so, waits until it
// rests. A folder that nobody serves is opened, and worked for by this process as long as it
// waits.
func (c *Control) Reshape(ctx context.Context, at string, req ReshapeRequest) (m *Movement, err error) {
	req.At = Bare(at)
	err = c.reshaping(ctx, at, reshapeMemory, func(s *side, r reshaper) error {
		if req.Wait != nil {
			planned, err := r.PlanReshape(ctx, req)
			if err != nil {
				return err
			}
			req.Wait.Planned(planned)
			if err := planned.Outcome(); err != nil {
				return err
			}
		}
		if m, err = r.BeginReshape(ctx, req); err != nil || req.Wait == nil {
			return err
		}
		l := &lookout{d: drive.New(s.coord, work.Default.ClockTolerance), side: s, id: m.ID, at: req.At, every: 100 * time.Millisecond}
		m, err = l.watch(ctx, req.Wait.Told)
		return err
	})
	return m, err
}

// reshapeMemory is what a process aims to stay below that opens a folder to reshape it.
const reshapeMemory = 256 << 20

// PreviewReshape plans a split or a merge, and starts nothing.
func (c *Control) PreviewReshape(ctx context.Context, at string, req ReshapeRequest) (planned *ReshapePlan, err error) {
	req.At = Bare(at)
	err = c.planning().reshaping(ctx, at, 0, func(_ *side, r reshaper) error {
		planned, err = r.PlanReshape(ctx, req)
		return err
	})
	return planned, err
}

// Placement tells how the shards of an index are placed.
func (c *Control) Placement(ctx context.Context, at, index string) (status *PlacementStatus, err error) {
	err = c.reshaping(ctx, at, 0, func(_ *side, r reshaper) error {
		status, err = r.Placement(ctx, index)
		return err
	})
	return status, err
}

// reshaping reaches the process that has the store of a place open; this one, when none has.
func (c *Control) reshaping(ctx context.Context, at string, memory int64, use func(*side, reshaper) error) error {
	if isRecords(at) || isRecordsAlone(at) {
		return fault.WithNext(fault.At(fault.New(fault.Refused, "it records movements, and holds no documents"), at), "name the store: --at URL|DIR")
	}
	s, err := c.side(ctx, at, false, memory, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	var r reshaper = s.service
	if s.service == nil {
		server, err := s.client.Server(ctx)
		if err == nil && server.Product != cluster.Reshelve {
			err = fault.At(fault.New(fault.Refused, "it is no store of reshelve: only its own shards are split and merged"), Bare(at))
		}
		if err != nil {
			return errors.Join(err, s.leave())
		}
		r = &remoteMovementService{s.client}
	}
	return errors.Join(use(s, r), s.leave())
}

// remoteMovementService is the service of another process.
type remoteMovementService struct{ client *cluster.Client }

func (f *remoteMovementService) PlanReshape(ctx context.Context, req ReshapeRequest) (*ReshapePlan, error) {
	return send[ReshapePlan](ctx, f.client, "preview", req)
}

func (f *remoteMovementService) BeginReshape(ctx context.Context, req ReshapeRequest) (*Movement, error) {
	return send[Movement](ctx, f.client, "", req)
}

func (f *remoteMovementService) Placement(ctx context.Context, index string) (*PlacementStatus, error) {
	return fetch[PlacementStatus](ctx, f.client, cluster.Request{Method: http.MethodGet, Path: []string{"_reshelve", "placement", index}})
}

func send[T any](ctx context.Context, client *cluster.Client, below string, req ReshapeRequest) (*T, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	r := cluster.Request{Method: http.MethodPost, Path: []string{"_reshelve", "movements"}, Body: body}
	if below != "" {
		r.Path, r.Harmless = append(r.Path, below), true
	}
	return fetch[T](ctx, client, r)
}

package control

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// The kinds of upkeep.
const (
	CheckIndex   = "check"   // compare the stored documents with those that searches find
	RebuildIndex = "rebuild" // index all documents again
)

// Upkeep is a check or a rebuild of the shards of an index, one after the other. The index is searched and
// written to meanwhile.
type Upkeep struct {
	Index      string            `json:"index"`
	Verb       string            `json:"verb" enum:"check,rebuild"`
	State      string            `json:"state" enum:"running,done,failed"`
	Started    time.Time         `json:"started"`
	TookMillis int64             `json:"tookMillis"`
	Problem    *Problem          `json:"problem,omitempty" doc:"Why it has failed"`
	Checked    []reshard.Checked `json:"checked,omitempty" doc:"Of a check: the shards that were compared, by range"`
	Rebuilt    []Rebuilt         `json:"rebuilt,omitempty" doc:"Of a rebuild: the shards, by range"`
}

// Rebuilt is the progress of the rebuild of a shard.
type Rebuilt struct {
	Shard     uint32 `json:"shard"`
	Documents int64  `json:"documents" doc:"Documents that it had at the beginning"`
	Read      int64  `json:"read" doc:"Documents that were indexed again so far"`
	Done      bool   `json:"done" doc:"Searches use the new segments"`
}

const (
	upkeepRunning = "running"
	upkeepDone    = "done"
	upkeepFailed  = "failed"
)

// Outcome is the error that the answer stands for.
func (u *Upkeep) Outcome(at string) error {
	if u.Problem != nil {
		return u.Problem.Fault()
	}
	if err := u.damage(at); err != nil {
		return err
	}
	n := int64(0)
	for i := range u.Checked {
		n += u.Checked[i].Differences()
	}
	if n == 0 {
		return nil
	}
	err := fault.At(fault.New(fault.Differences, "%s not found as written", have(int(n), "document is", "documents are")), "index "+u.Index)
	return fault.WithNext(err, "%s indexes them again, while it answers", Command("index", RebuildIndex, u.Index, "--at", at))
}

// damage is the error of shards that a check could not compare, with what mends them.
func (u *Upkeep) damage(at string) error {
	var damaged []reshard.Checked
	rebuilds := true
	for i := range u.Checked {
		if u.Checked[i].Damage != "" {
			damaged = append(damaged, u.Checked[i])
			rebuilds = rebuilds && u.Checked[i].Rebuilds
		}
	}
	if len(damaged) == 0 {
		return nil
	}
	err := fault.At(fault.New(fault.Corrupt, "%d of %s cannot be compared; shard %d: %s", len(damaged), have(len(u.Checked), "shard", "shards"), damaged[0].Shard, damaged[0].Damage), "index "+u.Index)
	if !rebuilds {
		return fault.WithNext(err, "restore the data folder from a backup: files of its documents are damaged")
	}
	return fault.WithNext(err, "%s makes the files again out of the documents, while the index answers", Command("index", RebuildIndex, u.Index, "--at", at))
}

// upkeep is one that a service runs. Safe for concurrent use.
type upkeep struct {
	shards []placement.Shard // when it was begun
	mu     sync.Mutex
	status Upkeep
}

// current is a copy of the status.
func (u *upkeep) current() *Upkeep {
	u.mu.Lock()
	defer u.mu.Unlock()
	status := u.status
	status.Checked, status.Rebuilt = slices.Clone(status.Checked), slices.Clone(status.Rebuilt)
	if status.State == upkeepRunning {
		status.TookMillis = time.Since(status.Started).Milliseconds()
	}
	return &status
}

func (u *upkeep) update(change func(*Upkeep)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(&u.status)
}

// served is the store whose shards the service has open.
func (k *MovementService) served() (*store.Store, error) {
	if k.side == nil || k.side.lane == nil {
		return nil, fault.WithNext(fault.New(fault.Refused, "only the process that serves an index knows its shards"), "ask the store: --at URL|DIR")
	}
	return k.side.lane.Store, nil
}

// BeginUpkeep starts to check or to rebuild an index, and does not wait for the end. When the same is running
// already, the call returns its status.
func (k *MovementService) BeginUpkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
	s, err := k.served()
	if err != nil {
		return nil, err
	}
	view, err := s.PlacementView(ctx, index)
	if err != nil {
		return nil, noIndex(err, index)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := [2]string{index, verb}
	if u := k.upkeeps[key]; u != nil {
		if status := u.current(); status.State == upkeepRunning {
			return status, nil
		}
	}
	u := &upkeep{status: Upkeep{Index: index, Verb: verb, State: upkeepRunning, Started: time.Now()}}
	for _, row := range view.Shards {
		u.shards = append(u.shards, row.Shard)
		if verb == RebuildIndex {
			u.status.Rebuilt = append(u.status.Rebuilt, Rebuilt{Shard: row.Number, Documents: row.Docs})
		}
	}
	if k.upkeeps == nil {
		k.upkeeps = map[[2]string]*upkeep{}
	}
	k.upkeeps[key] = u
	k.tasks.Go(func() { u.run(k.ctx, s) })
	return u.current(), nil
}

// Upkeep is the last check, or the last rebuild, of an index since the start of the server.
func (k *MovementService) Upkeep(_ context.Context, index, verb string) (*Upkeep, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.upkeeps[[2]string{index, verb}]
	if u == nil {
		return nil, fault.WithNext(fault.At(fault.New(fault.NotFound, "no %s has been started since the start of this server", verb), "index "+index),
			"POST /_reshelve/indices/INDEX/%s starts one", verb)
	}
	return u.current(), nil
}

func (u *upkeep) run(ctx context.Context, s *store.Store) {
	var err error
	if u.status.Verb == CheckIndex {
		err = reshard.Check(ctx, s, u.status.Index, func(c reshard.Checked) {
			u.update(func(status *Upkeep) { status.Checked = append(status.Checked, c) })
		})
	} else {
		err = u.rebuild(ctx, s)
	}
	u.update(func(status *Upkeep) {
		status.State, status.TookMillis = upkeepDone, time.Since(status.Started).Milliseconds()
		if err != nil {
			problem := Tell(fault.At(err, "index "+status.Index))
			status.State, status.Problem = upkeepFailed, &problem
		}
	})
}

func (u *upkeep) rebuild(ctx context.Context, s *store.Store) error {
	p, err := s.PlacementOf(ctx, u.status.Index)
	if err != nil {
		return err
	}
	for i := range u.status.Rebuilt {
		progress := func(rows int64, done bool) {
			u.update(func(status *Upkeep) { status.Rebuilt[i].Read, status.Rebuilt[i].Done = rows, done })
		}
		read := int64(0)
		if err := s.Reindex(ctx, p.Index, u.status.Rebuilt[i].Shard, func(rows int64) { read = rows; progress(rows, false) }); err != nil {
			return err
		}
		progress(read, true)
	}
	p.Shards = u.shards
	return s.SameShards(ctx, p)
}

// RunUpkeep checks or rebuilds an index of the store at a place, and waits for the end; watch gets the status
// until then. When ctx ends first, a server goes on with it.
func (c *Control) RunUpkeep(ctx context.Context, at, index, verb string, watch func(*Upkeep)) (u *Upkeep, err error) {
	err = c.reshaping(ctx, at, reshapeMemory, func(_ *side, r reshaper) error {
		if u, err = r.BeginUpkeep(ctx, index, verb); err != nil {
			return err
		}
		for pause := 10 * time.Millisecond; u.State == upkeepRunning; pause = min(2*pause, time.Second) {
			watch(u)
			if err := drive.Wait(ctx, pause); err != nil {
				return err
			}
			if u, err = r.Upkeep(ctx, index, verb); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u, u.Outcome(at)
}

func (f *remoteMovementService) BeginUpkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
	return fetch[Upkeep](ctx, f.client, cluster.Request{Method: http.MethodPost, Path: []string{"_reshelve", "indices", index, verb}, Harmless: true})
}

func (f *remoteMovementService) Upkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
	return fetch[Upkeep](ctx, f.client, cluster.Request{Method: http.MethodGet, Path: []string{"_reshelve", "indices", index, verb}})
}

// Repairs count how often the shards of the served store were reindexed since they were opened; a service without
// a store has none.
func (k *MovementService) Repairs() []store.Repaired {
	s, err := k.served()
	if err != nil {
		return nil
	}
	return s.Repairs()
}

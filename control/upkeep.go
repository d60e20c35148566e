package control

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/reshard"
	"github.com/reshelve/reshelve/store"
)

// The upkeep of an index.
const (
	CheckIndex   = "check"   // compare what is there with what searches find
	RebuildIndex = "rebuild" // index all documents again
)

// Upkeep is one check or rebuilding of the shards of an index, one after the other. Indices are
// searched and written to meanwhile.
type Upkeep struct {
	Index      string            `json:"index"`
	Verb       string            `json:"verb" enum:"check,rebuild"`
	State      string            `json:"state" enum:"running,done,failed"`
	Started    time.Time         `json:"started"`
	TookMillis int64             `json:"tookMillis"`
	Problem    *Problem          `json:"problem,omitempty" doc:"Why it has failed"`
	Checked    []reshard.Checked `json:"checked,omitempty" doc:"Of a check: the shards that were compared, by range"`
	Rebuilt    []Rebuilt         `json:"rebuilt,omitempty" doc:"Of a rebuilding: the shards, by range"`
}

// Rebuilt is how far the rebuilding of a shard is.
type Rebuilt struct {
	Shard     uint32 `json:"shard"`
	Documents int64  `json:"documents" doc:"That it had at the beginning"`
	Read      int64  `json:"read" doc:"That were indexed again so far"`
	Done      bool   `json:"done" doc:"Searches use what was made"`
}

const (
	upkeepRuns = "running"
	upkeepDone = "done"
	upkeepFail = "failed"
)

// Outcome is the error that the answer stands for.
func (u *Upkeep) Outcome(at string) error {
	if u.Problem != nil {
		return u.Problem.Fault()
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

// upkeep is one that a desk does. Safe for concurrent use.
type upkeep struct {
	shards []placement.Shard // when it was begun
	mu     sync.Mutex
	told   Upkeep
}

func (u *upkeep) now() *Upkeep {
	u.mu.Lock()
	defer u.mu.Unlock()
	told := u.told
	told.Checked, told.Rebuilt = slices.Clone(told.Checked), slices.Clone(told.Rebuilt)
	if told.State == upkeepRuns {
		told.TookMillis = time.Since(told.Started).Milliseconds()
	}
	return &told
}

func (u *upkeep) tell(change func(*Upkeep)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(&u.told)
}

// served is the store of which the desk has the shards open.
func (k *Desk) served() (*store.Store, error) {
	if k.side == nil || k.side.lane == nil {
		return nil, fault.WithNext(fault.New(fault.Refused, "the shards of an index are known to the process that serves them"), "ask the store: --at URL|DIR")
	}
	return k.side.lane.Store, nil
}

// BeginUpkeep checks or rebuilds an index, and does not wait for the end. One that is under way is
// joined.
func (k *Desk) BeginUpkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
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
		if told := u.now(); told.State == upkeepRuns {
			return told, nil
		}
	}
	u := &upkeep{told: Upkeep{Index: index, Verb: verb, State: upkeepRuns, Started: time.Now()}}
	for _, shelf := range view.Shelves {
		u.shards = append(u.shards, shelf.Shard)
		if verb == RebuildIndex {
			u.told.Rebuilt = append(u.told.Rebuilt, Rebuilt{Shard: shelf.Number, Documents: shelf.Docs})
		}
	}
	if k.upkeeps == nil {
		k.upkeeps = map[[2]string]*upkeep{}
	}
	k.upkeeps[key] = u
	k.tasks.Go(func() { u.run(k.ctx, s) })
	return u.now(), nil
}

// Upkeep is the last check or rebuilding of an index that was begun since the start of the server.
func (k *Desk) Upkeep(_ context.Context, index, verb string) (*Upkeep, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.upkeeps[[2]string{index, verb}]
	if u == nil {
		return nil, fault.WithNext(fault.At(fault.New(fault.NotFound, "no %s was begun since this server was started", verb), "index "+index),
			"POST /_reshelve/indices/INDEX/%s begins one", verb)
	}
	return u.now(), nil
}

func (u *upkeep) run(ctx context.Context, s *store.Store) {
	var err error
	if u.told.Verb == CheckIndex {
		err = reshard.Check(ctx, s, u.told.Index, func(c reshard.Checked) {
			u.tell(func(told *Upkeep) { told.Checked = append(told.Checked, c) })
		})
	} else {
		err = u.rebuild(ctx, s)
	}
	u.tell(func(told *Upkeep) {
		told.State, told.TookMillis = upkeepDone, time.Since(told.Started).Milliseconds()
		if err != nil {
			problem := Tell(fault.At(err, "index "+told.Index))
			told.State, told.Problem = upkeepFail, &problem
		}
	})
}

func (u *upkeep) rebuild(ctx context.Context, s *store.Store) error {
	p, err := s.PlacementOf(ctx, u.told.Index)
	if err != nil {
		return err
	}
	for i := range u.told.Rebuilt {
		told := func(rows int64, done bool) {
			u.tell(func(told *Upkeep) { told.Rebuilt[i].Read, told.Rebuilt[i].Done = rows, done })
		}
		read := int64(0)
		if err := s.Reindex(ctx, p.Index, u.told.Rebuilt[i].Shard, func(rows int64) { read = rows; told(rows, false) }); err != nil {
			return err
		}
		told(read, true)
	}
	p.Shards = u.shards
	return s.SameShards(ctx, p)
}

// KeepUp checks or rebuilds an index of the store at a place, and waits for the end. Told gets how
// far it is. Where ctx ends before, a server goes on.
func (c *Control) KeepUp(ctx context.Context, at, index, verb string, told func(*Upkeep)) (u *Upkeep, err error) {
	err = c.reshaping(ctx, at, reshapeMemory, func(_ *side, r reshaper) error {
		if u, err = r.BeginUpkeep(ctx, index, verb); err != nil {
			return err
		}
		for pause := 10 * time.Millisecond; u.State == upkeepRuns; pause = min(2*pause, time.Second) {
			told(u)
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

func (f *farDesk) BeginUpkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
	return fetch[Upkeep](ctx, f.client, cluster.Request{Method: http.MethodPost, Path: []string{"_reshelve", "indices", index, verb}, Harmless: true})
}

func (f *farDesk) Upkeep(ctx context.Context, index, verb string) (*Upkeep, error) {
	return fetch[Upkeep](ctx, f.client, cluster.Request{Method: http.MethodGet, Path: []string{"_reshelve", "indices", index, verb}})
}

// Repairs are what the shards of the served store have indexed again since they were opened; none of
// a desk that has no store.
func (k *Desk) Repairs() []store.Repaired {
	s, err := k.served()
	if err != nil {
		return nil
	}
	return s.Repairs()
}

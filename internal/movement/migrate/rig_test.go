package migrate_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	shard "github.com/reshelve/reshelve/internal/store/shard/memory"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// rig is a migration from a repository of testdata into a store in memory.
type rig struct {
	*testing.T
	target     *cluster.Client
	driver     *drive.Driver
	lane       *migrate.Lane
	from       *snapshot.Snapshot
	repository string
	url        string // of the target
}

// newRig opens a snapshot; the target is empty.
func newRig(t *testing.T, repository, name string) *rig {
	t.Helper()
	ctx, quiet := t.Context(), slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := store.Open(ctx, coord.New(), shard.New(shard.Options{}), store.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	server := httptest.NewServer(gateway.New(s, gateway.Options{}))
	t.Cleanup(server.Close)
	r := &rig{T: t, url: server.URL, driver: drive.New(coord.New(), 0), repository: filepath.Join("../../../testdata/repositories", repository, "repo")}
	if r.target, err = cluster.New(server.URL, nil); err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context, location string) (*snapshot.Repository, error) {
		bucket, err := blob.Open(ctx, location, map[string]blob.Opener{"file": folder.Open})
		if err != nil {
			return nil, err
		}
		return snapshot.Open(ctx, bucket)
	}
	opened, err := open(ctx, r.repository)
	if err != nil {
		t.Fatal(err)
	}
	if r.from, err = opened.Find(ctx, name); err != nil {
		t.Fatal(err)
	}
	r.lane = &migrate.Lane{Open: open, Reach: func(context.Context, string) (*cluster.Client, error) { return r.target, nil }}
	return r
}

// plan is one that moves these indices under their names.
func (r *rig) plan(indices ...string) migrate.Plan {
	r.Helper()
	policy := work.Default
	policy.Heartbeat = 150 * time.Millisecond // an abort waits for three of them; a holder who misses three lets go
	p := migrate.Plan{Repository: r.repository, Snapshot: r.from.Name, SnapshotUUID: r.from.UUID, Version: r.from.Version, Target: "memory",
		Policy: policy, ItemBytes: 1 << 30, Digits: 1}
	for _, name := range indices {
		idx, err := r.from.Index(r.Context(), name)
		if err != nil {
			r.Fatal(err)
		}
		p.Indices = append(p.Indices, migrate.Index{Source: name, Target: name, Shards: idx.Shards})
	}
	return p
}

// start stores a movement and starts it. It is kept from finishing by itself, so that abort
// stays possible.
func (r *rig) start(p migrate.Plan) string {
	r.Helper()
	return r.startAs("m1", p)
}

func (r *rig) startAs(id string, p migrate.Plan) string {
	r.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		r.Fatal(err)
	}
	m := movement.Record{ID: id, Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: migrate.Phases(), KeepWayBack: true, Created: time.Now()}
	if err := r.driver.Plan(r.Context(), m); err != nil {
		r.Fatal(err)
	}
	r.tell(m.ID, movement.Start)
	return m.ID
}

func (r *rig) tell(id string, verb movement.Verb) {
	r.Helper()
	if _, _, err := r.driver.Apply(r.Context(), id, movement.Event{Verb: verb, By: "ann"}); err != nil {
		r.Fatal(err)
	}
}

// work works until the movement has nothing left to do, and gives it with its progress.
func (r *rig) work(id string) (movement.Record, *migrate.Progress) {
	r.Helper()
	err := worker.Run(r.Context(), r.driver, map[movement.Kind]worker.Lane{movement.Migrate: r.lane, movement.Comparison: r.lane},
		worker.Options{Name: "w", Slots: 2, Movement: id, Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		r.Fatal(err)
	}
	m, err := r.driver.Movement(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	p, err := migrate.ProgressOf(r.Context(), r.driver, &m)
	if err != nil {
		r.Fatal(err)
	}
	if len(m.Report) > 0 {
		p = &migrate.Progress{}
		if err := json.Unmarshal(m.Report, p); err != nil {
			r.Fatal(err)
		}
	}
	return m, p
}

// do asks the target; the answer is decoded into answer unless that is nil.
func (r *rig) do(method string, path []string, body string, answer any) {
	r.Helper()
	told, err := r.target.Do(r.Context(), method, path, nil, []byte(body))
	if err == nil && answer != nil {
		err = json.Unmarshal(told, answer)
	}
	if err != nil {
		r.Fatalf("%s %v: %v", method, path, err)
	}
}

// has tells whether the target has something at a path.
func (r *rig) has(path ...string) bool {
	_, err := r.target.Do(r.Context(), http.MethodGet, path, nil, nil)
	return err == nil
}

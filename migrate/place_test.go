package migrate_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/reshelve/reshelve/blob"
	"github.com/reshelve/reshelve/blob/folder"
	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/control"
	"github.com/reshelve/reshelve/coord"
	memory "github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/gateway"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
	shard "github.com/reshelve/reshelve/shard/memory"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/store"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// place is a store as a target, with a coordination store and a repository.
type place struct {
	t          *testing.T
	target     *cluster.Client
	url        string
	coord      coord.Store
	driver     *drive.Driver
	lane       *migrate.Lane
	repository *snapshot.Repository
}

// newPlace opens the repository in a folder of testdata, and an empty target.
func newPlace(t *testing.T, repository string) *place {
	t.Helper()
	ctx := t.Context()
	s, err := store.Open(ctx, memory.New(), shard.New(shard.Options{}), store.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway.New(control.NewStore(s), gateway.Options{}))
	t.Cleanup(func() {
		server.Close()
		_ = s.Close()
	})
	p := &place{t: t, url: server.URL, coord: memory.New()}
	p.driver = drive.New(p.coord, 0)
	if p.target, err = cluster.New(server.URL, nil); err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.Open(ctx, repository, map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		t.Fatal(err)
	}
	if p.repository, err = snapshot.Open(ctx, bucket); err != nil {
		t.Fatal(err)
	}
	p.lane = &migrate.Lane{
		Open:  func(context.Context, string) (*snapshot.Repository, error) { return p.repository, nil },
		Reach: func(context.Context, string) (*cluster.Client, error) { return p.target, nil },
	}
	return p
}

// plan plans a movement of one index of a snapshot, and starts it.
func (p *place) plan(id, from, index string, change func(*migrate.Plan)) {
	p.t.Helper()
	ctx := p.t.Context()
	found, err := p.repository.Find(ctx, from)
	if err != nil {
		p.t.Fatal(err)
	}
	idx, err := found.Index(ctx, index)
	if err != nil {
		p.t.Fatal(err)
	}
	policy := work.Default
	policy.Heartbeat = 20 * time.Millisecond
	plan := &migrate.Plan{SnapshotUUID: found.UUID, Snapshot: found.Name, Version: found.Version, Target: "here", Policy: policy, ItemBytes: 1 << 30,
		Indices: []migrate.Index{{Source: index, Target: index, Shards: idx.Shards}}}
	if change != nil {
		change(plan)
	}
	body, err := json.Marshal(plan)
	if err != nil {
		p.t.Fatal(err)
	}
	m := movement.Record{ID: id, Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: migrate.Phases(), KeepWayBack: true}
	if err := p.driver.Plan(ctx, m); err != nil {
		p.t.Fatal(err)
	}
	p.tell(id, movement.Start)
}

// tell lets a verb happen.
func (p *place) tell(id string, verb movement.Verb) {
	p.t.Helper()
	if _, _, err := p.driver.Apply(p.t.Context(), id, movement.Event{Verb: verb, By: "ann"}); err != nil {
		p.t.Fatal(err)
	}
}

// work works for a movement until it has nothing to do any more.
func (p *place) work(id string) (movement.Record, *migrate.Progress) {
	p.t.Helper()
	ctx := p.t.Context()
	err := worker.Run(ctx, p.driver, map[movement.Kind]worker.Lane{movement.Migrate: p.lane},
		worker.Options{Name: "w", Movement: id, Once: true, Pause: time.Millisecond, Logger: quiet})
	if err != nil {
		p.t.Fatal(err)
	}
	m, err := p.driver.Movement(ctx, id)
	if err != nil {
		p.t.Fatal(err)
	}
	progress := &migrate.Progress{}
	if len(m.Report) > 0 {
		err = json.Unmarshal(m.Report, progress)
	} else {
		progress, err = migrate.ProgressOf(ctx, p.driver, &m)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return m, progress
}

// holds is how many documents an index of the target has; -1 when there is no such index.
func (p *place) holds(index string) int64 {
	p.t.Helper()
	ctx := p.t.Context()
	if there, err := p.target.IndexExists(ctx, index); err != nil || !there {
		return -1
	}
	if err := p.target.Refresh(ctx, index); err != nil {
		p.t.Fatal(err)
	}
	n, err := p.target.Count(ctx, index)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

package migrate_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
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

// copied is a target with its coordination store, all in memory, and a copy of a repository
// that a test may damage.
type copied struct {
	t          *testing.T
	target     *cluster.Client
	driver     *drive.Driver
	repository string // a folder
	keep       bool   // the way back of what is started
	url        string // of the target
}

// quick are leases that tests need not wait for.
var quick = work.Policy{InitialLease: 10 * time.Second, Heartbeat: time.Second, MaxAttempts: 2, ClockTolerance: 5 * time.Second}

// newCopied copies testdata/repositories/NAME/repo.
func newCopied(t *testing.T, name string) *copied {
	t.Helper()
	s, err := store.Open(t.Context(), coord.New(), shard.New(shard.Options{}), store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	server := httptest.NewServer(gateway.New(s, gateway.Options{}))
	t.Cleanup(server.Close)
	target, err := cluster.New(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	p := &copied{t: t, target: target, driver: drive.New(coord.New(), 0), repository: filepath.Join(t.TempDir(), "repo"), url: server.URL}
	if err := os.CopyFS(p.repository, os.DirFS(filepath.Join("..", "..", "..", "testdata", "repositories", name, "repo"))); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *copied) open() *snapshot.Repository {
	p.t.Helper()
	r, err := openRepository(p.t.Context(), p.repository)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func openRepository(ctx context.Context, location string) (*snapshot.Repository, error) {
	bucket, err := blob.Open(ctx, location, map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		return nil, err
	}
	return snapshot.Open(ctx, bucket)
}

// lane is the lane as a new process has it.
func (p *copied) lane() *migrate.Lane {
	return &migrate.Lane{Open: openRepository, Reach: func(context.Context, string) (*cluster.Client, error) { return p.target, nil }}
}

// plan moves all indices of a snapshot under their names.
func (p *copied) plan(name string) migrate.Plan {
	p.t.Helper()
	s, err := p.open().Find(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	plan := migrate.Plan{Repository: p.repository, Snapshot: s.Name, SnapshotUUID: s.UUID, Version: s.Version, Policy: quick, ItemBytes: 16 << 10}
	for _, name := range s.Indices {
		idx, err := s.Index(p.t.Context(), name)
		if err != nil {
			p.t.Fatal(err)
		}
		plan.Indices = append(plan.Indices, migrate.Index{Source: name, Target: name, Shards: idx.Shards, Documents: 100, Bytes: 10000})
	}
	return plan
}

// start plans a movement and starts it.
func (p *copied) start(id string, plan migrate.Plan) {
	p.t.Helper()
	body, err := json.Marshal(plan)
	if err != nil {
		p.t.Fatal(err)
	}
	m := movement.Record{ID: id, Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: migrate.Phases(), Created: time.Now(), KeepWayBack: p.keep}
	if err := p.driver.Plan(p.t.Context(), m); err != nil {
		p.t.Fatal(err)
	}
	p.tell(id, movement.Start)
}

func (p *copied) tell(id string, verb movement.Verb) {
	p.t.Helper()
	if _, _, err := p.driver.Apply(p.t.Context(), id, movement.Event{Verb: verb, By: "a test"}); err != nil {
		p.t.Fatal(err)
	}
}

// work lets three slots of a new process work for a movement until it ends or holds.
func (p *copied) work(id string) (movement.Record, *migrate.Progress) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	err := worker.Run(ctx, p.driver, map[movement.Kind]worker.Lane{movement.Migrate: p.lane()}, worker.Options{
		Name: "test-" + time.Now().Format(time.RFC3339Nano), Slots: 3, Movement: id, Pause: 2 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil || ctx.Err() != nil {
		p.t.Fatal(err, ctx.Err())
	}
	return p.look(id)
}

// look is how a movement stands.
func (p *copied) look(id string) (movement.Record, *migrate.Progress) {
	p.t.Helper()
	m, err := p.driver.Movement(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	progress := &migrate.Progress{}
	if len(m.Report) > 0 {
		if err := json.Unmarshal(m.Report, progress); err != nil {
			p.t.Fatal(err)
		}
		return m, progress
	}
	if progress, err = migrate.ProgressOf(p.t.Context(), p.driver, &m); err != nil {
		p.t.Fatal(err)
	}
	return m, progress
}

// request asks the target for something that must succeed.
func (p *copied) request(method, path, body string) []byte {
	p.t.Helper()
	answer, err := p.target.Do(p.t.Context(), method, []string{path}, nil, []byte(body))
	if err != nil {
		p.t.Fatal(method, path, err)
	}
	return answer
}

func (p *copied) put(path []string, body string) {
	p.t.Helper()
	if _, err := p.target.Do(p.t.Context(), http.MethodPut, path, nil, []byte(body)); err != nil {
		p.t.Fatal(path, err)
	}
}

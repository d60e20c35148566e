package store

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Options of a store. The zero value of a field is its default.
type Options struct {
	By         string           // who is named in placements; "reshelve"
	Clock      func() time.Time // time.Now
	Logger     *slog.Logger     // slog.Default()
	PruneEvery time.Duration    // 30 s
	MaxShards  int              // of one index; 1024
	MaxSource  int64            // bytes of a document; 0: any number
}

func (o Options) withDefaults() Options {
	if o.By == "" {
		o.By = "reshelve"
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.PruneEvery == 0 {
		o.PruneEvery = 30 * time.Second
	}
	if o.MaxShards == 0 {
		o.MaxShards = 1024
	}
	return o
}

// Store answers requests on documents and indices. Safe for concurrent use.
type Store struct {
	coord   coord.Store
	engine  shard.Engine
	options Options

	admin turn            // of a change of names, settings, mappings or placements; see lock
	doubt bool            // under admin: whether the last change was made is not known
	names catalog.Writing // under admin
	view  atomic.Pointer[view]
	read  decoded

	handing turn // of a hand-off, or of who removes what is staged

	latency    latency
	vanishing  vanishing
	left       leftovers
	refresher  refresher
	points     points
	tasks      tasks
	background context.Context // until Close
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// Logger is where the store logs what nobody asked about.
func (s *Store) Logger() *slog.Logger { return s.options.Logger }

// Open reads the truth out of c, removes what an interrupted creation or deletion
// left over, opens every shard of every open index on e, and begins to refresh
// and prune. The store uses both alone, and closes neither.
func Open(ctx context.Context, c coord.Store, e shard.Engine, o Options) (*Store, error) {
	s := &Store{coord: c, engine: e, options: o.withDefaults(), admin: newTurn(), handing: newTurn()}
	s.background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.refresher.init()
	s.points.init()
	s.tasks.init()
	err := s.load(ctx)
	if err == nil {
		if err = s.agreeOnHidden(ctx); err != nil {
			err = joined(err, s.closeShards())
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	s.running.Go(func() { s.refreshDirty(s.background) })
	s.running.Go(func() { s.prune(s.background) })
	s.running.Go(func() { s.expire(s.background) })
	s.running.Go(func() { s.removeLeftovers(s.background) })
	return s, nil
}

// Close ends the background work and closes every shard. Requests must have ended.
func (s *Store) Close() error {
	s.stop()
	s.running.Wait()
	return s.closeShards()
}

// Health tells whether writes are taken, and how the disk is.
func (s *Store) Health() shard.Health { return s.engine.Health() }

// Holds counts the indices, and the documents of those that are open.
func (s *Store) Holds() (indices int, documents int64) {
	v := s.view.Load()
	for _, idx := range v.indices {
		for _, sh := range idx.shards {
			documents += sh.Stats().Docs
		}
	}
	return len(v.indices), documents
}

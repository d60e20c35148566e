package migrate

import (
	"context"
	"sync"

	"github.com/reshelve/reshelve/chance"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

// looks is in how many buckets a turn looks for an item before it waits a while.
const looks = 4

// search finds items for the slots of a process, a bucket at a time: the load on the
// coordination store does not grow with the number of items. Safe for concurrent use.
type search struct {
	mu    sync.Mutex
	phase string // that the sweep is of: another may have opened items again
	sweep *work.Sweep
}

// find is the key of an item that nobody works on; "" when none was found. Done is the
// outcome when all items have ended.
func (s *search) find(ctx context.Context, t *turn) (key string, done *worker.Outcome, err error) {
	for range looks {
		bucket := s.bucket(ctx, t)
		if bucket == "" {
			return "", s.ended(), nil
		}
		prefix := work.BucketPrefix(t.movement.ID, bucket)
		items, err := drive.Pieces[work.Item](ctx, t.Driver, prefix)
		if err != nil {
			return "", nil, err
		}
		s.saw(bucket, items)
		if key, _ := choose(ctx, items, t.plan.Policy, t.now(ctx)); key != "" {
			return prefix + key, nil, nil
		}
	}
	return "", nil, nil
}

// bucket is one that may hold work, at random.
func (s *search) bucket(ctx context.Context, t *turn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := t.movement.Current().Key(); s.sweep == nil || s.phase != key {
		s.phase, s.sweep = key, work.NewSweep(t.plan.Digits)
	}
	return s.sweep.Bucket(chance.N(ctx, uint(1<<31)))
}

func (s *search) saw(bucket string, items map[string]work.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep.Saw(bucket, items)
}

func (s *search) ended() *worker.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, failed := s.sweep.Counts()
	outcome := endedWith(all, failed, "items")
	return &outcome
}

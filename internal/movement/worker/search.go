package worker

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Choose picks a piece that can be claimed at now, at random; left is how many have not ended.
func Choose[T any, P drive.Piece[T]](ctx context.Context, pieces map[string]T, p work.Policy, now time.Time) (key string, left int) {
	var free []string
	for key, piece := range pieces {
		lease := P(&piece).Base()
		if lease.State != work.Waiting {
			continue
		}
		left++
		if !lease.Leased(p, now) {
			free = append(free, key)
		}
	}
	if len(free) == 0 {
		return "", left
	}
	slices.Sort(free)
	return free[chance.N(ctx, len(free))], left
}

// looks is in how many buckets a turn looks for an item before it waits a while.
const looks = 2

// Search finds items for the slots of a process, a bucket at a time: the load on the
// coordination store does not grow with the number of items. Whether all have ended one worker
// at a time finds out for all, which looks into every bucket: were it left to chance, each
// would have to meet every bucket. The zero value is ready. Safe for concurrent use.
type Search struct {
	mu    sync.Mutex
	phase string // that the sweep is of: another may have opened items again
	sweep *work.Sweep
}

// Found is what a look for items has come to.
type Found struct {
	Key    string // of an item that can be claimed; "": none was seen
	Ended  bool   // all items have ended: so many, of which so many failed
	All    int
	Failed int
}

// census is the piece of finding out whether all items of a phase have ended. Once it is done
// it tells everybody.
type census struct {
	work.Lease
	All    int `json:"all"`
	Failed int `json:"failed"`
}

// Find looks for an item, which lie in buckets of so many digits, of the current phase of m.
func (s *Search) Find(ctx context.Context, slot Slot, m *movement.Record, p work.Policy, digits int) (Found, error) {
	sweep := s.of(m, digits)
	for range looks {
		bucket := s.bucket(ctx, sweep)
		if bucket == "" {
			break
		}
		if key, err := s.look(ctx, slot, m, p, sweep, bucket); err != nil || key != "" {
			return Found{Key: key}, err
		}
	}
	return s.count(ctx, slot, m, p, sweep)
}

// of is what is known of the items in the current phase.
func (s *Search) of(m *movement.Record, digits int) *work.Sweep {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := m.Current().Key(); s.sweep == nil || s.phase != key {
		s.phase, s.sweep = key, work.NewSweep(digits)
	}
	return s.sweep
}

// bucket is one that may hold work, at random.
func (s *Search) bucket(ctx context.Context, sweep *work.Sweep) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sweep.Bucket(chance.N(ctx, uint(1<<31)))
}

// look is the key of an item of a bucket that can be claimed; "": there is none.
func (s *Search) look(ctx context.Context, slot Slot, m *movement.Record, p work.Policy, sweep *work.Sweep, bucket string) (key string, err error) {
	prefix := work.BucketPrefix(m.ID, bucket)
	items, err := drive.Pieces[work.Item](ctx, slot.Driver, prefix)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	sweep.Saw(bucket, items)
	s.mu.Unlock()
	now, _ := slot.Driver.Passed(ctx) // without it nothing looks free that was claimed
	if key, _ = Choose(ctx, items, p, now); key != "" {
		key = prefix + key
	}
	return key, nil
}

// count looks into every bucket, until an item is free, or all have ended; nothing is found
// while another worker does that.
func (s *Search) count(ctx context.Context, slot Slot, m *movement.Record, p work.Policy, sweep *work.Sweep) (found Found, err error) {
	key := work.Prefix(m.ID) + "phase/" + work.Safe(m.Current().Key()) + ".ended"
	p.MaxAttempts = math.MaxInt // no one who dies of it is the worse for having tried
	held, there, err := claimNew(ctx, slot, m, key, p, census{Lease: work.Lease{CreatorID: slot.Worker}})
	if err != nil || held == nil {
		return Found{Ended: there.State == work.Done, All: there.All, Failed: there.Failed}, err
	}
	err = Beating(slot, m, held, p, held.Beat, func(ctx context.Context) error {
		found, err = s.lookEverywhere(ctx, slot, m, p, sweep)
		return err
	})
	switch {
	case err == nil && !found.Ended:
		return found, held.Return()
	case hopeless(err) && !Moved(err) && ctx.Err() == nil: // it lies with the items, or with this worker: another may count them yet
		return found, errors.Join(err, held.Release(err.Error()))
	case err == nil:
		err = held.Update(func(c census, _ time.Time) (census, error) {
			c.All, c.Failed = found.All, found.Failed
			return c, nil
		})
	}
	_, err = Settle(ctx, held, err)
	return found, err
}

func (s *Search) lookEverywhere(ctx context.Context, slot Slot, m *movement.Record, p work.Policy, sweep *work.Sweep) (Found, error) {
	for pause := p.Heartbeat / 64; ; pause = min(2*pause, p.Heartbeat) { // what is left may end in a moment
		s.mu.Lock()
		open := sweep.Open()
		all, failed := sweep.Counts()
		s.mu.Unlock()
		if len(open) == 0 {
			return Found{Ended: true, All: all, Failed: failed}, nil
		}
		for _, bucket := range open {
			if key, err := s.look(ctx, slot, m, p, sweep, bucket); err != nil || key != "" {
				return Found{Key: key}, err
			}
		}
		s.mu.Lock()
		left := len(sweep.Open())
		s.mu.Unlock()
		if left == 0 {
			continue
		}
		if err := drive.Wait(ctx, pause); err != nil { // others are at what is left
			return Found{}, err
		}
	}
}

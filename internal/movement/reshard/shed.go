package reshard

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Shared is what a shard shares with others since a hand-off, and how that is shed.
type Shared struct {
	Shard uint32 `json:"shard"`
	Bytes int64  `json:"bytes"` // of segments of which it shows a part, and another shard may show the rest
	// Written is how much has been written again instead, PerSecond at which rate, rests included: of
	// late, and of all of it when Bytes is 0.
	Written   int64 `json:"written"`
	PerSecond int64 `json:"bytesPerSecond"`
	// Rests are for how long it rests, for each unit of time in which it works; 0: nobody
	// searches. The rate that was asked for may make it rest longer.
	Rests float64 `json:"rests,omitempty"`
	// Searches are the 95th percentiles of searches before the movement and now; 0: not known.
	Searches struct {
		Before time.Duration `json:"before"`
		Now    time.Duration `json:"now"`
	} `json:"searchesP95"`
}

// sharedKey is that of what is shared by a shard.
func (t *turn) sharedKey(number uint32) string {
	return t.key("shared", int(number))
}

// sharing notes what the shards of a group share when it has been handed off.
func (t *turn) sharing(ctx context.Context, g *transfer.Group, staged *shard.Staged) error {
	for i, number := range targets(g) {
		told := Shared{Shard: number}
		for _, v := range staged.To[i] {
			if v.Hidden != nil {
				told.Bytes += int64(v.Bytes())
			}
		}
		if err := t.Driver.Put(ctx, t.sharedKey(number), told); err != nil {
			return err
		}
	}
	return nil
}

// sheddingAtOnce is how many shards of a group shed at a time. While some have and others have not,
// searches look at what these hide of the segments that they have shared beside what those have
// made of them: that is short when they end together.
const sheddingAtOnce = 4

// shedGroup lets the shards of a group shed, in one turn once.
func (t *turn) shedGroup(ctx context.Context, r *transfer.Record, group int) error {
	if t.shed[group] {
		return nil
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(sheddingAtOnce)
	for _, number := range targets(&r.Groups[group]) {
		all.Go(func() error {
			t.shedding.Add(1)
			defer t.shedding.Add(-1)
			return t.shedOne(ctx, number)
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if t.shed == nil {
		t.shed = map[int]bool{}
	}
	t.shed[group] = true
	return nil
}

// shedOne writes segments again of which the shard shows a part and another one the rest, at the
// rate that was asked for, and slower while searches are slower than they were.
func (t *turn) shedOne(ctx context.Context, number uint32) error {
	s := &shedding{turn: t, watch: t.watch(), began: time.Now(), told: Shared{Shard: number}}
	s.resumed = s.began
	for {
		s.rate = t.rate(ctx).BytesPerSecond
		_, left, err := t.Store.Shed(ctx, t.plan.Shards.Index, number, s.wrote)
		if err != nil {
			if _, r, reading := t.read(ctx); r == nil && reading == nil { // the index is gone
				return nil
			}
			return err
		}
		s.told.Bytes = left
		if left == 0 {
			s.told.PerSecond = perSecond(s.told.Written, time.Since(s.began))
			break
		}
		if err := s.tell(ctx); err != nil {
			return err
		}
	}
	return s.tell(ctx)
}

// rate is the newest that throttle has set.
func (t *turn) rate(ctx context.Context) (r Rate) {
	m, err := t.Driver.Movement(ctx, t.movement.ID)
	if err != nil {
		m = *t.movement
	}
	return RateOf(&m)
}

// shedding is the shedding of one shard.
type shedding struct {
	*turn
	watch
	rate    int64 // bytes in a second; 0: as searches leave room
	told    Shared
	began   time.Time
	resumed time.Time // when the last rest ended
	unpaid  int64     // bytes since
	paid    []paid    // of late, the oldest first
}

// paid is how much had been written at the end of a rest.
type paid struct {
	at      time.Time
	written int64
}

// late is how far the rate that is told looks back.
const late = 10 * time.Second

// settle notes that what was written has been rested for, and tells the rate of late: between
// ends of rests, since what is written in one go is rested for afterwards.
func (s *shedding) settle(now time.Time) {
	for len(s.paid) > 1 && now.Sub(s.paid[1].at) >= late {
		s.paid = s.paid[1:]
	}
	if s.paid == nil {
		s.paid = append(s.paid, paid{s.began, 0})
	}
	oldest := s.paid[0]
	s.told.PerSecond = perSecond(s.told.Written-oldest.written, now.Sub(oldest.at))
	if now.Sub(s.paid[len(s.paid)-1].at) >= looking {
		s.paid = append(s.paid, paid{now, s.told.Written})
	}
}

// perSecond is a rate; 0 when no time has passed.
func perSecond(bytes int64, took time.Duration) int64 {
	if took <= 0 {
		return 0
	}
	return int64(float64(bytes) / took.Seconds())
}

// unrested is for how long it works without a rest.
const unrested = 2 * time.Millisecond

// wrote rests for what was written. A long rest is looked at on the way, so that a rate which
// was asked for meanwhile counts.
func (s *shedding) wrote(ctx context.Context, bytes int) error {
	s.unpaid += int64(bytes)
	s.told.Written += int64(bytes)
	worked := time.Since(s.resumed)
	if worked < unrested && s.rate == 0 {
		return nil
	}
	for since := time.Now(); ; {
		if err := s.look(ctx); err != nil {
			return err
		}
		n := max(s.shedding.Load(), 1)
		left := s.rests().among(n).rest(worked, n*s.unpaid, s.rate) - time.Since(since)
		if left <= 0 {
			break
		}
		if err := drive.Wait(ctx, min(left, looking)); err != nil {
			return err
		}
	}
	s.unpaid, s.resumed = 0, time.Now()
	s.settle(s.resumed)
	return nil
}

// look sets pace and rate, now and then.
func (s *shedding) look(ctx context.Context) error {
	if !s.watch.look() {
		return nil
	}
	s.rate = s.turn.rate(ctx).BytesPerSecond
	return s.tell(ctx)
}

// tell notes how far it is.
func (s *shedding) tell(ctx context.Context) error {
	s.told.Rests, s.told.Searches.Before, s.told.Searches.Now = float64(s.rests()), s.before, s.now
	return s.Driver.Put(ctx, s.sharedKey(s.told.Shard), s.told)
}

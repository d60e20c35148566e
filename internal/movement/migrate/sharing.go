package migrate

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// share is the record by which a process tells the others how many of its slots send, so that
// each takes its part of the limits. It is written only while there are limits.
type share struct {
	Slots   int       `json:"slots"`
	HeardAt time.Time `json:"heardAt"`
}

// A share counts for so many times the interval at which it is written again, and the
// interval is a heartbeat; among many it grows, so that the store is not asked by each for all.
const (
	shareMissed  = 3
	sharesAtOnce = 16
)

// fresh are the shares that count at now. It is pure.
func fresh(all map[string]share, heartbeat time.Duration, now time.Time) map[string]share {
	left := map[string]share{}
	for name, s := range all {
		if now.Sub(s.HeardAt) <= shareMissed*interval(len(all), heartbeat) {
			left[name] = s
		}
	}
	return left
}

// interval is how long a share waits until it is written again, among so many.
func interval(shares int, heartbeat time.Duration) time.Duration {
	return heartbeat * time.Duration(max(1, shares/sharesAtOnce))
}

// sharing is how a process keeps the limits of a movement together with the others.
type sharing struct {
	mu     sync.Mutex
	limits Limits
	slots  int // of this process, that send
	others int // slots of other processes
	shares int
	wrote  time.Time // when the record was written, by this machine's own running
}

// sends counts the slot among those that send, until done is called. The limits hold before
// the first document is sent; for a heartbeat the slots that were there before do not know of
// it yet.
func (t *turn) sends(ctx context.Context) (done func()) {
	s := &t.sharing
	s.mu.Lock()
	s.slots++
	s.mu.Unlock()
	t.adapt(ctx, t.movement)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.slots--
		s.apply(t.writer)
	}
}

// apply gives the writer this process's part of the limits. The mutex is held.
func (s *sharing) apply(w *cluster.Writer) {
	mine := s.limits.Share(s.slots, s.slots+s.others)
	w.Throttle(mine.DocumentsPerSecond, mine.BytesPerSecond, s.slots)
}

// sees takes what operators have asked for of the movement as it is now; false when it may
// not go on, since its hours are over.
func (t *turn) sees(ctx context.Context, now *movement.Record) bool {
	t.adapt(ctx, now)
	return t.mayGoOn(ctx, now)
}

// mayGoOn tells whether the movement may be at work now.
func (t *turn) mayGoOn(ctx context.Context, m *movement.Record) bool {
	limits, err := ReadLimits(m.Rate)
	if err != nil || limits.Hours.IsZero() {
		return true
	}
	now, err := t.Driver.Now(ctx)
	open, _ := limits.Hours.Open(now)
	return open || err != nil
}

// adapt takes the movement's limits, and this process's share of them. Limits that this
// version does not understand, and records that cannot be read, change nothing.
func (t *turn) adapt(ctx context.Context, m *movement.Record) {
	limits, err := ReadLimits(m.Rate)
	now := t.now(ctx)
	if err != nil || now.IsZero() {
		return
	}
	s := &t.sharing
	s.mu.Lock()
	s.limits = limits
	s.apply(t.writer)
	due := limits.Rate() != Rate{} && time.Since(s.wrote) >= interval(s.shares, t.plan.Policy.Heartbeat)
	if due {
		s.wrote = time.Now()
	}
	mine := share{Slots: s.slots, HeardAt: now}
	s.mu.Unlock()
	if !due {
		return
	}
	name := t.Worker[:max(strings.LastIndexByte(t.Worker, '-'), 0)]
	if err := t.Driver.Put(ctx, t.key("share", name), mine); err != nil {
		return
	}
	if err := t.TakeBack(ctx, m, t.key("share", name)); err != nil { // whoever slept comes perhaps too late
		return
	}
	all, err := drive.Pieces[share](ctx, t.Driver, t.key("share", ""))
	if err != nil {
		return
	}
	others := 0
	for who, there := range fresh(all, t.plan.Policy.Heartbeat, now) {
		if who != name {
			others += there.Slots
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others, s.shares = others, len(all)
	s.apply(t.writer)
}

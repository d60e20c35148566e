package control

import (
	"cmp"
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// lookout looks at a movement again and again: a look compared with those before it tells the
// pace. Looking reads every record of the movement, so who looks often asks for the pause.
type lookout struct {
	d      *drive.Driver
	side   *side // of the movement; nil: nothing is known but the records
	id     string
	at     string        // where it is recorded, as orders name the place; "": nobody gives any
	every  time.Duration // between two looks, at least; 0: lookEvery
	leaves bool          // a watch ends when the place answers no more
	alone  bool          // no other process has the place open, and this one only looks

	looks  []migrate.Progress // the counts of those before, the oldest first, since it runs
	moved  time.Time          // when a document was last seen to get on, while it runs
	took   time.Duration      // by the last look
	limits string             // at the last look
	cut    bool               // the looks begin where something has changed
}

const (
	lookEvery   = time.Second
	lookShare   = 20 // a lookout looks one part in so many of the time at most
	longestLook = time.Minute
	// shortestWindow is the least time over which a pace is measured: several heartbeats.
	shortestWindow = time.Minute
)

// pauseWithin waits until the next look is due; false when ctx ends before.
func (l *lookout) pauseWithin(ctx context.Context) bool {
	timer := time.NewTimer(max(cmp.Or(l.every, lookEvery), min(lookShare*l.took, longestLook)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseAfter is how long not to look after a look that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(lookEvery, lookShare*took), longestLook)
}

// watch looks at the movement until it rests, and tells of each look. What it returns is the
// last. When the place answers no more the last look is told again, with that.
func (l *lookout) watch(ctx context.Context, told func(*Movement)) (m *Movement, err error) {
	for seen := time.Now(); ; {
		now, err := l.look(drive.WithPatience(ctx, quietAfter))
		switch {
		case err == nil:
			m, seen = now, time.Now()
			told(m)
			if rests(&m.Record) {
				return m, nil
			}
		case ctx.Err() != nil:
		case m == nil || l.leaves || !drive.Passing(err):
			return m, err
		case time.Since(seen) > quietAfter:
			stale := *m
			stale.Idle = "the place has not answered since " + seen.Format(time.TimeOnly) + ": " + err.Error()
			told(&stale)
		}
		if !l.pauseWithin(ctx) {
			return m, context.Cause(ctx)
		}
	}
}

// look reads the movement, and says how fast it is. It is not safe for concurrent use.
func (l *lookout) look(ctx context.Context) (*Movement, error) {
	began := time.Now()
	m, err := movementOf(ctx, l.d, l.side, l.id, l.at)
	l.took = time.Since(began)
	if err != nil {
		return nil, err
	}
	if m.Progress == nil {
		m.idle(l.alone, time.Time{})
		return m, nil
	}
	now, err := l.d.Now(ctx)
	if err != nil {
		return nil, err
	}
	l.judge(m, now)
	m.idle(l.alone, now)
	for i := range m.Progress.Hindrances {
		h := &m.Progress.Hindrances[i]
		h.Next = Orders(h.Next, l.id, l.at)
	}
	return m, nil
}

// judge compares a look with those before, and keeps what the next ones need of it.
func (l *lookout) judge(m *Movement, now time.Time) {
	p := m.Progress
	if m.State != movement.Running || !p.Copies() {
		l.looks, l.moved, l.cut = nil, time.Time{}, m.State != movement.Running
		p.Judge(&m.Record, nil, 0, now)
		return
	}
	if limits := p.Limits.String(); limits != l.limits {
		l.limits, l.cut = limits, l.cut || len(l.looks) > 0
		l.looks = l.looks[max(len(l.looks)-1, 0):]
	}
	open, _ := p.Limits.Hours.Open(now)
	if last := len(l.looks) - 1; last < 0 || p.Read > l.looks[last].Read || p.Workers == 0 || !open {
		l.moved = now
	}
	p.Judge(&m.Record, l.earlier(p), now.Sub(l.moved), now)
	if last := len(l.looks) - 1; last < 0 || p.AsOf.Sub(l.looks[last].AsOf) >= l.window()/32 || p.Read > l.looks[last].Read && len(l.looks) < 64 {
		l.looks = append(l.looks, migrate.Progress{AsOf: p.AsOf, Counts: work.Counts{Read: p.Read, Bytes: p.Bytes}})
	}
}

// window is over how much time a pace is measured: a quarter of that since the first look, so
// that what is slow for a moment does not change what is told of days.
func (l *lookout) window() time.Duration {
	if len(l.looks) == 0 {
		return shortestWindow
	}
	return max(shortestWindow, l.looks[len(l.looks)-1].AsOf.Sub(l.looks[0].AsOf)/4)
}

// earlier is the newest look that is old enough to be compared with; nil when none is. What
// comes before it is not needed any more, but for the very first.
func (l *lookout) earlier(p *migrate.Progress) *migrate.Progress {
	window := l.window()
	at := -1
	for i := range l.looks {
		if p.AsOf.Sub(l.looks[i].AsOf) >= window {
			at = i
		}
	}
	const least = 5 * time.Second
	if at < 0 && l.cut && len(l.looks) > 0 && p.AsOf.Sub(l.looks[0].AsOf) >= least {
		return &l.looks[0]
	}
	if at < 0 {
		return nil
	}
	earlier := l.looks[at]
	if at > 1 {
		l.looks = append(l.looks[:1], l.looks[at:]...)
	}
	return &earlier
}

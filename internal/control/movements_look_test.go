package control

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// lookedAt is a migration of a million documents of a kilobyte that is looked at each second.
type lookedAt struct {
	lookout
	start, now time.Time
	read       float64
	state      movement.State
	limits     migrate.Limits
}

func newLookedAt() *lookedAt {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &lookedAt{start: start, now: start, state: movement.Running}
}

// goes lets time pass with so many documents a second, and gives the last look.
func (l *lookedAt) goes(d time.Duration, perSecond float64) *Movement {
	var m *Movement
	for end := l.now.Add(d); l.now.Before(end); {
		l.now = l.now.Add(time.Second)
		l.read += perSecond
		read := int64(l.read)
		counts := work.Counts{Read: read, Acknowledged: read, Bytes: 1000 * read}
		m = &Movement{Record: movement.Record{State: l.state, Phases: []movement.Phase{{Name: "documents", Started: l.start}}},
			Progress: &migrate.Progress{Phase: "documents", Workers: 1, AsOf: l.now, Limits: l.limits, Counts: counts,
				Indices: []migrate.IndexProgress{{Index: migrate.Index{Documents: 1_000_000, Bytes: 1e9}, Items: migrate.States{Leased: 1}, Copied: counts}}}}
		l.judge(m, l.now)
	}
	return m
}

func TestThePaceOfLooks(t *testing.T) {
	l := newLookedAt()
	near := func(what string, m *Movement, rate, left float64) {
		t.Helper()
		got, known := m.Progress.Pace.Left()
		if off := m.Progress.Rate.Documents / rate; off < 0.85 || off > 1.15 {
			t.Errorf("%s: %.0f documents/s, want %.0f", what, m.Progress.Rate.Documents, rate)
		}
		if off := got.Seconds() / left; !known || off < 0.85 || off > 1.15 {
			t.Errorf("%s: %s left, want %.0f s", what, got, left)
		}
	}
	near("at the beginning", l.goes(10*time.Second, 1000), 1000, 990)
	near("evenly", l.goes(90*time.Second, 1000), 1000, 900)
	near("twice as fast for two minutes", l.goes(2*time.Minute, 2000), 2000, 330)
	l.limits.DocumentsPerSecond = 500
	near("right after a limit", l.goes(8*time.Second, 500), 500, 1312)
	l.state = movement.Paused
	if m := l.goes(time.Hour, 0); m.Progress.TimeLeft != 0 || m.Progress.Fraction == 0 {
		t.Errorf("paused: %+v", m.Progress.Pace)
	}
	l.state = movement.Running
	near("some seconds after a pause of an hour", l.goes(15*time.Second, 500), 500, 1297)
	if m := l.goes(3*time.Minute, 0); len(m.Progress.Hindrances) != 1 {
		t.Errorf("a standstill of three minutes: %v", m.Progress.Hindrances)
	}
	if len(l.looks) > 200 {
		t.Errorf("%d looks are kept", len(l.looks))
	}
}

// TestLooksAreRareWhereTheyAreExpensive: they take a twentieth of the time at most.
func TestLooksAreRareWhereTheyAreExpensive(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: time.Second, 20 * time.Millisecond: time.Second, time.Second: 20 * time.Second, time.Hour: time.Minute} {
		if got := pauseAfter(took); got != want {
			t.Errorf("after a look of %s: %s, want %s", took, got, want)
		}
	}
}

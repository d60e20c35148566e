package coord

import (
	"testing"
	"time"
)

func TestTimeFollowsTheWallButNeverBack(t *testing.T) {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := noon
	for _, step := range []struct {
		what          string
		elapsed, wall time.Duration // the wall since noon
		want          time.Duration // since noon
	}{
		{"as it goes", time.Second, time.Second, time.Second},
		{"set forward", time.Second, time.Hour, time.Hour},
		{"set back", time.Second, 2 * time.Second, time.Hour + time.Second},
		{"still ahead", time.Minute, time.Minute, time.Hour + time.Minute + time.Second},
		{"caught up", time.Second, 2 * time.Hour, 2 * time.Hour},
		{"asleep, when elapsed does not count", 0, 5 * time.Hour, 5 * time.Hour},
	} {
		at = later(at, step.elapsed, noon.Add(step.wall))
		if got := at.Sub(noon); got != step.want {
			t.Errorf("%s: %v, want %v", step.what, got, step.want)
		}
	}
}

func TestAClockGoesOnBehindWhatItWasGiven(t *testing.T) {
	const set = time.Second // by which the machine's clock may be set meanwhile
	var c Clock
	before := time.Now()
	now := c.Now()
	if now.At.Before(before.Round(0).Add(-set)) || now.Error > 0 || now.Ahead > time.Second {
		t.Errorf("%v ± %v after %v", now.At, now.Error, before)
	}
	c.Raise(before.Add(-time.Hour))
	if again := c.Now(); again.At.Before(now.At) || again.Ahead > time.Second {
		t.Errorf("raised to the past: %v ± %v", again.At, again.Error)
	}
	c.Raise(before.Add(time.Hour))
	ahead := c.Now()
	if ahead.At.Before(before.Add(time.Hour)) || ahead.Ahead < 59*time.Minute || ahead.Ahead > time.Hour+set {
		t.Errorf("raised to the future: %v ± %v", ahead.At, ahead.Ahead)
	}
}

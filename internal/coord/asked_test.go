package coord_test

import (
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

func TestAnAskedTimeCoversTheWayAndNeverGoesBack(t *testing.T) {
	var a coord.Asked
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	first := a.Answered(coord.Time{At: noon, Error: time.Millisecond}, time.Now().Add(-time.Second))
	if from, to := first.At.Add(-first.Error), first.At.Add(first.Error); from.After(noon) || to.Before(noon.Add(time.Second)) {
		t.Errorf("a second after it was asked, noon is between %v and %v", from, to)
	}
	back := a.Answered(coord.Time{At: noon.Add(-time.Hour)}, time.Now())
	if back.At.Before(first.At) || back.Behind < time.Hour || back.Behind > time.Hour+time.Minute || back.Error > time.Minute {
		t.Errorf("an hour back: %v ± %v after %v", back.At, back.Behind, first.At)
	}
	a.Raise(noon.Add(-time.Hour))
	a.Raise(noon.Add(time.Hour))
	if about := a.About(); about.Before(noon.Add(time.Hour)) || about.After(noon.Add(61*time.Minute)) {
		t.Errorf("raised to an hour after noon: about %v", about)
	}
	ahead := a.Answered(coord.Time{At: noon}, time.Now())
	if !ahead.At.Equal(noon.Add(time.Hour)) || ahead.Behind < 59*time.Minute {
		t.Errorf("raised to an hour after noon: %v ± %v", ahead.At, ahead.Behind)
	}
}

func TestALifeEndsItsCalls(t *testing.T) {
	life := coord.NewLife()
	ctx, done, err := life.Begin(t.Context())
	if err != nil || life.Ended(ctx) != nil {
		t.Fatal(err, life.Ended(ctx))
	}
	defer done()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := life.Begin(cancelled); !fault.Is(err, fault.Interrupted) {
		t.Errorf("a call whose context has ended: %v", err)
	}
	life.End()
	<-ctx.Done()
	if err := life.Ended(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a call of a life that is over: %v", err)
	}
	if _, _, err := life.Begin(t.Context()); !fault.Is(err, fault.Unavailable) || !life.Over() {
		t.Errorf("a call after the end: %v", err)
	}
}

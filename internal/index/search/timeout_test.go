package search

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// late is a collector that lets the time of its search run out before it looks at a view.
type late struct {
	everything
	at int // the view; the others are looked at
}

func (l *late) Begin(at Place) (Leaf, error) {
	if len(l.docs) == l.at {
		<-at.Context.ctx.Done()
	}
	return l.everything.Begin(at)
}

// asks is a collector that asks whether it is to end when all has been seen.
type asks struct {
	late
	context *Context
}

func (a *asks) Begin(at Place) (Leaf, error) {
	a.context = at.Context
	return a.late.Begin(at)
}

// TestWhatIsFoundInTime: a search whose time is over tells what it has found, and that it
// is not all; without a time, or with enough of it, all is told.
func TestWhatIsFoundInTime(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), []int{40, 50, 60}, 0)
	request := func(timeout time.Duration, collectors ...Collector) Request {
		return Request{Query: MatchAll{}.any(), Size: 1000, TrackTotal: -1, Timeout: timeout, Collectors: collectors}
	}
	whole, err := Run(t.Context(), []Index{w.index}, request(0))
	if err != nil || whole.TimedOut || whole.Total == 0 {
		t.Fatal(whole.TimedOut, whole.Total, err)
	}
	l := &late{at: 2}
	some, err := Run(t.Context(), []Index{w.index}, request(time.Millisecond, l))
	if err != nil || !some.TimedOut || some.Total >= whole.Total || len(some.Hits) != int(some.Total) {
		t.Errorf("of %d in time: %d, %d hits, timed out: %v, %v", whole.Total, some.Total, len(some.Hits), some.TimedOut, err)
	}
	all, err := Run(t.Context(), []Index{w.index}, request(time.Hour))
	if err != nil || all.TimedOut || all.Total != whole.Total {
		t.Errorf("of %d in an hour: %d, timed out: %v, %v", whole.Total, all.Total, all.TimedOut, err)
	}
	// A collector works on when the search has ended: the end of the request's time is not that of its work.
	for _, timeout := range []time.Duration{time.Hour, time.Millisecond} {
		a := &asks{late: late{at: 2}}
		if timeout == time.Hour {
			a.at = -1
		}
		found, err := Run(t.Context(), []Index{w.index}, request(timeout, a))
		if err != nil || found.TimedOut != (timeout < time.Hour) || a.context.Err() != nil {
			t.Errorf("a collector of a search of %v, timed out: %v, is to end: %v, %v", timeout, found.TimedOut, a.context.Err(), err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(stopped, []Index{w.index}, request(time.Hour)); err == nil {
		t.Error("a search that is not wanted any more tells something")
	}
}

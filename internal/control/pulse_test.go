package control

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// place is something that is asked: it answers after some time, or never does.
type place struct {
	after          time.Duration
	silent, broken atomic.Bool
	times          atomic.Int64
}

func (p *place) answer(ctx context.Context) error {
	p.times.Add(1)
	if p.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(p.after)
	if p.broken.Load() {
		return errors.New("broken")
	}
	return nil
}

// TestAPulseIsOfNow: monitoring looks as often as it likes, and is given what is now, not what was when it looked before; at
// places that answer at once and such that are far, and never keeps who looks.
func TestAPulseIsOfNow(t *testing.T) {
	for _, of := range []struct{ after, every time.Duration }{
		{0, time.Second}, {0, 10 * time.Second}, {0, time.Hour}, {40 * time.Millisecond, time.Hour},
		{300 * time.Millisecond, time.Second}, {300 * time.Millisecond, 10 * time.Second}, {300 * time.Millisecond, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := &place{after: of.after}
			ctx, end := context.WithCancel(t.Context())
			defer end()
			p := &pulse{ask: asked.answer, over: ctx.Done()}
			p.begin()
			time.Sleep(time.Second)
			look := func(what string, well bool) {
				t.Helper()
				time.Sleep(of.every)
				began := time.Now()
				since, err := p.look()
				if took := time.Since(began); took > glance {
					t.Errorf("%s: it took %s", what, took)
				}
				if (err == nil) != well || err != nil && (since.IsZero() || time.Since(since) > 3*of.every+answersWithin) {
					t.Errorf("answers after %s, looked at every %s: %s: %v since %s", of.after, of.every, what, err, since)
				}
			}
			look("the first time", true)
			look("the second time", true)
			asked.silent.Store(true)
			time.Sleep(quietAfter)
			look("silent", false)
			look("silent for longer", false)
			asked.silent.Store(false)
			time.Sleep(answersWithin)
			look("back", true)
			asked.broken.Store(true)
			time.Sleep(quietAfter)
			look("broken", false)
			asked.broken.Store(false)
			time.Sleep(quietAfter)
			look("mended", true)
			time.Sleep(2 * lookedFor)
			if was := asked.times.Load(); was < 3 || func() bool { time.Sleep(time.Hour); return asked.times.Load() != was }() {
				t.Errorf("asked %d times, and %d when nobody had looked for long", was, asked.times.Load())
			}
		})
	}
}

// TestAPulseThatWasNeverTaken counts as none.
func TestAPulseThatWasNeverTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		asked := &place{}
		asked.silent.Store(true)
		p := &pulse{ask: asked.answer, over: ctx.Done()}
		began := time.Now()
		for range 3 {
			if since, err := p.look(); err == nil || !since.Equal(began) {
				t.Errorf("%v since %s", err, since)
			}
		}
		end()
		time.Sleep(answersWithin) // in which it ends
	})
}

package migrate_test

import (
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// working runs a process for a movement until it is told to stop, or the movement rests.
func (p *copied) working(id string) (ended chan movement.Record) {
	ended = make(chan movement.Record, 1)
	go func() {
		m, _ := p.work(id)
		ended <- m
	}()
	return ended
}

// throttle gives a movement other limits.
func (p *copied) throttle(id string, l migrate.Limits) {
	p.t.Helper()
	if _, _, err := p.driver.Apply(p.t.Context(), id, movement.Event{Verb: movement.Throttle, By: "a test", Rate: l.JSON()}); err != nil {
		p.t.Fatal(err)
	}
}

// until waits until a look at the movement shows what is wanted.
func (p *copied) until(what, id string, is func(movement.Record, *migrate.Progress) bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if m, progress := p.look(id); is(m, progress) {
			return
		}
	}
	m, progress := p.look(id)
	p.t.Fatalf("it does not come to be %s: %s: %s %+v", what, m.State, m.Cause, progress)
}

// TestLimitsAreObeyed: a movement that was begun with a limit keeps to it, two processes
// together; outside of its hours nobody holds a lease; a pause is obeyed although documents
// wait for their turn; and without limits it goes on at once.
func TestLimitsAreObeyed(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	plan := p.plan("")
	plan.ItemBytes = 1 << 20
	plan.Policy.Heartbeat, plan.Policy.InitialLease, plan.Policy.MaxAttempts = 200*time.Millisecond, 30*time.Second, 20
	const id, perSecond = "slow", 4
	p.start(id, plan)
	p.throttle(id, migrate.Limits{DocumentsPerSecond: perSecond})
	began := time.Now()
	one, two := p.working(id), p.working(id)
	p.until("shared", id, func(_ movement.Record, now *migrate.Progress) bool { return now.Workers >= 2 && now.Read >= 4 })
	_, now := p.look(id)
	// Two processes may each have had a burst and a heartbeat with the whole limit.
	if most := perSecond*time.Since(began).Seconds() + 4; float64(now.Read) > most {
		t.Errorf("after %s %d documents have come, at %d a second", time.Since(began), now.Read, perSecond)
	}
	idle := func(_ movement.Record, now *migrate.Progress) bool { return now.Workers == 0 && now.Items.Leased == 0 }
	later := time.Now().UTC().Add(2 * time.Hour)
	hours, err := migrate.ParseHours(later.Format("15:04-") + later.Add(time.Hour).Format("15:04"))
	if err != nil {
		t.Fatal(err)
	}
	p.throttle(id, migrate.Limits{DocumentsPerSecond: perSecond, Hours: hours})
	p.until("out of its hours", id, idle)
	_, now = p.look(id)
	waited := now.Read
	p.throttle(id, migrate.Limits{DocumentsPerSecond: 1})
	p.until("at work again", id, func(_ movement.Record, now *migrate.Progress) bool { return now.Items.Leased >= 2 })
	p.tell(id, movement.Pause)
	paused := time.Now()
	p.until("paused", id, idle)
	if took := time.Since(paused); took > 5*time.Second {
		t.Errorf("a pause took %s", took)
	}
	if _, now = p.look(id); now.Read > waited+5 {
		t.Errorf("out of its hours, and at one a second, %d documents came", now.Read-waited)
	}
	p.throttle(id, migrate.Limits{})
	p.tell(id, movement.Resume)
	for _, ended := range []chan movement.Record{one, two} {
		if m := <-ended; m.State != movement.Finished {
			t.Errorf("it ends %s: %s", m.State, m.Cause)
		}
	}
}

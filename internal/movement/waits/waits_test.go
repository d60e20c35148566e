package waits_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/waits"
)

// TestAWaitIsShownFromItsFirstFailureToItsEnd: once for each cause, continued by tries that follow those that were
// given up, and gone with the try that works.
func TestAWaitIsShownFromItsFirstFailureToItsEnd(t *testing.T) {
	waits.Begin(context.Background()).Failed(nil, 0) // without a board
	synctest.Test(t, func(t *testing.T) {
		b := &waits.Board{}
		ctx, full := b.Watch(t.Context()), fault.WithNext(fault.New(fault.Unavailable, "full"), "free some")
		one, other := waits.Begin(ctx), waits.Begin(ctx)
		began := time.Now()
		one.Failed(full, time.Minute)
		if all := b.Waits(time.Second); len(all) != 0 {
			t.Errorf("at once: %+v", all)
		}
		time.Sleep(time.Second)
		other.Failed(full, time.Second)
		want := waits.Wait{Cause: "full", Next: "free some", Since: began, Again: began.Add(2 * time.Second)}
		if all := b.Waits(time.Second); len(all) != 1 || all[0] != want || waits.Why(ctx) != "full" {
			t.Errorf("%+v", all)
		}
		other.Over()
		one.GivenUp()
		time.Sleep(time.Second)
		third := waits.Begin(ctx)
		third.Failed(full, time.Hour)
		if all := b.Waits(0); len(all) != 1 || !all[0].Since.Equal(began) {
			t.Errorf("tried anew: %+v", all)
		}
		third.GivenUp()
		time.Sleep(waits.Lingers)
		if all := b.Waits(0); len(all) != 0 || waits.Why(ctx) != "" {
			t.Errorf("at the end: %+v", all)
		}
	})
}

// TestWorkThatFailsIsNotedOnce: what tries below have said is not said again by the work that they belong to.
func TestWorkThatFailsIsNotedOnce(t *testing.T) {
	waits.Note(context.Background(), nil) // without a board
	synctest.Test(t, func(t *testing.T) {
		b := &waits.Board{}
		ctx, refused := b.Watch(t.Context()), fault.New(fault.Unavailable, "refused")
		within := fault.At(refused, "index a")
		waits.Note(ctx, within)
		if all := b.Waits(0); len(all) != 1 || all[0].Cause != within.Error() {
			t.Errorf("nothing below: %+v", all)
		}
		time.Sleep(waits.Lingers)
		tries := waits.Begin(ctx)
		tries.Failed(refused, time.Second)
		waits.Note(ctx, within)
		tries.GivenUp()
		time.Sleep(waits.Lingers - time.Second)
		waits.Note(ctx, within)
		time.Sleep(waits.Lingers - time.Second)
		if all := b.Waits(0); len(all) != 1 || all[0].Cause != "refused" {
			t.Errorf("said below: %+v", all)
		}
	})
}

package drive_test

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
)

// TestAnEventThatDependsOnTheRecord is made anew when somebody else was faster.
func TestAnEventThatDependsOnTheRecord(t *testing.T) {
	d := drive.New(memory.New(), 0)
	r := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Planned, Phases: []movement.Phase{{Name: "documents"}}, Created: time.Now()}
	if err := d.Plan(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	asked := 0
	next, _, err := d.ApplyTo(t.Context(), "m", func(r *movement.Record) (movement.Event, error) {
		if asked++; asked == 1 {
			if _, _, err := d.Apply(t.Context(), "m", movement.Event{Verb: movement.Throttle, By: "ann", Rate: []byte(`"a"`)}); err != nil {
				t.Fatal(err)
			}
		}
		return movement.Event{Verb: movement.Throttle, By: "bob", Rate: append([]byte(`["b",`), append(append([]byte{}, orNull(r.Rate)...), ']')...)}, nil
	})
	if err != nil || asked != 2 || string(next.Rate) != `["b","a"]` {
		t.Errorf("asked %d times, the rate is %s: %v", asked, next.Rate, err)
	}
}

func orNull(rate []byte) []byte {
	if rate == nil {
		return []byte("null")
	}
	return rate
}

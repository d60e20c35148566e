package placement

import (
	"strings"
	"testing"
	"time"
)

func TestPredict(t *testing.T) {
	const ms = time.Millisecond
	if _, is := Predict(Probes, nil, 250*ms); is {
		t.Error("nothing was measured, and something is predicted")
	}
	p, _ := Predict(Rehearsals, []time.Duration{40 * ms, 10 * ms, 20 * ms}, 250*ms)
	if want := (Pause{Fence: 20 * ms, P50: 10 * ms, P99: 39600 * time.Microsecond, Max: 40 * ms, Basis: Rehearsals, Of: 3}); p != want {
		t.Errorf("%+v, expected %+v", p, want)
	}
	if text := p.String(); strings.Contains(text, "budget") || !strings.Contains(text, "3 rehearsals") {
		t.Error(text)
	}
	p, _ = Predict(Before, []time.Duration{300 * ms}, 250*ms)
	if p.Needs != 600*ms || !strings.HasSuffix(p.String(), "that is above the pause budget") || !strings.Contains(Plan{Pause: &p}.String(), "that is above the pause budget: --pause-budget 600ms would do\n") {
		t.Errorf("%v", p)
	}
	if n := Needed(ms); n != 10*ms {
		t.Errorf("a hand-off of 1ms needs a budget of %v", n)
	}
}

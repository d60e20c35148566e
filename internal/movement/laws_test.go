package movement_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"pgregory.net/rapid"
)

// plan draws a movement of any lane: work, checks, a switch, what retires.
func plan(t *rapid.T) movement.Record {
	r := movement.Record{ID: "m", Kind: "migrate", State: movement.Planned, Plan: json.RawMessage(`{}`)}
	for _, name := range []string{"metadata", "documents", "verify", "flip", "follow", "cleanup", "drop"} {
		if rapid.Bool().Draw(t, name) {
			r.Phases = append(r.Phases, movement.Phase{Name: name, Flips: name == "flip", Retires: name == "cleanup" || name == "drop"})
		}
	}
	r.HoldBeforeSwitch = rapid.Bool().Draw(t, "hold before switch")
	r.KeepWayBack = rapid.Bool().Draw(t, "keep way back")
	return r
}

// draw draws an event: mostly what comes next by itself, else anything.
func draw(t *rapid.T, r *movement.Record, now time.Time) movement.Event {
	e := movement.Event{At: now, By: rapid.SampledFrom([]string{"ann", "w1", "w2"}).Draw(t, "by")}
	switch rapid.IntRange(0, 9).Draw(t, "sort") {
	case 0, 1, 2, 3, 4:
		comes(r, &e)
	case 5:
		e.Phase, e.Cause, e.Listed = "metadata", "it is stuck", rapid.Bool().Draw(t, "listed")
		if p := r.Current(); p != nil {
			e.Phase = p.Key()
		} else if rapid.Bool().Draw(t, "end") {
			e.Phase = ""
		}
		e.Happened = rapid.SampledFrom([]movement.Happening{movement.Stuck, movement.Stuck, movement.GaveUp}).Draw(t, "stop")
	case 6:
		e.Happened = rapid.SampledFrom([]movement.Happening{movement.GaveUp, movement.PhaseDone, movement.PhaseBegun, movement.Stuck, movement.Undone, movement.Settled}).Draw(t, "happening")
		e.Phase, e.Cause = rapid.SampledFrom([]string{"metadata", "documents", "verify", "verify/2", "flip", "cleanup", "", "nothing"}).Draw(t, "phase"), "why"
	default:
		e.Verb = rapid.SampledFrom(movement.Verbs).Draw(t, "verb")
		if offers := r.Offers(); len(offers) > 0 && rapid.IntRange(0, 3).Draw(t, "offered") > 0 {
			e.Verb = rapid.SampledFrom(offers).Draw(t, "verb")
		}
		if e.Verb == movement.Throttle {
			e.Rate = json.RawMessage(`{"documents":5}`)
		}
	}
	return e
}

// comes is what workers, or a patient operator, do next.
func comes(r *movement.Record, e *movement.Event) {
	p := r.Current()
	switch {
	case p != nil && p.Started.IsZero():
		e.Happened, e.Phase = movement.PhaseBegun, p.Key()
	case p != nil:
		e.Happened, e.Phase, e.Cause, e.Report = movement.PhaseDone, p.Key(), "done", json.RawMessage(`{"ok":true}`)
	case slices.Contains(r.Owed(), movement.Settle):
		e.Happened = movement.Settled
	case len(r.Owed()) > 0:
		e.Happened = movement.Undone
	case r.State == movement.Planned:
		e.Verb = movement.Start
	case r.State == movement.Switched:
		e.Verb = movement.Finish
	default:
		e.Verb = movement.Resume
	}
}

// copied is r with nothing shared.
func copied(t interface{ Fatal(...any) }, r movement.Record) (c movement.Record) {
	data, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func same(a, b movement.Record) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// life is what a test remembers of a movement from step to step.
type life struct {
	flipped, retired bool
	ended            map[string]time.Time
}

// holds checks the invariants of doc.go over one step.
func (l *life) holds(t *rapid.T, before movement.Record, e movement.Event, after movement.Record, effects []movement.Effect) {
	if err := after.Check(); err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	if before.State.Ended() {
		t.Fatalf("%s was %s, and became %s by %s", before, before.State, after, e)
	}
	if after.State.Ended() && e.Happened != movement.Undone && e.Happened != movement.Settled {
		t.Fatalf("%s ended it", e)
	}
	for i := range after.Phases {
		p := &after.Phases[i]
		if after.State == movement.Finished && p.Ended.IsZero() {
			t.Fatalf("finished before %s", p)
		}
		l.phase(t, &before, e, p)
		l.flipped = l.flipped || p.Flips && !p.Started.IsZero()
		l.retired = l.retired || p.Retires && !p.Started.IsZero()
	}
	if l.flipped && (after.State == movement.Aborting && before.State != movement.Aborting) {
		t.Fatalf("aborted after the point of no return: %s", after)
	}
	if (l.retired || after.Settling) && slices.Contains([]movement.State{movement.Aborting, movement.Reversing}, after.State) {
		t.Fatalf("it goes back when nothing leads back: %s", after)
	}
	if after.Events != before.Events+1 || len(after.Journal) > 256 || int64(len(after.Journal)) > after.Events {
		t.Fatalf("%d events, %d in the journal", after.Events, len(after.Journal))
	}
	if last := after.Journal[len(after.Journal)-1]; last.State != after.State || !last.At.Equal(e.At) {
		t.Fatalf("the journal says %s of %s", last, e)
	}
	for _, effect := range effects {
		owed := slices.Contains(after.Owed(), effect)
		if slices.Contains([]movement.Effect{movement.Work, movement.Undo, movement.Return, movement.Settle}, effect) && !owed {
			t.Fatalf("%s is to be done and not owed: %s", effect, after)
		}
	}
	if after.State != before.State && !slices.Contains(effects, movement.Notify) {
		t.Fatalf("nobody is told: %s after %s", after, e)
	}
	for _, effect := range after.Owed() {
		if before.State != after.State && !slices.Contains(effects, effect) {
			t.Fatalf("%s is owed after %s and nobody is told to: %s", effect, e, after)
		}
	}
}

func (l *life) phase(t *rapid.T, before *movement.Record, e movement.Event, p *movement.Phase) {
	key := p.Key()
	if at, ok := l.ended[key]; ok && !p.Ended.Equal(at) {
		t.Fatalf("phase %s ended twice", key)
	}
	if !p.Ended.IsZero() {
		l.ended[key] = p.Ended
	}
	begins := e.Happened == movement.PhaseBegun && e.Phase == key && p.Started.Equal(e.At)
	if begins && p.Flips && before.HoldBeforeSwitch && !before.SwitchAsked {
		t.Fatal("it switched without being asked")
	}
	if begins && p.Retires && before.KeepWayBack && !before.FinishAsked {
		t.Fatal("it retires without being asked")
	}
}

func TestLaws(t *testing.T) {
	seen := map[movement.State]bool{}
	rapid.Check(t, func(t *rapid.T) {
		r := plan(t)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		l := &life{ended: map[string]time.Time{}}
		now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
		var applied []movement.Event
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			now = now.Add(time.Second)
			e := draw(t, &r, now)
			before := copied(t, r)
			next, effects, err := movement.Step(r, e)
			if !same(before, r) {
				t.Fatalf("%s changed the record that it was given", e)
			}
			again, effectsAgain, errAgain := movement.Step(before, e)
			if !same(again, next) || !reflect.DeepEqual(effects, effectsAgain) || (err == nil) != (errAgain == nil) {
				t.Fatalf("%s is not the same twice", e)
			}
			if next.Events == r.Events {
				if !same(next, r) || len(effects) > 0 {
					t.Fatalf("%s changed something and did not say so", e)
				}
				refusal(t, &r, e, err)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v, and yet it happened", e, err)
			}
			l.holds(t, r, e, next, effects)
			r, applied = next, append(applied, e)
			seen[r.State] = true
			replay(t, r, applied)
		}
	})
	t.Logf("%d of %d states were seen", len(seen), len(movement.States))
}

// refusal: whoever is refused is told why, and an operator what to do instead.
func refusal(t *rapid.T, r *movement.Record, e movement.Event, err error) {
	rule := movement.Rule{}
	if e.Verb != "" {
		rule = r.Ask(e.Verb)
	}
	switch {
	case err == nil && rule.Answer == movement.Goes:
		t.Fatalf("%s: %s was to go, and did not", r, e)
	case err != nil && e.Verb != "" && (fault.Next(err) == "" || !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Refused)):
		t.Fatalf("%s: %v, and then?", e, err)
	case err != nil && e.Verb != "":
		advice(t, r, fault.Next(err))
	}
}

// advice: what an operator is told to do is not refused in its turn.
func advice(t *rapid.T, r *movement.Record, next string) {
	now, _, _ := strings.Cut(next, ";")
	now, _, _ = strings.Cut(now, ", then")
	for _, word := range strings.FieldsFunc(now, func(c rune) bool { return c == ' ' || c == ',' }) {
		if v := movement.Verb(word); slices.Contains(movement.Verbs, v) && r.Ask(v).Answer != movement.Goes {
			t.Fatalf("%s: %q, and then %s is refused: %s", r, next, v, r.Ask(v).Reason)
		}
	}
}

// replay: events that were applied, from any of them on, change nothing any more (law L6).
func replay(t *rapid.T, r movement.Record, applied []movement.Event) {
	for _, e := range applied {
		after, effects, _ := movement.Step(r, e)
		if !same(after, r) || len(effects) > 0 {
			t.Fatalf("%s was applied again: %s became %s", e, r, after)
		}
	}
}

// TestEveryStateAnswersEveryVerb: the last rule of each cell holds always, and no rule stands
// behind one that does.
func TestEveryStateAnswersEveryVerb(t *testing.T) {
	rules := map[string][]movement.Rule{}
	for _, u := range movement.Table() {
		key := fmt.Sprint(u.State, " ", u.Verb)
		rules[key] = append(rules[key], u)
	}
	for _, s := range movement.States {
		for _, v := range movement.Verbs {
			cell := rules[fmt.Sprint(s, " ", v)]
			for i, u := range cell {
				if (u.When == movement.Always) != (i == len(cell)-1) {
					t.Errorf("%s %s: rule %d of %d is for %q", s, v, i, len(cell), u.When)
				}
				if u.Answer == movement.Refuses && (u.Reason == "" || u.Next == "") || u.Answer == movement.Goes && u.To == "" {
					t.Errorf("%s %s: %+v says too little", s, v, u)
				}
			}
			if len(cell) == 0 {
				t.Errorf("%s does not answer %s", s, v)
			}
		}
	}
	r := movement.Record{State: movement.Running}
	if err := r.Ask("dance").Err(); !fault.Is(err, fault.Usage) {
		t.Errorf("dance: %v", err)
	}
}

func TestARecordIsBounded(t *testing.T) {
	r, err := movement.ParseRecord("migrate documents verify keep-way-back")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	do := func(e movement.Event) {
		t.Helper()
		now = now.Add(time.Second)
		e.At = now
		if r, _, err = movement.Step(r, e); err != nil {
			t.Fatal(err)
		}
	}
	do(movement.Event{Verb: movement.Start, Why: strings.Repeat("é", 5000)})
	for _, phase := range []string{"documents", "verify"} {
		do(movement.Event{Happened: movement.PhaseBegun, Phase: phase})
		do(movement.Event{Happened: movement.PhaseDone, Phase: phase, Cause: strings.Repeat("x", 5000)})
	}
	for range 200 {
		do(movement.Event{Verb: movement.Verify})
		do(movement.Event{Happened: movement.PhaseBegun, Phase: r.Current().Key()})
		do(movement.Event{Happened: movement.Stuck, Phase: r.Current().Key(), Cause: strings.Repeat("日", 5000), Next: strings.Repeat("y", 5000), Listed: true})
		do(movement.Event{Verb: movement.Resume})
		do(movement.Event{Happened: movement.PhaseDone, Phase: r.Current().Key(), Cause: strings.Repeat("z", 5000)})
	}
	do(movement.Event{Happened: movement.PhaseDone, Phase: "verify/7"}) // long forgotten
	if len(r.Phases) > 40 || len(r.Journal) != 256 || r.Events != 1005 {
		t.Errorf("%d phases, %d of %d events", len(r.Phases), len(r.Journal), r.Events)
	}
	if r.Journal[0].State != movement.Running || !strings.HasPrefix(r.Journal[0].Event, "start") {
		t.Errorf("the journal begins with %s", r.Journal[0])
	}
	if text, err := json.Marshal(r); err != nil || len(text) > 1<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, _, err := movement.Step(r, movement.Event{At: now, Verb: movement.Throttle, Rate: json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)}); !fault.Is(err, fault.Usage) {
		t.Errorf("a long rate: %v", err)
	}
}

// TestTwoFuturesOfOneRecord: two workers step from what both have read, and share nothing.
func TestTwoFuturesOfOneRecord(t *testing.T) {
	r, _ := movement.ParseRecord("migrate documents")
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for n, verb := range []movement.Verb{movement.Start, movement.Pause, movement.Resume, movement.Pause, movement.Resume} {
		r, _, _ = movement.Step(r, movement.Event{At: now.Add(time.Duration(n)), Verb: verb})
	}
	one, _, _ := movement.Step(r, movement.Event{At: now.Add(time.Hour), Verb: movement.Pause})
	before := copied(t, one)
	if _, _, err := movement.Step(r, movement.Event{At: now.Add(time.Hour), Verb: movement.Abort}); err != nil {
		t.Fatal(err)
	}
	if !same(one, before) {
		t.Errorf("the journal %v became %v", before.Journal, one.Journal)
	}
}

func TestEventsThatAreNone(t *testing.T) {
	r, _ := movement.ParseRecord("migrate documents")
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		event movement.Event
		kind  fault.Kind
	}{
		{movement.Event{Verb: movement.Start}, fault.Bug},
		{movement.Event{At: now}, fault.Usage},
		{movement.Event{At: now, Verb: "dance"}, fault.Usage},
		{movement.Event{At: now, Happened: "danced"}, fault.Usage},
		{movement.Event{At: now, Verb: movement.Start, Happened: movement.Undone}, fault.Bug},
		{movement.Event{At: now, Verb: movement.Throttle}, fault.Usage},
		{movement.Event{At: now, Happened: movement.PhaseDone, Phase: "dance"}, fault.Bug},
	} {
		if _, _, err := movement.Step(r, tc.event); !fault.Is(err, tc.kind) {
			t.Errorf("%+v: %v, want %v", tc.event, err, tc.kind)
		}
	}
	for _, line := range []string{"", "begun a b", `stuck a cause="`, "pause now=1", `stuck a cause="\x"`} {
		if e, err := movement.ParseEvent(line); !fault.Is(err, fault.Usage) {
			t.Errorf("%q is %+v", line, e)
		}
	}
	for _, line := range []string{"", "migrate verify verify", "migrate cleanup~ documents", "migrate !"} {
		if r, err := movement.ParseRecord(line); err == nil {
			t.Errorf("%q is %s", line, r)
		}
	}
	done := now
	for name, r := range map[string]movement.Record{
		"no state":    {State: "asleep"},
		"out of turn": {State: movement.Running, Phases: []movement.Phase{{Name: "a"}, {Name: "b", Started: done, Ended: done}}},
		"early flip":  {State: movement.Running, Phases: []movement.Phase{{Name: "a"}, {Name: "b", Flips: true, Started: done}}},
		"settles":     {State: movement.Switched, Settling: true},
	} {
		if _, _, err := movement.Step(r, movement.Event{At: now, Verb: movement.Pause}); !fault.Is(err, fault.Bug) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add(`stuck verify/2 by=w1 cause="12 \"documents\" differ" next="" listed`)
	f.Add(`throttle by=ann rate="{\"documents\":5000}" why=x=y`)
	f.Add("=\" 0\"0")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := movement.ParseEvent(line)
		if err != nil || len(line) > 900 {
			return
		}
		back, err := movement.ParseEvent(e.String())
		if err != nil || back.String() != e.String() {
			t.Fatalf("%q is %q is %q, %v", line, e, back, err)
		}
	})
}

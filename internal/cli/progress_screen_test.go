package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// shown is a migration of three indices in the middle of its copy.
func shown() *control.Movement {
	m := &control.Movement{Record: movement.Record{ID: "M", State: movement.Running}, Progress: &control.Copying{
		Phase: "documents", Workers: 3, Counts: work.Counts{Read: 1_234_567, Bytes: 3 << 30, Retries: 2, Failed: 1},
		Pace: control.Pace{Rate: control.Rate{Documents: 12_345, Bytes: 23_400_000}, Fraction: 0.42, TimeLeft: 200_000},
		Indices: []control.CopiedOf{
			{Index: control.Moved{Target: "done", Source: "a", Documents: 10}, Items: control.Pieces{Done: 1}, Copied: work.Counts{Read: 9}},
			{Index: control.Moved{Target: "waiting", Source: "b", Documents: 1000}, Items: control.Pieces{Waiting: 2}},
			{Index: control.Moved{Target: "a-very-long-name-of-an-index", Source: "c", Documents: 2000}, Items: control.Pieces{Leased: 3, Done: 1}, Copied: work.Counts{Read: 1000, Failed: 1}},
		},
	}}
	return m
}

func TestTheScreen(t *testing.T) {
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{109, 24, `movement M: running, documents
a-very-long-name-of-an-index ██████████░░░░░░░░░░  50 %  1,000 of 2,000  3 workers, 1 document failed
waiting                      ░░░░░░░░░░░░░░░░░░░░   0 %  0 of 1,000  waits
done                         ████████████████████ 100 %  9 of 10  copied
42 %, 3 min 20 s left, 12,345 documents/s, 23.4 MB/s, 1,234,567 documents, 3.0 GiB, 3 workers, 2 retries, 1 …`},
		{40, 4, `movement M: running, documents
a-very-long-… ██████████░░░░░░░░░░  50 …
… and 2 indices more: 0 items at work, …
42 %, 3 min 20 s left, 12,345 documents…`},
		{200, 2, `movement M: running, documents
42 %, 3 min 20 s left, 12,345 documents/s, 23.4 MB/s, 1,234,567 documents, 3.0 GiB, 3 workers, 2 retries, 1 document failed`},
		{200, 1, `movement M: running, documents`},
	} {
		lines := screen(shown(), "./data", c.width, c.height)
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%d × %d:\n%s\nwant\n%s", c.width, c.height, got, c.want)
		}
		if len(lines) > c.height {
			t.Errorf("%d lines on %d rows", len(lines), c.height)
		}
	}
}

func TestTheScreenOfWhatIsHindered(t *testing.T) {
	m := shown()
	m.Progress.Limits.DocumentsPerSecond = 10
	m.Progress.Hindrances = []control.Hindrance{{Cause: "it takes for ever", Next: "raise the limits"}}
	got := strings.Join(screen(m, "./data", 60, 24)[5:], "\n")
	if want := "limits: 10 documents/s\n! it takes for ever\n  → raise the limits"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestStateLines: whoever looks reads why a movement does not go on, and who has stopped it.
func TestStateLines(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		events []movement.Event
		want   string
	}{
		{[]movement.Event{{Verb: movement.Start}}, "movement M: running"},
		{[]movement.Event{{Verb: movement.Start}, {Verb: movement.Pause, By: "ann", Why: "lunch"}},
			"movement M: paused by ann: lunch; it goes on with reshelve movement resume M --at './my data'"},
		{[]movement.Event{{Verb: movement.Start}, {Verb: movement.Pause}, {Verb: movement.Abort, By: "ben"}, {Happened: movement.Undone, By: "w1"}},
			"movement M: aborted by ben"},
		{[]movement.Event{{Verb: movement.Start}, {Happened: movement.PhaseBegun, Phase: "documents"}, {Happened: movement.Stuck, Phase: "documents", Cause: "no disk"}},
			"movement M: held: no disk"},
	} {
		m := &control.Movement{Record: movement.Record{ID: "M", State: movement.Planned, Phases: []movement.Phase{{Name: "documents"}}}}
		for i, e := range c.events {
			e.At = at.Add(time.Duration(i) * time.Minute)
			next, _, err := movement.Step(m.Record, e)
			if err != nil {
				t.Fatal(err)
			}
			m.Record = next
		}
		if got := stateLine(m, "./my data"); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestWhatResumeLeaves: who resumes what has failed is told that it stays so.
func TestWhatResumeLeaves(t *testing.T) {
	m := shown()
	if got, want := stayFailed(m), "1 document that failed: resume does not try again"; got != want {
		t.Errorf("%q", got)
	}
	m.Progress.Items.Failed = 2
	if got, want := stayFailed(m), "2 items and 1 document that failed: resume does not try again"; got != want {
		t.Errorf("%q", got)
	}
	m.Progress.Items.Failed, m.Progress.Failed = 0, 0
	if got := stayFailed(m); got != "" {
		t.Errorf("%q", got)
	}
}

package migrate_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// evenly is a migration whose workers copy bytes evenly and store how far they are at their
// own heartbeats, which is all that the records tell.
type evenly struct {
	workers   int
	perSecond float64 // bytes, of one worker
	heartbeat float64 // seconds
	items     []ranged
}

// ranged is an item: documents of one length.
type ranged struct {
	index     int
	documents int64
	bytes     int64 // of a document
	planned   int64 // what the plan believes it to be

	worker  int
	from    float64 // when it is begun, in seconds
	seconds float64
}

// plan gives each item to the worker that is free first, and tells when all is done.
func (c *evenly) plan() (end float64) {
	free := make([]float64, c.workers)
	for i := range c.items {
		item := &c.items[i]
		for w := range free {
			if free[w] < free[item.worker] {
				item.worker = w
			}
		}
		item.from, item.seconds = free[item.worker], float64(item.documents*item.bytes)/c.perSecond
		free[item.worker] += item.seconds
		end = max(end, free[item.worker])
	}
	return end
}

// look is what the records tell at t.
func (c *evenly) look(indices int, t float64) *migrate.Progress {
	p := &migrate.Progress{Indices: make([]migrate.IndexProgress, indices)}
	heard, leased := 0.0, 0
	for i := range c.items {
		item := &c.items[i]
		index := &p.Indices[item.index]
		index.Documents += item.documents
		index.Bytes += item.documents * item.planned
		var read int64
		switch at := t - item.from; {
		case at < 0:
			index.Items.Waiting++
		case at >= item.seconds:
			index.Items.Done++
			read = item.documents
		default:
			index.Items.Leased++
			beat := math.Floor(at/c.heartbeat) * c.heartbeat // the last one
			read = int64(beat / item.seconds * float64(item.documents))
			heard, leased = heard+item.from+beat, leased+1
		}
		counts := work.Counts{Read: read, Acknowledged: read, Bytes: read * item.bytes}
		index.Copied.Add(counts)
		p.Add(counts)
	}
	p.AsOf = noon.Add(seconds(t))
	if leased > 0 {
		p.AsOf = noon.Add(seconds(heard / float64(leased)))
	}
	return p
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// TestTimeLeft: after the first tenth the time that is told to be left is within 15 % of what
// it turns out to be, for one worker and for many, compared with the beginning or with a look
// a minute before; but for the end, when workers find nothing more to do.
func TestTimeLeft(t *testing.T) {
	for _, c := range []evenly{
		{workers: 1, perSecond: 1e6, heartbeat: 5, items: even(1, 1000, 40_000, 1000, 1000)},
		{workers: 2, perSecond: 1e6, heartbeat: 5, items: even(1, 64, 4_000, 5000, 5000)},
		{workers: 8, perSecond: 3e6, heartbeat: 5, items: even(3, 400, 9_000, 2000, 1500)}, // the plan is wrong by a third
		{workers: 40, perSecond: 2e6, heartbeat: 10, items: mixed(12, 2000)},
	} {
		end := c.plan()
		indices := 0
		for _, item := range c.items {
			indices = max(indices, item.index+1)
		}
		begin := &migrate.Progress{AsOf: noon}
		for at := end / 10; at < end*0.95; at += end / 200 {
			later := c.look(indices, at)
			for name, earlier := range map[string]*migrate.Progress{"the beginning": begin, "a minute before": c.look(indices, max(at-60, 0))} {
				left, known := migrate.PaceOf(earlier, later, migrate.Limits{}, noon.Add(seconds(at))).Left()
				if want := end - at; !known || math.Abs(left.Seconds()-want) > 0.15*want+c.heartbeat {
					t.Errorf("%d workers, %.0f of %.0f s, against %s: %.0f s are left, told is %s", c.workers, at, end, name, want, left)
					break
				}
			}
		}
	}
}

func even(indices, items int, documents, bytes, planned int64) (all []ranged) {
	for i := range items {
		all = append(all, ranged{index: i % indices, documents: documents, bytes: bytes, planned: planned})
	}
	return all
}

// mixed are indices whose documents differ in length by a factor of a hundred, and of which
// the plan knows the lengths to a fifth.
func mixed(indices, items int) (all []ranged) {
	for i := range items {
		length := int64(200) << (i % indices / 2)
		all = append(all, ranged{index: i % indices, documents: 3_000_000 / length * int64(1+i%3), bytes: length, planned: length * 4 / 5})
	}
	return all
}

// TestWhatIsNotKnownIsNotTold: without two different looks there is neither rate nor time.
func TestWhatIsNotKnownIsNotTold(t *testing.T) {
	p := &migrate.Progress{AsOf: noon, Indices: []migrate.IndexProgress{{Index: migrate.Index{Documents: 10, Bytes: 100}}}}
	for name, earlier := range map[string]*migrate.Progress{"the same": p, "a later one": {AsOf: noon.Add(time.Hour)}, "nothing read since": {AsOf: noon.Add(-time.Hour)}} {
		if pace := migrate.PaceOf(earlier, p, migrate.Limits{}, noon); pace.TimeLeft != 0 || pace.Rate != (migrate.Rate{}) || pace.Fraction != 0 {
			t.Errorf("against %s: %+v", name, pace)
		}
	}
}

// TestBegin: a single look is compared with the time that the documents' phase has been at
// work, without pauses and closed hours.
func TestBegin(t *testing.T) {
	m := &movement.Record{State: movement.Running, Phases: []movement.Phase{{Name: "documents", Started: noon}}, Journal: []movement.Applied{
		{At: noon.Add(-time.Hour), Event: "start", State: movement.Running},
		{At: noon.Add(10 * time.Minute), Event: "pause", State: movement.Paused},
		{At: noon.Add(30 * time.Minute), Event: "throttle", State: movement.Paused},
		{At: noon.Add(40 * time.Minute), Event: "resume", State: movement.Running},
	}}
	now := noon.Add(time.Hour)
	if at := migrate.Begin(m, migrate.Limits{}, now).AsOf; at != now.Add(-30*time.Minute) {
		t.Errorf("it began at %s", at)
	}
	hours, err := migrate.ParseHours("12:50-12:00")
	if err != nil {
		t.Fatal(err)
	}
	if at := migrate.Begin(m, migrate.Limits{Hours: hours}, now).AsOf; at != now.Add(-10*time.Minute) {
		t.Errorf("within its hours it began at %s", at)
	}
	m.Phases[0].Ended = now
	if migrate.Begin(m, migrate.Limits{}, now) != nil {
		t.Error("what is over has a beginning")
	}
}

func TestHours(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.Parse("02 15:04 -0700", text)
		if err != nil {
			t.Fatal(err)
		}
		return when.AddDate(2026, 2, 0)
	}
	for _, c := range []struct {
		hours, at, opens string // "": open
		work, takes      time.Duration
	}{
		{"08:00-18:00", "03 09:00 +0000", "", time.Hour, time.Hour},
		{"08:00-18:00", "03 19:00 +0000", "04 08:00 +0000", time.Hour, 14 * time.Hour},
		{"08:00-18:00", "03 17:00 +0000", "", 2 * time.Hour, 16 * time.Hour},
		{"22:00-06:00", "03 23:00 +0000", "", 7 * time.Hour, 7 * time.Hour},
		{"22:00-06:00", "03 05:00 +0000", "", 2 * time.Hour, 18 * time.Hour},
		{"22:00-06:00", "03 06:00 +0000", "03 22:00 +0000", 80 * time.Hour, 9*day + 24*time.Hour},
		{"22:00-06:00 +02:00", "03 20:30 +0000", "", time.Hour, time.Hour},
		{"22:00-06:00 Europe/Berlin", "03 20:30 +0000", "03 21:00 +0000", time.Hour, 90 * time.Minute},
		{"00:00-24:00", "03 20:30 +0000", "", time.Hour, time.Hour},
	} {
		h, err := migrate.ParseHours(c.hours)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := migrate.ParseHours(h.String()); !h.IsZero() && (err != nil || again.String() != h.String()) {
			t.Errorf("%s reads as %s, %v", h, again, err)
		}
		open, until := h.Open(at(c.at))
		if open != (c.opens == "") || !open && !until.Equal(at(c.opens)) {
			t.Errorf("%s at %s: open %t, from %s", c.hours, c.at, open, until)
		}
		takes := h.Takes(at(c.at), c.work)
		if takes != c.takes {
			t.Errorf("%s at %s: %s take %s, want %s", c.hours, c.at, c.work, takes, c.takes)
		}
		if within := h.Within(at(c.at), at(c.at).Add(takes)); within != c.work {
			t.Errorf("%s at %s: of %s %s are within, want %s", c.hours, c.at, takes, within, c.work)
		}
	}
	for _, text := range []string{"", "8-9", "08:00", "08:00-08:00", "25:00-26:00", "08:00-09:00 Nowhere/There", "08:00-09:00 Local", "24:00-08:00", "08:00-09:00 +99:99"} {
		if h, err := migrate.ParseHours(text); err == nil {
			t.Errorf("%q reads as %s", text, h)
		}
	}
}

const day = 24 * time.Hour

// TestHindrances: what is told of a migration that does not get to its end, with the rate
// that would do.
func TestHindrances(t *testing.T) {
	nightly, _ := migrate.ParseHours("00:00-06:00")
	slow := func(perSecond float64, l migrate.Limits) *migrate.Progress {
		p := &migrate.Progress{Limits: l, AsOf: noon, Counts: work.Counts{Read: 1_000_000, Acknowledged: 1_000_000, Bytes: 1e9},
			Indices: []migrate.IndexProgress{{Index: migrate.Index{Documents: 1_000_000_000, Bytes: 1e12}, Copied: work.Counts{Read: 1_000_000, Bytes: 1e9}}}}
		ago := l.Hours.Takes(noon, time.Duration(1e6/perSecond*float64(time.Second)))
		p.Pace = migrate.PaceOf(&migrate.Progress{AsOf: noon.Add(-ago)}, p, l, noon)
		return p
	}
	for _, c := range []struct {
		name  string
		p     *migrate.Progress
		still time.Duration
		want  string
	}{
		{"fast enough", slow(10_000, migrate.Limits{}), 0, "[]"},
		{"slow", slow(1000, migrate.Limits{}), 0,
			"[at 1000 documents/s what is left takes 12 days; 7 days need 1652 documents/s, 1.7 MB/s → start more workers, or see what holds the target back]"},
		{"held by its limit", slow(1000, migrate.Limits{DocumentsPerSecond: 1000}), 0,
			"[under its limits (1000 documents/s) what is left takes 12 days; 7 days need 1652 documents/s, 1.7 MB/s → raise them with reshelve movement throttle]"},
		{"a target that takes nothing", &migrate.Progress{Waiting: "disk full"}, 3 * time.Minute,
			"[no document was acknowledged for 3m0s: disk full → see whether the target takes writes: its disks, its queues, its rights; the workers try on, and nothing is lost]"},
		{"some failed", &migrate.Progress{Counts: work.Counts{Acknowledged: 9, Failed: 1}}, 0,
			"[1 document failed, and 0 may: it will hold at its end → see reshelve movement failures; mend the cause, then redrive when it holds]"},
		{"all are refused", &migrate.Progress{Counts: work.Counts{Failed: 5000}}, 0,
			"[each of the first 5000 documents was refused for good → pause it and see reshelve movement failures: the cause is none of single documents]"},
		{"out of hours", &migrate.Progress{Limits: migrate.Limits{Hours: nightly}}, 0,
			"[it waits for its hours, 00:00-06:00 UTC, which begin at 2026-03-02 00:00 +0000 → wait, or change them with reshelve movement throttle]"},
	} {
		var told []string
		for _, h := range migrate.Hinder(c.p, c.still, 0, noon) {
			told = append(told, h.Cause+" → "+h.Next)
		}
		if got := fmt.Sprint(told); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestShares(t *testing.T) {
	l := migrate.Limits{DocumentsPerSecond: 900, BytesPerSecond: 3000}
	if sum := l.Share(2, 6).DocumentsPerSecond + l.Share(1, 6).DocumentsPerSecond + l.Share(3, 6).DocumentsPerSecond; math.Abs(sum-900) > 1e-6 {
		t.Errorf("the shares of all slots are %g documents/s", sum)
	}
	for _, alone := range [][2]int{{0, 0}, {3, 3}, {0, 5}, {4, 2}} {
		if got := l.Share(alone[0], alone[1]); got != l {
			t.Errorf("%v: %s", alone, got)
		}
	}
	for text, want := range map[string]string{
		``: "none", `{}`: "none", `{"documentsPerSecond":5000}`: "5000 documents/s",
		`{"bytesPerSecond":2500000,"hours":"22:00-06:00"}`: "2.5 MB/s, from 22:00-06:00 UTC", `{"bytesPerSecond":2048}`: "2.048 kB/s",
		`{"documentsPerSecond":-1}`: "", `{"documentPerSecond":1}`: "", `{"hours":7}`: "", `[]`: "",
	} {
		got, err := migrate.ReadLimits([]byte(text))
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

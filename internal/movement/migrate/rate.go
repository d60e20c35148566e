package migrate

import (
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
)

// Rate is how much there is of something in a second.
type Rate struct {
	Documents float64 `json:"documents"`
	Bytes     float64 `json:"bytes"` // of sources
}

// Pace is how fast the documents of a migration come, and how long what is left of them takes.
// It is known while documents are copied, and some have been.
type Pace struct {
	Rate Rate `json:"rate"`
	// TimeLeft is until the last document is acknowledged, in milliseconds, the hours in which
	// nothing may be done included; 0 while it is not known.
	TimeLeft int64 `json:"timeLeft,omitempty"`
	// Fraction is how much of the work is done, from 0 to 1: of the bytes, when each document
	// counts as some more than its own.
	Fraction float64 `json:"fraction"`
}

// Left is the time that is left; false while it is not known.
func (p Pace) Left() (time.Duration, bool) {
	return time.Duration(p.TimeLeft) * time.Millisecond, p.TimeLeft > 0
}

// PaceOf is what two looks at the records of one migration tell at now, the store's time. It
// is pure.
//
// Counts are stored by each worker at its own heartbeats, so those of a look are not those of
// the instant of the look, but, on average over the workers, of [Progress.AsOf]: what was done
// between two looks was done between their AsOf, and what is left at later had begun to be
// done when it was read.
func PaceOf(earlier, later *Progress, limits Limits, now time.Time) Pace {
	left := later.left()
	pace := Pace{Fraction: 1}
	done, rest := heaviness(float64(later.Read), float64(later.Bytes)), heaviness(float64(left.documents), float64(left.bytes))
	if rest > 0 {
		pace.Fraction = done / (done + rest)
	}
	between := limits.Hours.Within(earlier.AsOf, later.AsOf).Seconds()
	if between <= 0 || later.Read <= earlier.Read {
		return pace
	}
	pace.Rate = Rate{
		Documents: float64(later.Read-earlier.Read) / between,
		Bytes:     float64(later.Bytes-earlier.Bytes) / between,
	}
	seconds := left.seconds(pace.Rate, limits)
	if seconds <= 0 {
		return pace
	}
	from := later.AsOf
	if from.After(now) {
		from = now
	}
	took := limits.Hours.Takes(from, span(seconds)) - now.Sub(from)
	pace.TimeLeft = max(took.Milliseconds(), 1)
	return pace
}

// forever is the longest time that is told.
const forever = 100 * 365 * 24 * time.Hour

// span is so many seconds, and forever at most.
func span(seconds float64) time.Duration {
	if seconds >= forever.Seconds() {
		return forever
	}
	return time.Duration(seconds * float64(time.Second))
}

// amount is what is still to be copied.
type amount struct{ documents, bytes int64 }

// perDocument is how many bytes of a source cost as much as a document does whatever its
// length: 0.3 to 1.5 KB documents took 45 to 90 µs in OpenSearch 2.19, and 24 to 80 in a data
// folder.
const perDocument = 1500

// heaviness is what copying so much costs, in bytes.
func heaviness(documents, bytes float64) float64 { return perDocument*documents + bytes }

// binding is the part of a limit from which on it, and nothing else, says how fast it goes.
const binding = 0.7

// seconds is how long the amount takes at a rate that was measured, under limits that may
// have been changed since.
func (a amount) seconds(r Rate, l Limits) float64 {
	at := func(left int64, rate float64) float64 {
		if rate <= 0 {
			return 0
		}
		return float64(left) / rate
	}
	limited := max(at(a.documents, l.DocumentsPerSecond), at(a.bytes, l.BytesPerSecond))
	switch {
	case r == (Rate{}):
		return limited
	case l.DocumentsPerSecond > 0 && r.Documents >= binding*l.DocumentsPerSecond:
		return max(at(a.documents, r.Documents), limited)
	case l.BytesPerSecond > 0 && r.Bytes >= binding*l.BytesPerSecond:
		return max(at(a.bytes, r.Bytes), limited)
	}
	return max(heaviness(float64(a.documents), float64(a.bytes))/heaviness(r.Documents, r.Bytes), limited)
}

// trusted is how much of an index must have been read before the size of its documents is
// taken for that of the rest.
const trusted = 0.02

// left estimates what is still to be copied, index by index: documents that are expected and
// were not read, each as long as those of its index that were; where too few were read, as
// the plan says, corrected by how far the plan has been off elsewhere.
func (p *Progress) left() (all amount) {
	var read, planned float64
	for i := range p.Indices {
		x := &p.Indices[i]
		if x.Copied.Read > 0 && x.Documents > 0 {
			read += float64(x.Copied.Bytes)
			planned += float64(x.Copied.Read) * float64(x.Bytes) / float64(x.Documents)
		}
	}
	correction := 1.0
	if read > 0 && planned > 0 {
		correction = read / planned
	}
	for i := range p.Indices {
		x := &p.Indices[i]
		documents := x.Documents - x.Copied.Read
		if documents <= 0 || x.ended() {
			continue
		}
		each := correction * float64(x.Bytes) / float64(x.Documents)
		if float64(x.Copied.Read) >= trusted*float64(x.Documents) && x.Copied.Read > 0 {
			each = float64(x.Copied.Bytes) / float64(x.Copied.Read)
		}
		all.documents += documents
		all.bytes += int64(each * float64(documents))
	}
	return all
}

// ended tells whether nothing of the index will be copied any more, whatever was expected.
func (i *IndexProgress) ended() bool {
	s := &i.Items
	return i.Cause != "" && i.State != "" && s.total() == 0 || s.total() > 0 && s.Waiting+s.Leased == 0
}

func (s *States) total() int { return s.Waiting + s.Leased + s.Done + s.Failed }

// Begin is how far a migration was when its documents began to be copied: nowhere, and so
// long ago as it has been at work since. It is what a single look is compared with. Times in
// which it was paused, or held, or outside of its hours, do not count. Nil while no documents
// are copied.
func Begin(m *movement.Record, limits Limits, now time.Time) *Progress {
	at := slices.IndexFunc(m.Phases, func(p movement.Phase) bool { return p.Name == phaseDocuments })
	if at < 0 || m.Phases[at].Started.IsZero() || !m.Phases[at].Ended.IsZero() {
		return nil
	}
	began := m.Phases[at].Started
	var worked time.Duration
	since, running := began, true
	for _, e := range m.Journal {
		if e.At.After(began) && running != (e.State == movement.Running) {
			if running {
				worked += limits.Hours.Within(since, e.At)
			}
			since, running = e.At, !running
		}
	}
	if running {
		worked += limits.Hours.Within(since, now)
	}
	return &Progress{AsOf: now.Add(-worked)}
}

// Judge adds to a look what an earlier one tells beside it: the pace, and what hinders. Nil is
// no earlier one. Still is for how long no document has got on.
func (p *Progress) Judge(m *movement.Record, earlier *Progress, still time.Duration, now time.Time) {
	if m.State != movement.Running {
		p.Pace = PaceOf(p, p, p.Limits, now) // how much is done, no more
		if len(m.Owed()) > 0 {
			p.Hindrances = append(p.kept(), p.waiting()...)
		}
		return
	}
	if earlier == nil {
		earlier = Begin(m, p.Limits, now)
	}
	if earlier != nil && p.Phase == phaseDocuments {
		p.Pace = PaceOf(earlier, p, p.Limits, now)
	}
	plan, _ := ReadPlan(m) // it was read before
	p.Hindrances = Hinder(p, still, plan.AllowFailures, now)
}

// Copies tells whether documents are being copied: then there is a pace.
func (p *Progress) Copies() bool { return p.Phase == phaseDocuments }

// Current is the phase that a migration is in, in words: "" when it has ended.
func Current(m *movement.Record) string {
	switch phase := m.Current(); {
	case phase != nil:
		return phase.Key()
	case m.Settling:
		return "settling"
	case m.State == movement.Aborting:
		return "undoing"
	}
	for i := range m.Phases {
		if p := &m.Phases[i]; p.Ended.IsZero() && !m.State.Ended() {
			return p.Key()
		}
	}
	return ""
}

// active orders indices for people: those that are being copied first, those that took the
// most first among them, then those that wait, then those that are done.
func active(a, b IndexProgress) int {
	rank := func(i *IndexProgress) int {
		switch {
		case i.Items.Failed > 0 || i.State == "failed":
			return 1
		case i.Items.Leased > 0:
			return 0
		case i.ended():
			return 3
		}
		return 2
	}
	if d := rank(&a) - rank(&b); d != 0 {
		return d
	}
	return strings.Compare(a.Source, b.Source)
}

// Active are the indices, those that people look for first: at work, failed, waiting, done.
func (p *Progress) Active() []IndexProgress {
	return slices.SortedStableFunc(slices.Values(p.Indices), active)
}

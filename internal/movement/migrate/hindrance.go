package migrate

import (
	"cmp"
	"fmt"
	"time"
)

// TooLong is a time left that nobody is believed to have meant.
const TooLong = 7 * 24 * time.Hour

// stillAfter is how long workers may be heard of without a document getting on: longer than a
// target that is restarted takes.
const stillAfter = 2 * time.Minute

// Hindrance is why a migration does not get to its end as it is, or not before long.
type Hindrance struct {
	Cause string `json:"cause"`
	Next  string `json:"next"`
	// Needs is the rate that would do; zero where none would.
	Needs Rate `json:"needs,omitzero"`
}

// Hinder tells what hinders a migration. Still is for how long no document has got on while
// somebody worked; allowed is how many documents may fail. It is pure.
func Hinder(p *Progress, still time.Duration, allowed int64, now time.Time) (all []Hindrance) {
	all = p.kept()
	if open, until := p.Limits.Hours.Open(now); !open {
		all = append(all, Hindrance{
			Cause: "it waits for its hours, " + p.Limits.Hours.String() + ", which begin at " + until.Format("2006-01-02 15:04 -0700"),
			Next:  "wait, or change them with reshelve movement throttle",
		})
	}
	all = append(all, p.waiting()...)
	if still >= stillAfter {
		all = append(all, standstill(p, still))
	}
	if p.Failed > allowed {
		all = append(all, refusals(p, allowed))
	}
	if left, known := p.Pace.Left(); known && left > TooLong {
		all = append(all, p.tooSlow(left, now))
	}
	return all
}

// kept are why processes cannot work for it, while none does.
func (p *Progress) kept() (all []Hindrance) {
	if p.Workers > 0 {
		return nil
	}
	for _, i := range p.Unable {
		next := cmp.Or(i.Next, "start a worker where that is not so")
		all = append(all, Hindrance{Cause: "worker " + i.Worker + " cannot work for it: " + i.Cause, Next: next})
	}
	return all
}

// waiting are why its workers wait.
func (p *Progress) waiting() (all []Hindrance) {
	for _, w := range p.Waits {
		next := cmp.Or(w.Next, "see whether it answers, and with what; the workers try on, and nothing is lost")
		all = append(all, Hindrance{Cause: "waiting since " + w.Since.UTC().Format("15:04:05") + " UTC: " + w.Cause, Next: next})
	}
	return all
}

// standstill is that workers are heard of, and no document gets on.
func standstill(p *Progress, still time.Duration) Hindrance {
	cause := fmt.Sprintf("no document was acknowledged for %s", still.Round(time.Second))
	if p.Waiting != "" {
		cause += ": " + p.Waiting
	}
	return Hindrance{Cause: cause, Next: "see whether the target takes writes: its disks, its queues, its rights; the workers try on, and nothing is lost"}
}

// refusals is that the target has refused for good more documents than may fail. Where it has
// taken none, the others will fare no better.
func refusals(p *Progress, allowed int64) Hindrance {
	h := Hindrance{
		Cause: fmt.Sprintf("%s failed, and %d may: it will hold at its end", counted(int(p.Failed), "documents"), allowed),
		Next:  "see reshelve movement failures; mend the cause, then redrive when it holds",
	}
	if p.Acknowledged == 0 && p.Failed >= 1000 {
		h.Cause = fmt.Sprintf("each of the first %d documents was refused for good", p.Failed)
		h.Next = "pause it and see reshelve movement failures: the cause is none of single documents"
	}
	return h
}

// tooSlow is that what is left takes longer than anybody waits, with the rate that would do.
func (p *Progress) tooSlow(left time.Duration, now time.Time) Hindrance {
	rest := p.left()
	seconds := p.Limits.Hours.Within(now, now.Add(TooLong)).Seconds()
	h := Hindrance{
		Cause: fmt.Sprintf("at %.0f documents/s what is left takes %.0f days", p.Rate.Documents, left.Hours()/24),
		Next:  "start more workers, or see what holds the target back",
		Needs: Rate{Documents: float64(rest.documents) / seconds, Bytes: float64(rest.bytes) / seconds},
	}
	if limited := rest.seconds(Rate{}, p.Limits); limited > 0 && left.Seconds() <= 1.25*p.Limits.Hours.Takes(now, span(limited)).Seconds() {
		h.Cause = fmt.Sprintf("under its limits (%s) what is left takes %.0f days", p.Limits, left.Hours()/24)
		h.Next = "raise them with reshelve movement throttle"
	} else if !p.Limits.Hours.always() {
		h.Next = "give it more hours with reshelve movement throttle, or start more workers"
	}
	h.Cause += fmt.Sprintf("; %.0f days need %.0f documents/s, %.1f MB/s", TooLong.Hours()/24, h.Needs.Documents, h.Needs.Bytes/1e6)
	return h
}

package sim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Draw makes the script of a seed. Its failures pass: a fleet that is left alone after the
// last of them ends what it has begun.
func Draw(seed uint64) *Script {
	r := rand.New(rand.NewPCG(seed, 1))
	between := func(low, high time.Duration) time.Duration { // odd ones: no two timers meet
		return low + time.Duration(r.Int64N(int64(high-low))) | 1
	}
	s := &Script{Seed: seed, Workers: 1 + r.IntN(4), Slots: 1 + r.IntN(2), Attempts: 60, Bulk: 1000 + r.IntN(3000),
		Lease: between(8*time.Second, 90*time.Second), Into: r.IntN(5) == 0, Takes: between(200*time.Millisecond, 6*time.Second)}
	s.Heartbeat = between(s.Lease/40, s.Lease/4)
	s.Transform = r.IntN(5) == 0
	if r.IntN(4) == 0 {
		s.Delta = []string{"forth", "forth", "back"}[r.IntN(3)]
	}
	whom := func() string { return fmt.Sprintf("w%d", 1+r.IntN(s.Workers)) }
	befalls := func(who string) string { return Befalls[who][r.IntN(len(Befalls[who]))] }
	for range r.IntN(7) {
		m := Mishap{At: between(time.Millisecond, 60*time.Second), For: between(time.Second, 40*time.Second)}
		switch r.IntN(13) {
		case 0:
			m.What, m.Whom = "crash", whom()
		case 1:
			m.What, m.Whom = "stop", whom()
		case 2, 3:
			m.What, m.Whom, m.For = "pause", whom(), between(s.Heartbeat, 3*s.Lease)
		case 4:
			m = Mishap{What: "crash-before", Whom: fmt.Sprint(1 + r.IntN(150)), For: m.For}
		case 5:
			m = Mishap{What: "crash-after", Whom: fmt.Sprint(1 + r.IntN(150)), For: m.For}
		case 6, 7:
			m.What, m.Whom = "store", befalls("store")
		case 8, 9:
			m.What, m.Whom = "target", befalls("target")
		case 10:
			m = Mishap{What: "clock", Whom: between(time.Second, 5*time.Minute).String(), At: m.At}
		case 11:
			m.What, m.Whom = "source", befalls("source")
		case 12:
			m.What, m.Whom = []string{lost, damaged}[r.IntN(2)], fmt.Sprint(r.IntN(1000))
			if r.IntN(2) == 0 {
				m.For, s.Attempts = 0, 8 // it is read in vain as often
			}
		}
		s.Mishaps = append(s.Mishaps, m)
	}
	s.Mishaps = append(s.Mishaps, s.rare(r, between)...)
	return s
}

// rare is what an operator does, or befalls a machine, in some scripts: once.
func (s *Script) rare(r *rand.Rand, between func(low, high time.Duration) time.Duration) []Mishap {
	switch r.IntN(10) {
	case 0:
		return []Mishap{{What: "verb", Whom: "abort", At: between(time.Millisecond, 60*time.Second)}}
	case 1:
		at := between(time.Millisecond, 40*time.Second)
		return []Mishap{{What: "verb", Whom: "pause", At: at},
			{What: "verb", Whom: "resume", At: at + between(time.Second, time.Minute)}}
	case 2:
		return []Mishap{{What: "steal", Whom: "shelves", At: between(time.Second, 60*time.Second)}}
	case 3:
		return []Mishap{{What: "limit", Whom: fmt.Sprint(1 + r.IntN(9)), At: between(time.Millisecond, 5*time.Second)}}
	case 4:
		return []Mishap{{What: "hours", Whom: fmt.Sprintf("00:%02d-00:%02d", 1+r.IntN(2), 3+r.IntN(4)), At: between(time.Millisecond, 5*time.Second)},
			{What: "hours", Whom: "00:00-23:59", At: 8 * time.Minute}}
	case 5: // the clock of one machine is off by more than is allowed: it leaves all to the others
		if s.Workers > 1 {
			return []Mishap{{What: "skew", Whom: "w1", For: between(16*time.Minute, time.Hour) * time.Duration(1-2*r.IntN(2))}}
		}
	}
	return nil
}

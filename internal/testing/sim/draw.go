package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	befalls := func(who string) string { return anyOf(r, who) }
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
			m = s.leap(between(time.Second, 5*time.Minute), m.At)
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
	s.alone(seed)
	return s
}

// anyOf is a failure of those that befall somebody; one that alone draws is not among them.
func anyOf(r *rand.Rand, who string) string {
	kinds := slices.DeleteFunc(slices.Clone(Befalls[who]), func(kind string) bool { return kind == "barren" })
	return kinds[r.IntN(len(kinds))]
}

// alone adds what befalls one worker, or the clock, by chances of its own.
func (s *Script) alone(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	at := time.Millisecond + time.Duration(r.Int64N(int64(60*time.Second))) | 1
	switch r.IntN(6) {
	case 0:
		s.Mishaps = append(s.Mishaps, Mishap{What: "cut-off", Whom: fmt.Sprintf("w%d", 1+r.IntN(s.Workers)), At: at, For: s.Heartbeat + time.Duration(r.Int64N(int64(3*s.Lease))) | 1})
	case 1:
		m := s.leap(time.Second+time.Duration(r.Int64N(int64(5*time.Minute))), at)
		m.Whom = "-" + m.Whom
		s.Mishaps = append(s.Mishaps, m)
	case 2:
		s.Mishaps = append(s.Mishaps, Mishap{What: "store", Whom: "barren", At: at, For: time.Second + time.Duration(r.Int64N(int64(40*time.Second))) | 1})
	}
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
	case 6, 7:
		return []Mishap{{What: "others", Whom: between(50*time.Millisecond, 2*time.Second).String(), At: between(time.Millisecond, 60*time.Second), For: between(10*time.Second, 3*time.Minute)}}
	}
	return nil
}

// DrawShelves makes the script of a seed in which an index is reshaped.
func DrawShelves(seed uint64) *Script {
	r := rand.New(rand.NewPCG(seed, 2))
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) | 1 }
	s := &Script{Seed: seed, Workers: 1 + r.IntN(4)/3, Slots: 2, Attempts: 60, Bulk: 1000, Lease: between(8*time.Second, 40*time.Second), Takes: between(20*time.Millisecond, 600*time.Millisecond),
		Shards: 1 + r.IntN(3), Keys: 4 + r.IntN(16), Clients: 1 + r.IntN(4), Budget: []time.Duration{20 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second}[r.IntN(3)]}
	s.Heartbeat = between(s.Lease/40, s.Lease/4)
	asked := s.reshapes(r, between)
	near := func() time.Duration { // something that an operator asks for has just been asked for
		return asked[r.IntN(len(asked))].At + between(time.Millisecond, 4*time.Second)
	}
	s.Mishaps = asked
	whom := func() string { return fmt.Sprintf("w%d", 1+r.IntN(s.Workers)) }
	befalls := func(who string) string { return anyOf(r, who) }
	for range r.IntN(6) {
		m := Mishap{At: near(), For: between(time.Second, 30*time.Second)}
		step := fmt.Sprint(20 + r.IntN(60*len(asked)))
		switch r.IntN(14) {
		case 0:
			m.What, m.Whom = "crash", whom()
		case 1:
			m.What, m.Whom = "stop", whom()
		case 2:
			m.What, m.Whom, m.For = "pause", whom(), between(s.Heartbeat, 3*s.Lease)
		case 3, 4:
			m = Mishap{What: "crash-before", Whom: step, For: m.For}
		case 5, 6:
			m = Mishap{What: "crash-after", Whom: step, For: m.For}
		case 7:
			m = Mishap{What: "stall", Whom: step, For: between(s.Lease, 3*s.Lease)}
		case 8:
			m = Mishap{What: "pause-before", Whom: step, For: between(s.Lease, 3*s.Lease)}
		case 9:
			m = Mishap{What: "full-at", Whom: step, For: m.For}
		case 10:
			m = Mishap{What: "torn", Whom: fmt.Sprint(1 + r.IntN(200)), For: m.For}
		case 11:
			m.What, m.Whom = "store", befalls("store")
		case 12:
			m.What, m.Whom = "disk", befalls("disk")
		case 13:
			m = s.leap(between(time.Second, 5*time.Minute), m.At)
		}
		s.Mishaps = append(s.Mishaps, m)
	}
	s.Follows = r.IntN(2) == 0
	switch r.IntN(8) {
	case 0:
		s.Mishaps = append(s.Mishaps, Mishap{What: "delete", Whom: indexName, At: near()})
	case 1:
		s.Mishaps = append(s.Mishaps, Mishap{What: "clients", Whom: befalls("clients"), At: near(), For: between(time.Second, 30*time.Second)})
	}
	return s
}

// reshapes are what operators ask for.
func (s *Script) reshapes(r *rand.Rand, between func(low, high time.Duration) time.Duration) (asked []Mishap) {
	at := between(time.Second, 4*time.Second)
	for range 1 + r.IntN(4) {
		m := Mishap{What: "split", Whom: fmt.Sprintf("%d/%d", r.IntN(4), 2+r.IntN(3)), At: at}
		switch r.IntN(6) {
		case 0:
			m.Whom = "all/2"
		case 1, 2:
			m.What, m.Whom = "merge", fmt.Sprintf("%d+%d", r.IntN(3), 2+r.IntN(2))
		}
		if r.IntN(3) == 0 {
			m.What += "-keeping"
		}
		asked = append(asked, m)
		if verbs := []string{"reverse", "abort", "abort", "finish", "verify", "pause", "resume"}; r.IntN(2) == 0 {
			asked = append(asked, Mishap{What: "verb", Whom: verbs[r.IntN(len(verbs))], At: at + between(time.Millisecond, 4*time.Second)})
		}
		at += between(time.Millisecond, 12*time.Second)
	}
	return asked
}

// clockTolerance is how far a machine's clock may be from the store's.
const clockTolerance = 10 * time.Minute

// leap is one of the store's clock. All together stay below what is allowed: nobody would do
// anything any more.
func (s *Script) leap(by, at time.Duration) Mishap {
	left := clockTolerance - time.Minute
	for _, m := range s.Mishaps {
		if m.What == "clock" {
			before, _ := time.ParseDuration(m.Whom)
			left -= before.Abs()
		}
	}
	return Mishap{What: "clock", Whom: min(by, left).String(), At: at}
}

package reshard

import (
	"time"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// What shedding and comparing leave to searches.
const (
	briskest  = 1.0  // rests as long as it works
	careful   = 4.0  // where it begins, when there were searches lately
	gentlest  = 32.0 // at most
	tolerated = 1.08 // searches may take that much longer than before: less than a bucket of shard.Waits
	settled   = 1.05 // and below that they are as before
	telling   = 20   // searches that tell something
	looking   = 500 * time.Millisecond
)

// SearchesP95 is what a plan notes of the searches before it.
func SearchesP95(recent shard.Waits) time.Duration {
	if recent.Total() < telling {
		return 0
	}
	return recent.Quantile(0.95)
}

// pace is for how long shedding or comparing rests, for each unit of time in which it works.
type pace float64

// next is the pace after a look at n searches, whose 95th percentile is now, and was once. It
// doubles the rests while searches are slower than they were, and halves them when they are as
// before, or when there are none. What too few searches say changes nothing, nor does anything
// when it is not known how they were.
func (p pace) next(was, now time.Duration, n int64) pace {
	switch slower := float64(now) / float64(max(was, 1)); {
	case n == 0:
		return max(p/2, briskest)
	case was <= 0 || n < telling:
		return p
	case slower > tolerated:
		return min(2*p, gentlest)
	case slower <= settled:
		return max(p/2, briskest)
	}
	return p
}

// usual is what searches take without this work, as a look says that found n of them at this pace.
// At the gentlest one it is at work for so little of the time that fewer than one search in
// twenty meets it: when they are slower than they were even so, it is not for this work, and
// resting longer than others need would only make it last. Half of the difference counts, since
// a look may have met something else.
func (p pace) usual(was, now time.Duration, n int64) time.Duration {
	if p < gentlest || was <= 0 || now <= was || n < telling {
		return was
	}
	return was + (now-was)/2
}

// among is the pace of one of so many that work in turns, so that all of them together rest as this
// pace says.
func (p pace) among(n int64) pace {
	if p == 0 {
		return 0
	}
	return pace(n)*(1+p) - 1
}

// rest is what is owed after working for some time and writing some bytes: for searches, and
// because of a rate in bytes in a second, if that is not 0.
func (p pace) rest(worked time.Duration, bytes, rate int64) time.Duration {
	rest := time.Duration(float64(p) * float64(worked))
	if rate > 0 {
		seconds := min(float64(bytes)/float64(rate), 1e9) // what a duration can tell
		rest = max(rest, time.Duration(seconds*float64(time.Second))-worked)
	}
	return rest
}

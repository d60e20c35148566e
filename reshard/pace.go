package reshard

import (
	"time"

	"github.com/reshelve/reshelve/shard"
)

// What shedding and comparing leave to searches.
const (
	briskest  = 1.0  // rests as long as it works
	careful   = 4.0  // where it begins, when there were searches lately
	gentlest  = 32.0 // at most
	tolerated = 1.15 // searches may take that much longer than before
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

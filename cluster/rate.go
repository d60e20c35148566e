package cluster

import (
	"context"
	"math"

	"golang.org/x/time/rate"

	"github.com/reshelve/reshelve/fault"
)

// meter lets so many units through in a second; its limit may change at any time.
type meter struct{ limiter *rate.Limiter }

func newMeter(perSecond float64) *meter {
	m := &meter{rate.NewLimiter(rate.Inf, 1)}
	m.set(perSecond)
	return m
}

// set changes the limit; 0 is none. A burst is what a tenth of a second lets through.
func (m *meter) set(perSecond float64) {
	if perSecond <= 0 {
		m.limiter.SetLimit(rate.Inf)
		return
	}
	m.limiter.SetBurst(max(1, int(perSecond/10)))
	m.limiter.SetLimit(rate.Limit(perSecond))
}

// most is how many units a batch may have so that it does not wait for long: what half a
// second lets through, and one at least.
func (m *meter) most() float64 {
	if limit := m.limiter.Limit(); limit != rate.Inf {
		return max(1, float64(limit)/2)
	}
	return math.Inf(1)
}

// pass waits until n units may go. It goes by bursts, so that a changed limit
// counts within a tenth of a second.
func (m *meter) pass(ctx context.Context, n int) error {
	for n > 0 {
		if m.limiter.Limit() == rate.Inf {
			return ctx.Err()
		}
		piece := min(n, m.limiter.Burst())
		if err := m.limiter.WaitN(ctx, piece); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if m.limiter.Limit() != rate.Inf && piece <= m.limiter.Burst() {
				return fault.New(fault.Limit, "its turn within the rate limit comes after the deadline")
			}
			continue // the limit was changed between the two lines
		}
		n -= piece
	}
	return nil
}

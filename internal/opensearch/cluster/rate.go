package cluster

import (
	"context"
	"math"

	"golang.org/x/time/rate"

	"github.com/reshelve/reshelve/internal/fault"
)

// meter lets so many units through in a second; its limit may change at any time. Batches go
// one after the other: were all to wait at the same time, the first would be sent as late as
// the last, and a short lease would end before anything is acknowledged.
type meter struct {
	limiter *rate.Limiter
	turn    chan struct{} // filled by the batch whose units go
	spare   int           // units that were let through for a batch that was given up; who has the turn has it
}

func newMeter(perSecond float64) *meter {
	m := &meter{limiter: rate.NewLimiter(rate.Inf, 1), turn: make(chan struct{}, 1)}
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
// second lets through, of so many batches one after the other, and one at least.
func (m *meter) most(batches int) float64 {
	if limit := m.limiter.Limit(); limit != rate.Inf {
		return max(1, float64(limit)/2/float64(max(batches, 1)))
	}
	return math.Inf(1)
}

// pass waits until n units may go.
func (m *meter) pass(ctx context.Context, n int) error {
	if !m.limited() {
		return ctx.Err()
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	left, err := m.let(ctx, n-min(n, m.spare))
	m.spare = max(0, m.spare-n)
	if err != nil {
		m.spare = min(n-left, int(m.most(1)))
	}
	return err
}

// let waits until n units may go; left are those that did not, when it is given up. It goes by
// bursts, so that a changed limit counts within a tenth of a second.
func (m *meter) let(ctx context.Context, n int) (left int, err error) {
	for n > 0 {
		if !m.limited() {
			return n, ctx.Err()
		}
		piece := min(n, m.limiter.Burst())
		if err := m.limiter.WaitN(ctx, piece); err != nil {
			if ctx.Err() != nil {
				return n, context.Cause(ctx)
			}
			if m.limited() && piece <= m.limiter.Burst() {
				return n, fault.New(fault.Limit, "its turn within the rate limit comes after the deadline")
			}
			continue // the limit was changed between the two lines
		}
		n -= piece
	}
	return 0, nil
}

func (m *meter) limited() bool { return m.limiter.Limit() != rate.Inf }

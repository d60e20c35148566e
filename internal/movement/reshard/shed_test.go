package reshard

import (
	"testing"
	"time"
)

// TestTheRateThatIsTold is measured between ends of rests, so that it is the one that was asked
// for while that holds, and follows when another one is.
func TestTheRateThatIsTold(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &shedding{began: now}
	const burst = 256 << 10
	writes := func(rate int64, times int) {
		for range times {
			s.told.Written += burst
			now = now.Add(time.Duration(float64(burst) / float64(rate) * float64(time.Second)))
			s.settle(now)
		}
	}
	for _, rate := range []int64{1 << 20, 64 << 10, 100 << 20} {
		writes(rate, int(max(8, 2*late.Seconds()*float64(rate)/burst)))
		if got := s.told.PerSecond; got < rate*99/100 || got > rate*101/100 {
			t.Errorf("at %d bytes a second it tells %d", rate, got)
		}
	}
}

package shard

import (
	"math"
	"sort"
	"time"
)

// Waits is a histogram of waiting: Counts[i] requests waited for at most WaitBound(i), and
// longer than WaitBound(i-1).
type Waits struct {
	Counts  [waitBuckets]int64
	Longest time.Duration
}

const waitBuckets = 160

// WaitBound is 1.1^i times 10 microseconds, so that a quantile is told within a tenth; the
// last bucket has no bound.
func WaitBound(i int) time.Duration {
	return time.Duration(float64(10*time.Microsecond) * math.Pow(1.1, float64(i)))
}

// Add counts one.
func (w *Waits) Add(took time.Duration) {
	i := sort.Search(waitBuckets-1, func(i int) bool { return took <= WaitBound(i) })
	w.Counts[i]++
	w.Longest = max(w.Longest, took)
}

// Plus is both counts together.
func (w Waits) Plus(o Waits) Waits {
	for i, n := range o.Counts {
		w.Counts[i] += n
	}
	w.Longest = max(w.Longest, o.Longest)
	return w
}

// Since is what was counted after before. Longest is then known within its bucket, unless it
// is the longest of all.
func (w Waits) Since(before Waits) (since Waits) {
	for i, n := range w.Counts {
		if since.Counts[i] = n - before.Counts[i]; since.Counts[i] > 0 && i < waitBuckets-1 {
			since.Longest = min(WaitBound(i), w.Longest)
		} else if since.Counts[i] > 0 {
			since.Longest = w.Longest
		}
	}
	if w.Longest > before.Longest {
		since.Longest = w.Longest
	}
	return since
}

// Total is how many were counted.
func (w *Waits) Total() (n int64) {
	for _, count := range w.Counts {
		n += count
	}
	return n
}

// Quantile is for how long that part of them waited at most: the bound of the bucket in which it
// lies, and never more than the longest; 0 when none was counted.
func (w *Waits) Quantile(q float64) time.Duration {
	of, before := w.Total(), int64(0)
	for i, n := range w.Counts {
		if before += n; n > 0 && float64(before) >= q*float64(of) {
			return min(WaitBound(i), w.Longest)
		}
	}
	return 0
}

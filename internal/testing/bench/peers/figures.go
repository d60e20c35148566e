package peers

import (
	"fmt"
	"slices"
	"time"
)

// Median is the middle one of values, of which there is at least one.
func Median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// MiB are bytes in units of 1,048,576.
func MiB(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// Short is a duration of about three digits, for tables.
func Short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// P50 is the median of the rounds' medians.
func P50(rounds []Taken) time.Duration {
	return each(rounds, func(t Taken) time.Duration { return t.P50 })
}

// P95 is the median of the rounds' 95th percentiles.
func P95(rounds []Taken) time.Duration {
	return each(rounds, func(t Taken) time.Duration { return t.P95 })
}

// P99 is the median of the rounds' 99th percentiles.
func P99(rounds []Taken) time.Duration {
	return each(rounds, func(t Taken) time.Duration { return t.P99 })
}

// MedianCPU is the median of the rounds' processor times of the server for a request.
func MedianCPU(rounds []Taken) time.Duration {
	return each(rounds, func(t Taken) time.Duration { return t.CPU })
}

func each(rounds []Taken, of func(Taken) time.Duration) time.Duration {
	var values []time.Duration
	for _, t := range rounds {
		values = append(values, of(t))
	}
	return Median(values)
}

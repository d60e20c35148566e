package fields

import (
	"testing"
	"time"
)

// Instants have digits in threes, as in the messages of OpenSearch 2.19.0.
func TestInstantsHaveDigitsInThrees(t *testing.T) {
	for want, nanos := range map[string]int{
		"1969-12-31T23:00:00Z": 0, "1969-12-31T23:00:00.120Z": 120_000_000,
		"1969-12-31T23:00:00.001500Z": 1_500_000, "1969-12-31T23:00:00.123456789Z": 123_456_789,
	} {
		if got := isoText(-time.Hour.Milliseconds(), nanos); got != want {
			t.Errorf("%d: %s, want %s", nanos, got, want)
		}
	}
}

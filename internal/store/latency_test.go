package store

import (
	"testing"
	"time"
)

// TestRecentSearches: those of this minute and of the one before count, and no older ones.
func TestRecentSearches(t *testing.T) {
	var l latency
	at := time.Unix(1_000_000, 0)
	recent := func() int64 {
		since := l.all.Since(l.was[1])
		return since.Total()
	}
	for minute, want := range []int64{3, 6, 6, 6} {
		for range 3 {
			l.add(time.Duration(minute+1)*time.Millisecond, at)
		}
		if n := recent(); n != want {
			t.Errorf("minute %d: %d searches are recent, expected %d", minute, n, want)
		}
		at = at.Add(recently)
	}
	l.add(time.Millisecond, at.Add(10*recently))
	if n := recent(); n != 1 {
		t.Errorf("after a pause of minutes %d searches are recent", n)
	}
	if n := l.all.Total(); n != 13 {
		t.Errorf("%d in all", n)
	}
}

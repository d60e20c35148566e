package reshard

import (
	"testing"
	"time"
)

func TestPaceFollowsSearches(t *testing.T) {
	const ms = time.Millisecond
	for _, one := range []struct {
		name     string
		is       pace
		was, now time.Duration
		n        int64
		next     pace
	}{
		{"slower", 1, 10 * ms, 12 * ms, 100, 2},
		{"slower still", 16, 10 * ms, 30 * ms, 100, gentlest},
		{"as slow as it gets", gentlest, 10 * ms, 99 * ms, 100, gentlest},
		{"a bit slower", 4, 100 * ms, 107 * ms, 100, 4},
		{"as before", 4, 10 * ms, 10 * ms, 100, 2},
		{"faster", 1, 10 * ms, 2 * ms, 100, briskest},
		{"too few to tell", 4, 10 * ms, 90 * ms, telling - 1, 4},
		{"none", 8, 10 * ms, 0, 0, 4},
		{"nobody knows how it was", 4, 0, 90 * ms, 100, 4},
	} {
		if next := one.is.next(one.was, one.now, one.n); next != one.next {
			t.Errorf("%s: %v after %v, expected %v", one.name, next, one.is, one.next)
		}
	}
}

func TestSeveralRestAsOneDoes(t *testing.T) {
	for _, p := range []pace{briskest, careful, gentlest} {
		for n := range int64(4) {
			worked, turns := time.Second, time.Duration(n+1) // each of them works in one turn, while the others rest
			if cycle := worked + p.among(n+1).rest(worked, 0, 0); cycle != turns*(worked+p.rest(worked, 0, 0)) {
				t.Errorf("%d at pace %v work for a second of %v", n+1, p, cycle)
			}
		}
	}
	if rest := pace(0).among(3); rest != 0 {
		t.Errorf("nobody searches, and three rest at %v", rest)
	}
}

func TestPaceKeepsTheRate(t *testing.T) {
	const s = time.Second
	for _, one := range []struct {
		is          pace
		worked      time.Duration
		bytes, rate int64
		rest        time.Duration
	}{
		{1, s, 1000, 0, s},
		{4, s, 1000, 0, 4 * s},
		{1, s, 1000, 100, 9 * s},   // 1,000 bytes take ten seconds, of which one has passed
		{16, s, 1000, 100, 16 * s}, // searches need more
		{1, 20 * s, 1000, 100, 20 * s},
		{1, s, 1 << 60, 1, 1e9*s - s},
	} {
		if rest := one.is.rest(one.worked, one.bytes, one.rate); rest != one.rest {
			t.Errorf("%+v: %v", one, rest)
		}
	}
}

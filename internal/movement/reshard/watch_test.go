package reshard

import (
	"context"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// TestAComparisonRestsForSearches: while there are some, and only then.
func TestAComparisonRestsForSearches(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, idle := range []bool{false, true} {
		var met shard.Waits
		b := &breaks{watch: watch{pace: briskest, searches: func() shard.Waits { return met }, idle: idle, looked: time.Now()}, resumed: time.Now()}
		rested := false
		for range 5 {
			time.Sleep(stint) // it works
			for range often {
				rested = rested || b.take(stopped) != nil // a rest tells that it was stopped
			}
		}
		if rested == idle {
			t.Errorf("without searches: %v, rested: %v", idle, rested)
		}
	}
}

// TestAWatchSeesThatSearchesHaveEnded, and that they have begun.
func TestAWatchSeesThatSearchesHaveEnded(t *testing.T) {
	var met shard.Waits
	w := watch{pace: 4, searches: func() shard.Waits { return met }, usual: time.Millisecond}
	if !w.look() || !w.idle || w.pace != 2 || w.rests() != 0 {
		t.Errorf("without searches: %+v", w)
	}
	for range telling {
		met.Add(10 * time.Millisecond)
	}
	if w.look() {
		t.Errorf("it looks twice at once")
	}
	w.looked = time.Time{}
	if !w.look() || w.idle || w.pace != careful || w.rests() != careful {
		t.Errorf("with the first searches: %+v", w)
	}
	for range telling {
		met.Add(10 * time.Millisecond)
	}
	w.looked = time.Time{}
	if !w.look() || w.pace != 2*careful || w.rests() != 2*careful {
		t.Errorf("with slow searches: %+v", w)
	}
}

// TestAWatchThatRestsForNothingGoesOn: searches have become slower for good, as in an index of
// more shards and more documents.
func TestAWatchThatRestsForNothingGoesOn(t *testing.T) {
	var met shard.Waits
	w := watch{pace: careful, searches: func() shard.Waits { return met }, usual: 10 * time.Millisecond}
	look := func(took time.Duration) {
		for range telling {
			met.Add(took)
		}
		w.looked = time.Time{}
		w.look()
	}
	most, looks := w.pace, 0
	for ; w.pace > briskest && looks < 100; looks++ {
		look(20 * time.Millisecond)
		most = max(most, w.pace)
	}
	if w.pace > briskest || most != gentlest {
		t.Errorf("after %d looks it rests %v times as long as it works, at most %v: %+v", looks, w.pace, most, w)
	}
	look(40 * time.Millisecond)
	if w.pace != 2*briskest {
		t.Errorf("slower than they have become: %+v", w)
	}
}

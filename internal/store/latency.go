package store

import (
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// latency counts how long searches take. The zero value has met none.
type latency struct {
	mu    sync.Mutex
	all   shard.Waits
	was   [2]shard.Waits // all of them at the beginning of this minute, and of the one before
	began time.Time      // this minute
}

// recently is how long a minute of latency lasts.
const recently = time.Minute

func (l *latency) add(took time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	l.all.Add(took)
}

// turn begins a new minute when it is time. The mutex is held.
func (l *latency) turn(now time.Time) {
	if passed := now.Sub(l.began); passed >= recently {
		if passed >= 2*recently {
			l.was[0] = l.all
		}
		l.was[1], l.was[0], l.began = l.was[0], l.all, now
	}
}

// Searches counts the searches since the store was opened, by how long they took.
func (s *Store) Searches() shard.Waits {
	s.latency.mu.Lock()
	defer s.latency.mu.Unlock()
	return s.latency.all
}

// RecentSearches are those of the last minute or two.
func (s *Store) RecentSearches() shard.Waits {
	s.latency.mu.Lock()
	defer s.latency.mu.Unlock()
	s.latency.turn(time.Now())
	return s.latency.all.Since(s.latency.was[1])
}

package reshard

import "time"

// Pinned is how many hand-offs are kept for their comparison.
func (l *Lane) Pinned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pinned)
}

// SetPatience changes how long a phase is tried again; the function that it returns sets it back.
func SetPatience(d time.Duration) (back func()) {
	was := patience
	patience = d
	return func() { patience = was }
}

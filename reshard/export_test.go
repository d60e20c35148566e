package reshard

// Pinned is how many hand-offs are kept for their comparison.
func (l *Lane) Pinned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pinned)
}

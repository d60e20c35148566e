package aggregate

// BoundLexica makes lexica take so many bytes at most, each, from now on; 0: as many as ever. Those
// that are there are forgotten.
func BoundLexica(most int64) {
	lexicons.mu.Lock()
	defer lexicons.mu.Unlock()
	lexicons.kept = nil
	if lexiconLimit = most; most == 0 {
		lexiconLimit = defaultLexiconLimit
	}
}

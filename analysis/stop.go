package analysis

// stop removes words; the tokens after them keep their positions.
type stop struct{ words map[string]bool }

func stopWords(words ...string) stop {
	set := make(map[string]bool, len(words))
	for _, word := range words {
		set[word] = true
	}
	return stop{set}
}

func (f stop) filter(s *stream) {
	s.remove(func(t *Token) bool { return f.words[string(t.Term)] })
}

// remove takes tokens out and leaves holes.
func (s *stream) remove(out func(t *Token) bool) {
	kept := s.tokens[:0]
	for i := range s.tokens {
		if !out(&s.tokens[i]) {
			kept = append(kept, s.tokens[i])
		}
	}
	s.tokens = kept
}

package analysis

// stop removes words; the tokens after them keep their positions.
type stop struct {
	words      map[string]bool
	ignoreCase bool
}

func stopWords(words []string) stop { return stop{words: wordSet(words)} }

func newStop(p *part) filter {
	if !p.boolean("remove_trailing", true) {
		p.lacks("remove_trailing")
	}
	f := stop{ignoreCase: p.boolean("ignore_case", false) && p.has("stopwords")} // the list of the server keeps its case
	f.words = wordSet(folded(stopWordsOf(p, "_english_"), f.ignoreCase))
	return f
}

// stopWordsOf are the words of option stopwords, or those of a named list.
func stopWordsOf(p *part, fallback string) []string {
	words, ok := p.words("stopwords", true)
	if !ok {
		words = stopLists[fallback]()
	}
	return words
}

func (f stop) filter(s *stream) {
	s.remove(func(t *Token) bool {
		return f.words[string(t.Term)] || f.ignoreCase && f.words[lowerText(string(t.Term))]
	})
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

// newKeep keeps some words only.
func newKeep(p *part) filter {
	words, ok := p.words("keep_words", false)
	if !ok || p.has("keep_words") && p.has("keep_words_path") {
		p.err = nil
		p.illegal("keep requires either `keep_words` or `keep_words_path` to be configured")
	}
	ignoreCase := p.boolean("keep_words_case", false)
	set := wordSet(folded(words, ignoreCase))
	return kept(func(t *Token) bool {
		return set[string(t.Term)] || ignoreCase && set[lowerText(string(t.Term))]
	})
}

// newKeepTypes keeps the tokens of some types, or all others.
func newKeepTypes(p *part) filter {
	if !p.has("types") {
		p.illegal("keep_types requires `types` to be configured")
	}
	set := wordSet(p.list("types"))
	include := true
	switch mode := lowerText(p.text("mode", "include")); mode {
	case "include":
	case "exclude":
		include = false
	default:
		p.illegal("`keep_types` tokenfilter mode can only be [include] or [exclude] but was [%s].", p.text("mode", ""))
	}
	return kept(func(t *Token) bool { return set[t.Type] == include })
}

// kept removes the tokens of which it is false.
type kept func(t *Token) bool

func (f kept) filter(s *stream) { s.remove(func(t *Token) bool { return !f(t) }) }

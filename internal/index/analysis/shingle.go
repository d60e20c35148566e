package analysis

// shingles puts runs of tokens beside them, or in their place. A removed token stands in
// a run as the filler.
type shingles struct {
	least, most         int
	unigrams, orUnigram bool // tokens themselves: always, or when there is no run
	separator, filler   string
}

func newShingles(p *part) filter {
	f := &shingles{least: p.number("min_shingle_size", 2), most: p.number("max_shingle_size", 2),
		unigrams: p.boolean("output_unigrams", true), orUnigram: p.boolean("output_unigrams_if_no_shingles", false),
		separator: p.text("token_separator", " "), filler: p.text("filler_token", "_")}
	allowed := p.build.number("max_shingle_diff", 3)
	spread := f.most - f.least
	if f.unigrams {
		spread++
	}
	switch {
	case p.err != nil:
	case spread > allowed:
		p.illegal("In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size (and +1 if outputting unigrams) must be less than or equal to: [%d] but was [%d]. This limit can be set by changing the [index.max_shingle_diff] index level setting.", allowed, spread)
	case f.most < 2:
		p.illegal("Max shingle size must be >= 2")
	case f.least < 2:
		p.illegal("Min shingle size must be >= 2")
	case f.least > f.most:
		p.illegal("Min shingle size must be <= max shingle size")
	}
	return f
}

func (f *shingles) filter(s *stream) {
	window, holes := f.window(s)
	tail := s.next
	if n := len(s.tokens); n > 0 {
		tail -= s.tokens[n-1].Position + 1
	}
	s.tokens = s.tokens[:0]
	s.next = 0
	unigrams, runs := f.unigrams, false
	for i := range window {
		if f.orUnigram && !runs && len(window)-i < f.least {
			unigrams = true
		}
		before := len(s.tokens)
		if unigrams && !holes[i] {
			t := window[i]
			t.Position, t.Length = s.next, 1
			s.tokens = append(s.tokens, t)
		}
		for size := f.least; size <= min(f.most, len(window)-i); size++ {
			runs = f.run(s, window[i:i+size], holes[i:i+size]) || runs
		}
		if len(s.tokens) == before {
			break // as Lucene's: where nothing begins, the stream is at its end
		}
		s.next++
	}
	s.next += tail
}

// window is the tokens with fillers in their holes, of which there are never more than
// fit into a run beside a token.
func (f *shingles) window(s *stream) (window []Token, holes []bool) {
	fill := func(n, at int) {
		for range min(n, f.most-1) {
			window = append(window, Token{Term: []byte(f.filler), Length: 1, Start: at, End: at, Type: typeWord})
			holes = append(holes, true)
		}
	}
	last := -1
	for _, t := range s.tokens {
		fill(t.Position-last-1, t.Start)
		last = t.Position
		window = append(window, t)
		holes = append(holes, false)
	}
	fill(s.next-last-1, s.end)
	return window, holes
}

// run appends a run that has a token.
func (f *shingles) run(s *stream, window []Token, holes []bool) bool {
	size := len(f.separator) * (len(window) - 1)
	some := false
	for i := range window {
		size += len(window[i].Term)
		some = some || !holes[i]
	}
	if !some {
		return false
	}
	term := s.room(size)
	for i := range window {
		if i > 0 {
			term = append(term, f.separator...)
		}
		term = append(term, window[i].Term...)
	}
	t := window[0]
	t.Term, t.Position, t.End, t.Type = term, s.next, window[len(window)-1].End, "shingle"
	t.Length = len(window)
	if !f.unigrams {
		t.Length = max(1, len(window)-f.least+1)
	}
	s.tokens = append(s.tokens, t)
	return true
}

// commonGrams puts pairs of which one is a common word beside tokens; for queries it
// puts them in the place of tokens.
type commonGrams struct {
	words             map[string]bool
	ignoreCase, query bool
}

func newCommonGrams(p *part) filter {
	f := &commonGrams{ignoreCase: p.boolean("ignore_case", false), query: p.boolean("query_mode", false)}
	words, ok := p.words("common_words", true)
	if !ok {
		p.illegal("missing or empty [common_words] or [common_words_path] configuration for common_grams token filter")
	}
	f.words = wordSet(folded(words, f.ignoreCase))
	return f
}

func (f *commonGrams) common(t *Token) bool {
	return f.words[string(t.Term)] || f.ignoreCase && f.words[lowerText(string(t.Term))]
}

func (f *commonGrams) filter(s *stream) {
	all := s.spare[:0]
	for i := range s.tokens {
		t := &s.tokens[i]
		all = append(all, *t)
		if i+1 == len(s.tokens) {
			break
		}
		if next := &s.tokens[i+1]; f.common(t) || f.common(next) {
			gram := *t
			gram.Term = append(append(append(s.room(len(t.Term)+1+len(next.Term)), t.Term...), '_'), next.Term...)
			gram.End, gram.Type, gram.Length = next.End, "gram", 2
			all = append(all, gram)
		}
	}
	s.tokens, s.spare = append(s.tokens[:0], all...), all[:0]
	if f.query {
		f.pairsOnly(s)
	}
}

// pairsOnly removes the tokens that begin a pair, and the last one when it ends a pair. A
// pair stands right behind what is before it, whatever holes there were.
func (f *commonGrams) pairsOnly(s *stream) {
	tail := s.tail()
	kept := s.tokens[:0]
	position, read := -1, -1
	for i, t := range s.tokens {
		step := t.Position - read
		read = t.Position
		last := i+1 == len(s.tokens)
		switch {
		case t.Type == "gram":
			t.Length, step = 1, 1
		case !last && s.tokens[i+1].Type == "gram", last && len(kept) > 0 && kept[len(kept)-1].Type == "gram":
			continue
		}
		position += step
		t.Position = position
		kept = append(kept, t)
	}
	s.tokens, s.next = kept, position+1+tail
}

package analysis

import "sync"

// stream is one text on its way through a chain.
type stream struct {
	text   []byte  // what the tokenizer sees: after the char filters
	moved  *moved  // how its places are those of the text before them; nil: they are the same
	tokens []Token // of this text; the places in them are those of text until the chain ends
	next   int     // the position of a token that came after the last one
	arena  []byte  // holds terms that are not parts of text
}

var streams = sync.Pool{New: func() any { return new(stream) }}

// add appends a token at the next position.
func (s *stream) add(term []byte, start, end int, typ string) {
	s.tokens = append(s.tokens, Token{Term: term, Position: s.next, Length: 1, Start: start, End: end, Type: typ})
	s.next++
}

// part appends text[start:end] as a token.
func (s *stream) part(start, end int, typ string) {
	s.add(s.text[start:end:end], start, end, typ)
}

// room gives n bytes, of length 0, that stay as they are written.
func (s *stream) room(n int) []byte {
	if cap(s.arena)-len(s.arena) < n {
		s.arena = make([]byte, 0, max(n, min(len(s.text), 1<<16), 64))
	}
	at := len(s.arena)
	s.arena = s.arena[:at+n]
	return s.arena[at : at : at+n]
}

// keep copies a term to where it stays.
func (s *stream) keep(term []byte) []byte { return append(s.room(len(term)), term...) }

type (
	// tokenizer appends the tokens of s.text to s.tokens and counts s.next.
	tokenizer interface{ tokenize(s *stream) }
	// filter changes s.tokens; terms are never changed in place, because they may be
	// parts of a text.
	filter interface{ filter(s *stream) }
	// charFilter gives the text that stands for text, and tells m what moved.
	charFilter interface {
		rewrite(text []byte, m *moved) []byte
	}
)

// chain is an analyzer made of parts.
type chain struct {
	charFilters []charFilter
	tokenizer   tokenizer
	filters     []filter
	gap         int
}

// Gap is what Analyzer tells.
func (c *chain) Gap() int { return c.gap }

// Analyze is what Analyzer tells.
func (c *chain) Analyze(dst []Token, text []byte) []Token {
	dst, _ = c.run(dst, text)
	return dst
}

// run is Analyze, and how many positions the text takes: holes at its end count too.
func (c *chain) run(dst []Token, text []byte) ([]Token, int) {
	s := streams.Get().(*stream)
	s.text, s.tokens, s.next, s.arena, s.moved = text, dst[len(dst):], 0, nil, nil
	c.prepare(s)
	c.tokenizer.tokenize(s)
	for _, f := range c.filters {
		f.filter(s)
	}
	s.restore()
	dst, next := append(dst, s.tokens...), s.next
	*s = stream{}
	streams.Put(s)
	return dst, next
}

// prepare runs the char filters.
func (c *chain) prepare(s *stream) {
	if len(c.charFilters) == 0 {
		return
	}
	s.moved = &moved{}
	for _, f := range c.charFilters {
		var m moved
		s.text = f.rewrite(s.text, &m)
		s.moved.then(&m)
	}
}

// restore turns places in the text after char filters into places in the text itself.
func (s *stream) restore() {
	if s.moved == nil {
		return
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		t.Start, t.End = s.moved.origin(t.Start), s.moved.origin(t.End)
	}
}

// Continue appends the tokens of one more value of a field. At is the position where the
// value begins: 0 for the first, and what Continue gave for the one before. Next counts
// the analyzer's gap and the holes that removed tokens left at the end of the value.
func Continue(dst []Token, a Analyzer, text []byte, at int) (tokens []Token, next int) {
	from := len(dst)
	taken := 0
	if c, ok := a.(*chain); ok {
		dst, taken = c.run(dst, text)
	} else if dst = a.Analyze(dst, text); len(dst) > from {
		taken = dst[len(dst)-1].Position + 1
	}
	for i := from; i < len(dst); i++ {
		dst[i].Position += at
	}
	return dst, at + taken + a.Gap()
}

package analysis

import (
	"sync"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// stream is one text on its way through a chain.
type stream struct {
	original []byte
	text     []byte  // what the tokenizer sees: after the char filters
	moved    *moved  // how its places are those of the text before them; nil: they are the same
	tokens   []Token // of this text; the places in them are those of text until the chain ends
	spare    []Token // room for filters
	next     int     // the position of a token that came after the last one
	end      int     // the place where the tokens' text ends
	arena    []byte  // holds terms that are not parts of text
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
	names       []string // of the filters, while the chain is made
	gap         int
}

// Gap is what Analyzer tells.
func (c *chain) Gap() int { return c.gap }

// Analyze is what Analyzer tells.
func (c *chain) Analyze(dst []Token, text []byte) []Token {
	dst, _, _ = c.run(dst, text)
	return dst
}

// run is Analyze, and how many positions the text takes, where holes at its end count
// too, and the place where it ends.
func (c *chain) run(dst []Token, text []byte) (tokens []Token, next, end int) {
	s := c.start(dst, text)
	c.tokenizer.tokenize(s)
	s.restore()
	for _, f := range c.filters {
		f.filter(s)
	}
	next, end = s.next, s.end
	if len(dst) == 0 {
		dst = s.tokens // with the room that was needed, for the next text
	} else {
		dst = append(dst, s.tokens...)
	}
	s.release()
	return dst, next, end
}

// start begins with a text: its char filters have run.
func (c *chain) start(dst []Token, text []byte) *stream {
	s := streams.Get().(*stream)
	s.original, s.text, s.tokens = text, text, dst[len(dst):]
	for _, f := range c.charFilters {
		s.moved = &moved{inner: s.moved}
		s.text = f.rewrite(s.text, s.moved)
	}
	s.end = len(s.text)
	return s
}

// release gives the stream back; nothing of it is used any more.
func (s *stream) release() {
	spare := s.spare[:cap(s.spare)]
	clear(spare)
	*s = stream{spare: spare[:0]}
	streams.Put(s)
}

// append adds a filter of a name. Some need to know what is before them.
func (c *chain) append(f filter, name string) *exception.Error {
	if b, ok := f.(binding); ok {
		var err *exception.Error
		if f, err = b.bind(c); err != nil {
			return err
		}
	}
	c.filters, c.names = append(c.filters, f), append(c.names, name)
	return nil
}

// binding is a filter that depends on the chain before it.
type binding interface {
	filter
	bind(before *chain) (filter, *exception.Error)
}

// fuse lets the tokenizer do what a filter right after it does.
func (c *chain) fuse() {
	if len(c.filters) == 0 || c.filters[0] != filter(lowercase) {
		return
	}
	switch t := c.tokenizer.(type) {
	case standard:
		t.lower = true
		c.tokenizer = t
	case *runs:
		lower := *t
		lower.lower = true
		c.tokenizer = &lower
	default:
		return
	}
	c.filters = c.filters[1:]
}

// Continue appends the tokens of one more value of a field. At is the position where the
// value begins: 0 for the first, and what Continue gave for the one before. Next counts
// the analyzer's gap and the holes that removed tokens left at the end of the value.
func Continue(dst []Token, a Analyzer, text []byte, at int) (tokens []Token, next int) {
	from := len(dst)
	ran := runOf(a, text, dst)
	for i := from; i < len(ran.tokens); i++ {
		ran.tokens[i].Position += at
	}
	return ran.tokens, at + ran.next + a.Gap()
}

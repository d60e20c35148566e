package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lowered is a term in lower case: the term itself where nothing changes.
func lowered(s *stream, term []byte) []byte {
	for i, b := range term {
		if b >= utf8.RuneSelf || ascii[b]&asciiUpper != 0 {
			return lowerFrom(s, term, i)
		}
	}
	return term
}

func lowerFrom(s *stream, term []byte, i int) []byte {
	out := append(s.room(len(term)), term[:i]...)
	for ; i < len(term); i++ {
		b := term[i]
		if b >= utf8.RuneSelf {
			return mapped(s, term, unicode.ToLower)
		}
		if ascii[b]&asciiUpper != 0 {
			b += 'a' - 'A'
		}
		out = append(out, b)
	}
	return out
}

// mapped is a term whose code points are changed one by one.
func mapped(s *stream, term []byte, change func(rune) rune) []byte {
	size, same := 0, true
	for i := 0; i < len(term); {
		r, width := utf8.DecodeRune(term[i:])
		to := change(r)
		same = same && to == r
		size += utf8.RuneLen(to)
		i += width
	}
	if same {
		return term
	}
	out := s.room(size)
	for i := 0; i < len(term); {
		r, width := utf8.DecodeRune(term[i:])
		out = utf8.AppendRune(out, change(r))
		i += width
	}
	return out
}

// lowerText is lowered without a stream.
func lowerText(text string) string { return strings.Map(unicode.ToLower, text) }

// each is a filter that changes terms one by one.
type each func(s *stream, term []byte) []byte

func (f each) filter(s *stream) {
	for i := range s.tokens {
		s.tokens[i].Term = f(s, s.tokens[i].Term)
	}
}

// lowercase is a filter of its own type, so that chain.fuse finds it.
var lowercase lowerFilter

type lowerFilter struct{}

func (lowerFilter) filter(s *stream) { each(lowered).filter(s) }

var uppercase = each(func(s *stream, term []byte) []byte { return mapped(s, term, unicode.ToUpper) })

// newLowercase knows the languages whose lower case is not that of Unicode.
func newLowercase(p *part) filter {
	switch language := p.text("language", ""); {
	case !p.has("language"):
		return lowercase
	case strings.EqualFold(language, "greek"):
		return each(lowerGreek)
	case strings.EqualFold(language, "irish"):
		return each(lowerIrish)
	case strings.EqualFold(language, "turkish"):
		return each(lowerTurkish)
	default:
		p.illegal("language [%s] not support for lower case", language)
		return nothing{}
	}
}

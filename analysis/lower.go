package analysis

import (
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
	size := 0
	same := true
	for _, r := range string(term) {
		to := change(r)
		same = same && to == r
		size += utf8.RuneLen(to)
	}
	if same {
		return term
	}
	out := s.room(size)
	for _, r := range string(term) {
		out = utf8.AppendRune(out, change(r))
	}
	return out
}

// each is a filter that changes terms one by one.
type each func(s *stream, term []byte) []byte

func (f each) filter(s *stream) {
	for i := range s.tokens {
		s.tokens[i].Term = f(s, s.tokens[i].Term)
	}
}

var (
	lowercase = each(lowered)
	uppercase = each(func(s *stream, term []byte) []byte { return mapped(s, term, unicode.ToUpper) })
)

package analysis

import (
	"unicode"
	"unicode/utf8"
)

// runs makes tokens of runs of code points that belong to words: letter, lowercase,
// whitespace and char_group.
type runs struct {
	belongs func(rune) bool
	ascii   [utf8.RuneSelf]bool // belongs of ASCII
	max     int                 // UTF-16 units of a token; the rest is the next one
	lower   bool
}

func newRuns(belongs func(rune) bool, most int, lower bool) *runs {
	f := &runs{belongs: belongs, max: most, lower: lower}
	for b := range f.ascii {
		f.ascii[b] = belongs(rune(b))
	}
	return f
}

func (f *runs) tokenize(s *stream) {
	text := s.text
	start, units := -1, 0
	for i := 0; i < len(text); {
		size, width, in := 1, 1, false
		if b := text[i]; b < utf8.RuneSelf {
			in = f.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			width, in = utf16Units(r), f.belongs(r)
		}
		if in {
			if start < 0 {
				start, units = i, 0
			}
			units += width
		}
		i += size
		if start >= 0 && (!in || units >= f.max) {
			end := i
			if !in {
				end -= size
			}
			f.emit(s, start, end)
			start = -1
		}
	}
	if start >= 0 {
		f.emit(s, start, len(text))
	}
}

func (f *runs) emit(s *stream, start, end int) {
	term := s.text[start:end:end]
	if f.lower {
		term = lowered(s, term)
	}
	s.add(term, start, end, typeWord)
}

// isSpace is Java's Character.isWhitespace: the spaces that one may break at, and the
// controls that separate.
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ':
		return true
	case r < utf8.RuneSelf, r == 0xa0, r == 0x2007, r == 0x202f:
		return false
	}
	return unicode.In(r, unicode.Z)
}

// whole makes one token of the text, of an empty one too: the keyword tokenizer.
type whole struct{}

func (whole) tokenize(s *stream) { s.part(0, len(s.text), typeWord) }

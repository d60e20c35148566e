package analysis

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Lower case and letters of single languages.

// lowerGreek also removes accents, and writes the final sigma as any other.
func lowerGreek(s *stream, term []byte) []byte {
	return mapped(s, term, func(r rune) rune {
		switch r {
		case 'ς':
			return 'σ'
		case 'Ά', 'ά':
			return 'α'
		case 'Έ', 'έ':
			return 'ε'
		case 'Ή', 'ή':
			return 'η'
		case 'Ί', 'Ϊ', 'ί', 'ϊ', 'ΐ':
			return 'ι'
		case 'Ύ', 'Ϋ', 'ύ', 'ϋ', 'ΰ':
			return 'υ'
		case 'Ό', 'ό':
			return 'ο'
		case 'Ώ', 'ώ':
			return 'ω'
		case 'Ƣ':
			return 'ι'
		}
		return unicode.ToLower(r)
	})
}

// lowerIrish writes a hyphen after the letter that an eclipsis put before a vowel: nAthair.
func lowerIrish(s *stream, term []byte) []byte {
	if len(term) > 1 && (term[0] == 'n' || term[0] == 't') {
		if r, _ := utf8.DecodeRune(term[1:]); bytes.ContainsRune([]byte("AEIOUÁÉÍÓÚ"), r) {
			split := append(append(s.room(len(term)+1), term[0], '-'), term[1:]...)
			return lowered(s, split)
		}
	}
	return lowered(s, term)
}

// lowerTurkish knows the letters with and without a dot.
func lowerTurkish(s *stream, term []byte) []byte {
	runes := bytes.Runes(term)
	out := runes[:0]
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == 'İ':
			out = append(out, 'i')
		case r == 'I' && i+1 < len(runes) && runes[i+1] == 0x307:
			out = append(out, 'i')
			i++
		case r == 'I':
			out = append(out, 'ı')
		default:
			out = append(out, unicode.ToLower(r))
		}
	}
	return s.keep([]byte(string(out)))
}

// scandinavianNormal writes the letters of Danish, Norwegian and Swedish in one way.
func scandinavianNormal(s *stream, term []byte) []byte {
	return scandinavian(s, term, map[rune]rune{'ä': 'æ', 'Ä': 'Æ', 'ö': 'ø', 'Ö': 'Ø'}, func(a, b rune) rune {
		switch {
		case a == 'a' && isOneOf(b, 'a', 'A', 'o', 'O'):
			return 'å'
		case a == 'A' && isOneOf(b, 'a', 'A', 'o', 'O'):
			return 'Å'
		case a == 'a' && isOneOf(b, 'e', 'E'):
			return 'æ'
		case a == 'A' && isOneOf(b, 'e', 'E'):
			return 'Æ'
		case a == 'o' && isOneOf(b, 'e', 'E', 'o', 'O'):
			return 'ø'
		case a == 'O' && isOneOf(b, 'e', 'E', 'o', 'O'):
			return 'Ø'
		}
		return 0
	})
}

// scandinavianFolding writes them without their marks.
func scandinavianFolding(s *stream, term []byte) []byte {
	single := map[rune]rune{'å': 'a', 'ä': 'a', 'æ': 'a', 'Å': 'A', 'Ä': 'A', 'Æ': 'A', 'ö': 'o', 'ø': 'o', 'Ö': 'O', 'Ø': 'O'}
	return scandinavian(s, term, single, func(a, b rune) rune {
		switch {
		case isOneOf(a, 'a', 'A') && isOneOf(b, 'a', 'A', 'e', 'E', 'o', 'O'):
			return a
		case isOneOf(a, 'o', 'O') && isOneOf(b, 'e', 'E', 'o', 'O'):
			return a
		}
		return 0
	})
}

func isOneOf(r rune, set ...rune) bool {
	for _, other := range set {
		if r == other {
			return true
		}
	}
	return false
}

func scandinavian(s *stream, term []byte, single map[rune]rune, pair func(a, b rune) rune) []byte {
	out := s.room(len(term))
	for i := 0; i < len(term); {
		r, size := utf8.DecodeRune(term[i:])
		i += size
		if other, ok := single[r]; ok {
			r = other
		} else if i < len(term) {
			if both := pair(r, rune(term[i])); both != 0 {
				r = both
				i++
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

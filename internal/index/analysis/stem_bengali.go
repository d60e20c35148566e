package analysis

import "slices"

// bengaliNormalized writes letters and signs that sound alike in one way, after "A Double
// Metaphone encoding for Bangla" (UzZaman, Khan).
func bengaliNormalized(s *stream, term []byte) []byte {
	w := []rune(string(term))
	for i := 0; i < len(w); i++ {
		switch w[i] {
		case 'ঁ': // chandrabindu
			w = slices.Delete(w, i, i+1)
			i--
		case 'ী':
			w[i] = 'ি'
		case 'ূ':
			w[i] = 'ু'
		case 'ক':
			w = bengaliKhio(w, i)
		case 'ঙ':
			w[i] = 'ং'
		case 'য':
			w, i = bengaliJaPhala(w, i)
		case 'ব':
			w, i = bengaliBaPhala(w, i)
		case 'ঃ': // visarga
			switch {
			case i < len(w)-1:
				w[i] = w[i+1]
			case len(w) <= 3:
				w[i] = 'হ'
			default:
				w = w[:i]
			}
		case 'শ', 'ষ':
			w[i] = 'স'
		case 'ণ':
			w[i] = 'ন'
		case '\u09dc', '\u09dd':
			w[i] = 'র'
		case 'ৎ':
			w[i] = 'ত'
		}
	}
	return s.keep([]byte(string(w)))
}

const hasanta = '্'

// bengaliKhio is about ক, which with two signs stands for খ.
func bengaliKhio(w []rune, i int) []rune {
	if i+2 >= len(w) || w[i+1] != hasanta || w[i+2] != 'ি' {
		return w
	}
	if i == 0 {
		w[0] = 'খ'
		return slices.Delete(w, 1, 3)
	}
	w[i+1] = 'খ'
	return slices.Delete(w, i+2, i+3)
}

// bengaliJaPhala is about য below a letter.
func bengaliJaPhala(w []rune, i int) ([]rune, int) {
	switch {
	case i < 1 || w[i-1] != hasanta:
	case i == 2:
		w[1] = 'ে'
		if i+1 < len(w) && w[i+1] == 'া' {
			w = slices.Delete(w, i+1, i+2)
		}
		w = slices.Delete(w, i, i+1)
		i--
	default:
		w = slices.Delete(w, i-1, i+1)
		i -= 2
	}
	return w, i
}

// bengaliBaPhala is about ব below a letter, which is not heard or doubles the letter.
func bengaliBaPhala(w []rune, i int) ([]rune, int) {
	switch {
	case i < 1 || w[i-1] != hasanta:
	case i == 2, i >= 5 && w[i-3] == hasanta:
		w = slices.Delete(w, i-1, i+1)
		i -= 2
	case i >= 2:
		w[i-1] = w[i-2]
		w = slices.Delete(w, i, i+1)
		i--
	}
	return w, i
}

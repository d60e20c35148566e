package gateway

import "unicode/utf8"

// wellFormed is text from a URL as UTF-8, so that an id, a routing value or a name is the
// one that answers show: a malformed sequence becomes U+FFFD, as the server's decoder
// has it. Such a sequence is as long as it could still have become a character, and a
// surrogate in three bytes is one.
func wellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			size = malformed(text)
		}
		out = utf8.AppendRune(out, r)
		text = text[size:]
	}
	return string(out)
}

// malformed is the length of the malformed sequence that text begins with.
func malformed(text string) int {
	need, low, high := 1, byte(0x80), byte(0xBF) // bytes, and what the second may be
	switch first := text[0]; {
	case first >= 0xC2 && first <= 0xDF:
		need = 2
	case first == 0xE0:
		need, low = 3, 0xA0
	case first >= 0xE1 && first <= 0xEF:
		need = 3
	case first == 0xF0:
		need, low = 4, 0x90
	case first >= 0xF1 && first <= 0xF3:
		need = 4
	case first == 0xF4:
		need, high = 4, 0x8F
	}
	n := 1
	for n < need && n < len(text) && text[n] >= low && text[n] <= high {
		n, low, high = n+1, 0x80, 0xBF
	}
	return n
}

package token

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends text as a JSON string, as the server's generator writes it: what
// JSON demands is escaped, with hexadecimal digits in capitals, and characters outside of
// the basic plane are two escapes. Bytes that are no UTF-8 become U+FFFD, one by one.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from := 0 // text[from:i] needs no change
	for i := 0; i < len(text); {
		b := text[i]
		if b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = AppendEscape(append(dst, text[from:i]...), b)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, text[from:i]...), "\ufffd"...)
			from = i + size
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = AppendUnit(AppendUnit(append(dst, text[from:i]...), uint16(high)), uint16(low))
			from = i + size
		}
		i += size
	}
	return append(append(dst, text[from:]...), '"')
}

// AppendEscape appends the escape of a character of ASCII that does not stand for itself in
// a JSON string: a control character, a quotation mark or a backslash.
func AppendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return AppendUnit(dst, uint16(b))
}

// AppendUnit appends the escape of a UTF-16 code unit, in capitals as the server has them.
func AppendUnit(dst []byte, unit uint16) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

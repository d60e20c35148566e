package cli

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendJSON appends text as a JSON string with its quotes. Only what JSON
// demands is escaped. Bytes that are not UTF-8, which a JSON string cannot hold,
// become U+FFFD one by one; exact tells that there were none.
// These are not the escapes of package token, which are the server's (capitals, \b and \f,
// pairs for what lies beyond the basic plane): a source keeps the characters that it has.
func appendJSON(dst, text []byte) (out []byte, exact bool) {
	dst = append(dst, '"')
	exact = true
	from := 0 // text[from:i] needs no change
	for i := 0; i < len(text); {
		b := text[i]
		if b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' {
				i++
				continue
			}
			dst = append(dst, text[from:i]...)
			dst = appendEscaped(dst, b)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			exact = false
			dst = append(dst, text[from:i]...)
			dst = append(dst, "\ufffd"...)
			from = i + 1
		}
		i += size
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"'), exact
}

func appendEscaped(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
}

package xcontent

import (
	"encoding/base64"
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// verbatim marks the bytes that stand for themselves in a JSON string: ASCII but
// for control characters, quotation mark and backslash.
var verbatim = func() (table [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// appendComma appends the comma that a further element needs: none directly after
// the bracket or brace. Nothing else that we write ends in an opening one.
func appendComma(dst []byte) []byte {
	if c := dst[len(dst)-1]; c == '[' || c == '{' {
		return dst
	}
	return append(dst, ',')
}

// errNotUTF8 says that a text is not UTF-8; surrogates in three bytes are let pass.
var errNotUTF8 = errors.New("a text is not UTF-8")

// wrongText gives an error of appendString its place in the data.
func wrongText(err error, offset int) error {
	if err == errNotUTF8 {
		return corrupt(offset, "%w", err)
	}
	return err
}

// appendString appends the JSON string of s as Jackson's UTF8JsonGenerator writes
// it; errNotUTF8 when it is no text, errTooLong when dst becomes longer than most
// by escapes, of which each makes six bytes of one.
func appendString(dst, s []byte, most int) ([]byte, error) {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if verbatim[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = token.AppendEscape(append(dst, s[done:i]...), c)
			i++
			done = i
			if len(dst) > most {
				return dst, errTooLong
			}
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			if r, size = surrogate(s[i:]), 3; r < 0 {
				return dst, errNotUTF8
			}
			dst = token.AppendUnit(append(dst, s[done:i]...), uint16(r))
			done = i + size
		} else if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			dst = token.AppendUnit(token.AppendUnit(append(dst, s[done:i]...), uint16(high)), uint16(low))
			done = i + size
		}
		i += size
	}
	return append(append(dst, s[done:]...), '"'), nil
}

// surrogate is the surrogate that s begins with, in the three bytes that UTF-8
// would give it, or -1.
func surrogate(s []byte) rune {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return -1
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// appendBase64 appends b as Jackson's default variant does: standard alphabet,
// padding, no line breaks.
func appendBase64(dst, b []byte) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}

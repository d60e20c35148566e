package mapping

import (
	"fmt"
	"unicode"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64Value is 0 to 63, or noDigit.
var base64Value = func() (table [256]byte) {
	for i := range table {
		table[i] = noDigit
	}
	for i := range len(base64Digits) {
		table[base64Digits[i]] = byte(i)
	}
	return table
}()

const noDigit = 255

// binaryValue appends the bytes that a text in base 64 stands for to out: groups
// of four digits, the last one padded, blanks between groups alone. Null is the
// caller's. With an error, rest is the first byte that the server had not read
// by then; beyond the text, the quote was read too.
func binaryValue(out []byte, t token, p place) (v Value, rest int, err *exception.Error) {
	if t.kind != json.String {
		return v, 0, p.refuse(exception.JSONParse, "Current token (%s) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary", kindName(t.kind))
	}
	start := len(out)
	for at := 0; at < len(t.text); {
		if t.text[at] <= ' ' {
			at++
			continue
		}
		bits, digits := uint32(0), 0
		for ; digits < 4; digits++ {
			c := charAt(t.text, at+digits)
			if c == '=' && digits >= 2 {
				break
			}
			value := base64Value[c]
			if value == noDigit {
				return base64Fault(t.text, at+digits, digits, p)
			}
			bits = bits<<6 | uint32(value)
		}
		switch digits {
		case 4:
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
		case 3:
			out = append(out, byte(bits>>10), byte(bits>>2))
		default:
			if charAt(t.text, at+3) != '=' {
				return v, at + 4, notPadding(t.text, at+3, p)
			}
			out = append(out, byte(bits>>4))
		}
		at += 4
	}
	return Value{Kind: Binary, Bytes: out[start:]}, 0, nil
}

// charAt is a byte of a text, or the quote that ends it.
func charAt(text []byte, at int) byte {
	if at < len(text) {
		return text[at]
	}
	return '"'
}

func base64Fault(text []byte, at, digit int, p place) (Value, int, *exception.Error) {
	rest := at + 1
	if at == len(text) && digit >= 2 {
		rest = at // the quote was looked at and left
	}
	return Value{}, rest, notBase64(text, at, digit, p)
}

// notBase64 refuses a byte as one of the four of a group.
func notBase64(text []byte, at, digit int, p place) *exception.Error {
	if at == len(text) && digit >= 2 {
		return p.refuseAt(exception.JSONParse, p.start+1+at, "Unexpected end of base64-encoded String: base64 variant 'MIME-NO-LINEFEEDS' expects padding (one or more '=' characters) at the end. This Base64Variant might have been incorrectly configured")
	}
	var why string
	switch c := rune(charAt(text, at)); {
	case c <= ' ':
		why = fmt.Sprintf("Illegal white space character (code 0x%x) as character #%d of 4-char base64 unit: can only used between units", c, digit+1)
	case c == '=':
		why = fmt.Sprintf("Unexpected padding character ('=') as character #%d of 4-char base64 unit: padding only legal as 3rd or 4th character", digit+1)
	case unicode.IsControl(c):
		why = fmt.Sprintf("Illegal character (code 0x%x) in base64 content", c)
	default:
		why = fmt.Sprintf("Illegal character '%c' (code 0x%x) in base64 content", c, c)
	}
	return p.refuseAt(exception.JSONParse, p.start+2+at, "Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS): %s", why)
}

// notPadding refuses a byte after the first of two that pad.
func notPadding(text []byte, at int, p place) *exception.Error {
	c := rune(charAt(text, at))
	return p.refuseAt(exception.JSONParse, p.start+2+at, "Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS): Illegal character '%c' (code 0x%x) in base64 content", c, c)
}

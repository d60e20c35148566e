package token

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// number reads a number into text: Integer when it has neither fraction nor
// exponent.
func (r *Reader) number() (Kind, error) {
	start, p := r.pos, r.pos
	kind := Integer
	if r.src[p] == '-' {
		p++
		if c := r.at(p); !isDigit(c) {
			if c == 'I' {
				return 0, r.notANumber("-Infinity")
			}
			r.pos = p
			return 0, r.unexpectedIn("numeric value: expected digit (0-9) to follow minus sign, for valid numeric value")
		}
	}
	if r.src[p] == '0' && isDigit(r.at(p+1)) {
		r.pos = p + 1
		return 0, r.fail(r.pos, "Invalid numeric value: Leading zeroes not allowed")
	}
	for isDigit(r.at(p)) {
		p++
	}
	if c := r.at(p); c == '.' || c == 'e' || c == 'E' {
		kind = Float
		var err error
		if p, err = r.real(p); err != nil {
			return 0, err
		}
	}
	r.pos = p
	r.text = r.src[start:p]
	if len(r.text) > maxNumber {
		return 0, r.longNumber()
	}
	if len(r.open) == 0 && p < len(r.src) && (isWord(r.src[p]) || r.src[p] >= 0x80) {
		return 0, r.fail(p, "Unexpected character (%s): Expected space separating root-level values", charDesc(r.src[p:]))
	}
	r.want = r.after()
	return kind, nil
}

// real passes the fraction and the exponent that begin at p, and returns their end.
func (r *Reader) real(p int) (int, error) {
	if r.at(p) == '.' {
		if p++; !isDigit(r.at(p)) {
			r.pos = p
			return 0, r.unexpectedIn("numeric value: Decimal point not followed by a digit")
		}
		for isDigit(r.at(p)) {
			p++
		}
	}
	if c := r.at(p); c != 'e' && c != 'E' {
		return p, nil
	}
	p++
	if c := r.at(p); c == '+' || c == '-' {
		p++
	}
	if !isDigit(r.at(p)) {
		r.pos = p
		return 0, r.unexpectedIn("numeric value: Exponent indicator not followed by a digit")
	}
	for isDigit(r.at(p)) {
		p++
	}
	return p, nil
}

// at is the byte at p, 0 beyond the end.
func (r *Reader) at(p int) byte {
	if p < len(r.src) {
		return r.src[p]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// quoted reads a string, whose opening quote is at pos, into text.
func (r *Reader) quoted(key bool) error {
	r.pos++
	start := r.pos
	p := plainEnd(r.src, start)
	if p < len(r.src) && r.src[p] == '"' {
		r.text, r.pos = r.src[start:p], p+1
		return nil
	}
	return r.quotedSlow(start, p, key)
}

// quotedSlow goes on at p, where a byte is met that is not plain. The text stays
// in the source while all of it is well-formed UTF-8 without escapes.
func (r *Reader) quotedSlow(start, p int, key bool) error {
	out, copied := r.scratch[:0], false
	from := start // the first byte that is not yet in out
	for {
		p = plainEnd(r.src, p)
		if p >= len(r.src) {
			r.pos = len(r.src)
			if key {
				return r.endOfInput("in field name")
			}
			return r.endOfInput("in VALUE_STRING")
		}
		c := r.src[p]
		switch {
		case c == '"':
			r.pos = p + 1
			if !copied {
				r.text = r.src[start:p]
				return nil
			}
			out = append(out, r.src[from:p]...)
			r.scratch, r.text = out, out
			return nil
		case c == '\\':
			out, copied = append(out, r.src[from:p]...), true
			var err error
			if out, p, err = r.escape(out, p); err != nil {
				return err
			}
			from = p
		case c < ' ':
			r.pos = p
			return r.illegalInString(c, key)
		default:
			char, size := utf8.DecodeRune(r.src[p:])
			if char != utf8.RuneError || size > 1 {
				p += size
				continue
			}
			char, size, err := r.looseRune(p)
			if err != nil {
				return err
			}
			out, copied = append(out, r.src[from:p]...), true
			out = utf8.AppendRune(out, char)
			p += size
			from = p
		}
	}
}

// looseRune decodes what the server's parser accepts and Go does not: forms that
// are too long, surrogates (given as U+FFFD) and numbers beyond Unicode'r.
func (r *Reader) looseRune(p int) (rune, int, error) {
	c := r.src[p]
	size, char := 0, rune(0)
	switch {
	case c&0xe0 == 0xc0:
		size, char = 2, rune(c&0x1f)
	case c&0xf0 == 0xe0:
		size, char = 3, rune(c&0x0f)
	case c&0xf8 == 0xf0:
		size, char = 4, rune(c&0x07)
	default:
		return 0, 0, r.fail(p+1, "Invalid UTF-8 start byte 0x%x", c)
	}
	for i := 1; i < size; i++ {
		if p+i >= len(r.src) {
			r.pos = len(r.src)
			return 0, 0, r.endOfInput("in VALUE_STRING")
		}
		next := r.src[p+i]
		if next&0xc0 != 0x80 {
			return 0, 0, r.fail(p+i+1, "Invalid UTF-8 middle byte 0x%x", next)
		}
		char = char<<6 | rune(next&0x3f)
	}
	return char, size, nil
}

// escape appends what the escape at p stands for, and returns where it ends.
// Halves of surrogate pairs become U+FFFD, as they do in the server's index.
func (r *Reader) escape(out []byte, p int) ([]byte, int, error) {
	c := r.at(p + 1)
	switch c {
	case '"', '\\', '/':
		return append(out, c), p + 2, nil
	case 'b':
		return append(out, '\b'), p + 2, nil
	case 'f':
		return append(out, '\f'), p + 2, nil
	case 'n':
		return append(out, '\n'), p + 2, nil
	case 'r':
		return append(out, '\r'), p + 2, nil
	case 't':
		return append(out, '\t'), p + 2, nil
	case 'u':
		unit, err := r.hex(p + 2)
		if err != nil {
			return out, 0, err
		}
		p += 6
		if unit >= 0xd800 && unit < 0xdc00 && r.at(p) == '\\' && r.at(p+1) == 'u' {
			low, err := r.hex(p + 2)
			if err != nil {
				return out, 0, err
			}
			if low >= 0xdc00 && low < 0xe000 {
				return utf8.AppendRune(out, (unit-0xd800)<<10+(low-0xdc00)+0x10000), p + 6, nil
			}
		}
		return utf8.AppendRune(out, unit), p, nil
	}
	if p+1 >= len(r.src) {
		r.pos = len(r.src)
		return out, 0, r.endOfInput("in character escape sequence")
	}
	return out, 0, r.fail(p+1, "Unrecognized character escape %s", charDesc(r.src[p+1:]))
}

// hex reads four hexadecimal digits at p.
func (r *Reader) hex(p int) (rune, error) {
	var char rune
	for i := p; i < p+4; i++ {
		if i >= len(r.src) {
			r.pos = len(r.src)
			return 0, r.endOfInput("in character escape sequence")
		}
		c := r.src[i]
		switch {
		case isDigit(c):
			char = char<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			char = char<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			char = char<<4 | rune(c-'A'+10)
		default:
			return 0, r.fail(i, "Unexpected character (%s): expected a hex-digit for character escape sequence", charDesc(r.src[i:]))
		}
	}
	return char, nil
}

// plainEnd is the place of the first byte from p on that ends a run of plain
// text: a quote, a backslash, a control character or one beyond ASCII. Eight
// bytes are looked at together: a byte's high bit shows it when one is met.
func plainEnd(src []byte, p int) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; p+8 <= len(src); p += 8 {
		w := binary.LittleEndian.Uint64(src[p:])
		quote, slash := w^(low*'"'), w^(low*'\\')
		met := (w | (w-low*0x20)&^w | (quote-low)&^quote | (slash-low)&^slash) & high
		if met != 0 {
			return p + bits.TrailingZeros64(met)/8
		}
	}
	for ; p < len(src); p++ {
		if c := src[p]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return p
		}
	}
	return p
}

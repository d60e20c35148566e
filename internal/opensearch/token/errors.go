package token

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// The texts of the server's parser. Its places are line and column of the byte
// at which it noticed the error, from 1.

const (
	validValues = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	redacted    = "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: %d"
)

// place is line and column of the byte at pos.
func (r *Reader) place(pos int) string {
	pos = min(pos, len(r.src))
	line := bytes.Count(r.src[:pos], []byte("\n")) + 1
	return fmt.Sprintf(redacted+", column: %d]", line, pos-bytes.LastIndexByte(r.src[:pos], '\n'))
}

// fail is a malformed source, noticed at pos.
func (r *Reader) fail(pos int, format string, args ...any) error {
	return exception.New(exception.JSONParse, "%s\n at %s", fmt.Sprintf(format, args...), r.place(pos))
}

// unexpected is a character at pos that does not belong there.
func (r *Reader) unexpected(c byte, why string) error {
	at := r.pos
	what := r.src[r.pos:]
	if c == '+' {
		what = []byte("+") // pos has gone on
	}
	return r.fail(at, "Unexpected character (%s)%s", charDesc(what), joined(why))
}

func joined(why string) string {
	if strings.HasPrefix(why, "in ") {
		return " " + why
	}
	return ": " + why
}

// unexpectedIn is unexpected within a number, or its end.
func (r *Reader) unexpectedIn(what string) error {
	if r.pos >= len(r.src) {
		return r.endOfInput("in VALUE_NUMBER_FLOAT")
	}
	return r.unexpected(0, "in "+what)
}

// charDesc is a character as the server quotes it: 'x' (code 120).
func charDesc(at []byte) string {
	char, size := utf8.DecodeRune(at)
	if char == utf8.RuneError && size <= 1 && len(at) > 0 {
		char = rune(at[0])
	}
	if char < ' ' {
		return fmt.Sprintf("(CTRL-CHAR, code %d)", char)
	}
	return fmt.Sprintf("'%c' (code %d)", char, char)
}

func (r *Reader) illegal(c byte) error {
	return r.fail(r.pos+1, "Illegal character ((CTRL-CHAR, code %d)): only regular white space (\\r, \\n, \\t) is allowed between tokens", c)
}

func (r *Reader) illegalInString(c byte, key bool) error {
	what := "string value"
	if key {
		what = "name"
	}
	return r.fail(r.pos, "Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in %s", c, what)
}

// unknownWord is a word that is no literal.
func (r *Reader) unknownWord() error {
	end := r.pos
	for end < len(r.src) && end-r.pos < 256 && (isWord(r.src[end]) || r.src[end] >= 0x80) {
		end++
	}
	word, column := string(r.src[r.pos:end]), end
	if end < len(r.src) {
		column++
	}
	if word == "NaN" || word == "Infinity" || word == "INF" {
		r.pos = end
		return r.notANumber(word)
	}
	return r.fail(column, "Unrecognized token '%s': was expecting %s", strings.ToValidUTF8(word, "\ufffd"), validValues)
}

func (r *Reader) notANumber(word string) error {
	at := r.pos
	if word[0] == '-' {
		at += len(word)
	}
	return r.fail(at, "Non-standard token '%s': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow", word)
}

func (r *Reader) longNumber() error {
	return exception.New(exception.StreamConstraints,
		"Number value length (%d) exceeds the maximum allowed (%d, from `StreamReadConstraints.getMaxNumberLength()`)", len(r.text), maxNumber)
}

func (r *Reader) tooDeep() error {
	return exception.New(exception.StreamConstraints,
		"Document nesting depth (%d) exceeds the maximum allowed (%d, from `StreamReadConstraints.getMaxNestingDepth()`)", maxNesting+1, maxNesting)
}

func (r *Reader) duplicate(name []byte) error {
	return r.fail(r.pos, "Duplicate field '%s'", name)
}

// wrongClose is a closing brace or bracket that closes nothing of its kind.
func (r *Reader) wrongClose(brace bool) error {
	got, want := byte(']'), byte('}')
	if brace {
		got, want = '}', ']'
	}
	where := "root starting at " + fmt.Sprintf(redacted, 1) + "]"
	if len(r.open) > 0 {
		top := r.open[len(r.open)-1]
		where = kindName(top) + " starting at " + r.place(top.start)
	}
	return r.fail(r.pos, "Unexpected close marker '%c': expected '%c' (for %s)", got, want, where)
}

func kindName(f frame) string {
	if f.object {
		return "Object"
	}
	return "Array"
}

func (r *Reader) endOfInput(where string) error {
	return exception.New(exception.JSONEOF, "Unexpected end-of-input %s\n at %s", where, r.place(len(r.src)))
}

// end is the end of the input: an error within a container.
func (r *Reader) end() (Kind, error) {
	if len(r.open) == 0 {
		return End, nil
	}
	top := r.open[len(r.open)-1]
	return 0, exception.New(exception.JSONEOF, "Unexpected end-of-input: expected close marker for %s (start marker at %s)\n at %s",
		kindName(top), r.place(top.start), r.place(len(r.src)))
}

// Mistyped is about a token that has come and is of no use to who reads it: placed
// behind that token.
func (r *Reader) Mistyped(format string, args ...any) error { return r.fail(r.pos, format, args...) }

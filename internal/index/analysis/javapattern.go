package analysis

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// javaPattern gives Go's regular expression for one of Java's, or refuses it: what needs
// backtracking (looking around, back references, possessive quantifiers), what Go has no
// classes for, and the flags MULTILINE, COMMENTS and rarer ones. The grammar is that of
// java.util.regex.Pattern. Java's $ also stands before a line's end that ends the text;
// here it is the end of the text alone. In the result, anchor stands for ^.
func javaPattern(pattern string, flags int) (translated string, anchored bool, err *exception.Error) {
	if flags&flagOther != 0 {
		return "", false, exception.New(exception.IllegalArgument, "flags of pattern [%s] are not supported", pattern)
	}
	if flags&flagLiteral != 0 {
		return literal(pattern, flags), false, nil
	}
	r := javaReader{text: pattern, flags: flags}
	r.alternatives(0)
	if r.err == nil && r.at < len(r.text) {
		r.bad("Unmatched closing ')'", max(r.at-1, 0))
	}
	return r.out.String(), r.anchored, r.err
}

func literal(text string, flags int) string {
	var out strings.Builder
	for _, r := range text {
		writeRune(&out, r, flags)
	}
	return out.String()
}

// javaReader reads one pattern.
type javaReader struct {
	text     string
	at       int
	flags    int
	out      strings.Builder
	anchored bool
	err      *exception.Error
}

func (r *javaReader) bad(what string, at int) {
	if r.err == nil {
		r.err = badPattern(what, r.text, at)
	}
	r.at = len(r.text)
}

func (r *javaReader) refuse() {
	if r.err == nil {
		r.err = exception.New(exception.IllegalArgument, "pattern [%s] is not supported", r.text)
	}
	r.at = len(r.text)
}

func (r *javaReader) more() bool { return r.at < len(r.text) && r.err == nil }

func (r *javaReader) next() rune {
	c, size := utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c
}

func (r *javaReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *javaReader) skip(prefix string) bool {
	if strings.HasPrefix(r.text[r.at:], prefix) {
		r.at += len(prefix)
		return true
	}
	return false
}

const maxGroups = 200 // nested, so that no pattern exhausts the stack

// alternatives reads until a group ends, or the pattern.
func (r *javaReader) alternatives(depth int) {
	if depth > maxGroups {
		r.refuse()
		return
	}
	flags := r.flags
	for r.more() && r.peek() != ')' {
		if r.skip("|") {
			r.out.WriteByte('|')
			continue
		}
		r.atom(depth)
	}
	r.flags = flags
}

func (r *javaReader) atom(depth int) {
	start := r.at
	switch c := r.next(); c {
	case '(':
		if !r.group(depth) {
			return
		}
	case '[':
		r.out.WriteString(r.class())
	case '.':
		if r.flags&flagDotAll != 0 {
			r.out.WriteString(`(?s:.)`)
		} else {
			r.out.WriteString(`[^\n\r\x{85}\x{2028}\x{2029}]`)
		}
	case '^':
		r.anchored = true
		r.out.WriteString("(?:" + anchor + ")")
	case '$':
		r.out.WriteString(`(?:\z)`)
	case '\\':
		r.escape()
	case '*', '+', '?':
		r.bad(fmt.Sprintf("Dangling meta character '%c'", c), start)
	case '{':
		r.refuse()
	default:
		writeRune(&r.out, c, r.flags)
	}
	r.quantifier()
}

// quantifier copies what repeats an atom.
func (r *javaReader) quantifier() {
	switch {
	case r.skip("*"):
		r.out.WriteByte('*')
	case r.skip("+"):
		r.out.WriteByte('+')
	case r.skip("?"):
		r.out.WriteByte('?')
	case r.peek() == '{':
		r.counted()
	default:
		return
	}
	switch {
	case r.peek() == '+':
		r.refuse()
	case r.skip("?"):
		r.out.WriteByte('?')
	}
}

func (r *javaReader) counted() {
	inner, _, ok := strings.Cut(r.text[r.at+1:], "}")
	digits := strings.Trim(inner, "0123456789")
	if !ok || inner == "" || inner[0] == ',' || digits != "" && (digits != "," || strings.Count(inner, ",") != 1) {
		if inner == "" || inner[0] < '0' || inner[0] > '9' {
			r.bad("Illegal repetition", r.at)
		} else {
			r.bad("Unclosed counted closure", r.at+1+len(inner))
		}
		return
	}
	r.out.WriteString("{" + inner + "}")
	r.at += len(inner) + 2
}

// group reads a group; false: it only sets flags, and nothing may repeat it.
func (r *javaReader) group(depth int) bool {
	flags := r.flags
	switch {
	case !r.skip("?"):
		r.out.WriteByte('(')
	case r.skip(":"):
		r.out.WriteString("(?:")
	case r.peek() == '<' && !strings.HasPrefix(r.text[r.at:], "<=") && !strings.HasPrefix(r.text[r.at:], "<!"):
		name, _, ok := strings.Cut(r.text[r.at+1:], ">")
		if !ok || name == "" || strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf || !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			r.refuse()
			return false
		}
		r.out.WriteString("(?P<" + name + ">")
		r.at += len(name) + 2
	default:
		if r.setFlags() {
			return false
		}
		r.out.WriteString("(?:")
	}
	r.alternatives(depth + 1)
	r.flags = flags
	if r.err == nil && !r.skip(")") {
		r.bad("Unclosed group", len(r.text))
	}
	r.out.WriteByte(')')
	return true
}

// setFlags reads (?i) or the beginning of (?i: ; true: the group is over.
func (r *javaReader) setFlags() bool {
	set := true
	for r.more() {
		bit := 0
		switch r.next() {
		case 'i':
			bit = flagCaseless
		case 's':
			bit = flagDotAll
		case 'u':
			bit = flagUnicodeCase
		case '-':
			set = false
		case ':':
			return false
		case ')':
			return true
		default:
			r.refuse()
		}
		if set {
			r.flags |= bit
		} else {
			r.flags &^= bit
		}
	}
	r.refuse()
	return true
}

// writeRune writes a code point that stands for itself, or for its other case too. As
// in Java, that is so for ASCII alone unless case is that of Unicode.
func writeRune(out *strings.Builder, c rune, flags int) {
	switch {
	case flags&flagCaseless == 0:
		fmt.Fprintf(out, `\x{%x}`, c)
	case flags&flagUnicodeCase != 0:
		fmt.Fprintf(out, `(?i:\x{%x})`, c)
	case c < utf8.RuneSelf && unicode.IsLetter(c):
		fmt.Fprintf(out, "[%c%c]", unicode.ToLower(c), unicode.ToUpper(c))
	default:
		fmt.Fprintf(out, `\x{%x}`, c)
	}
}

// escape reads what follows a backslash outside of a class.
func (r *javaReader) escape() {
	switch {
	case !r.more():
		r.bad("Unexpected internal error", len(r.text))
	case r.skip("Q"):
		quoted, _, _ := strings.Cut(r.text[r.at:], `\E`)
		r.out.WriteString("(?:" + literal(quoted, r.flags) + ")")
		r.at = min(len(r.text), r.at+len(quoted)+2)
	case r.skip("A"):
		r.anchored = true
		r.out.WriteString("(?:" + anchor + ")")
	case r.skip("z"), r.skip("Z"):
		r.out.WriteString(`(?:\z)`)
	case r.skip("R"):
		r.out.WriteString(`(?:\r\n|[\n\x0b\f\r\x{85}\x{2028}\x{2029}])`)
	default:
		set, c, ok := r.escaped()
		switch {
		case !ok:
		case set != "":
			r.out.WriteString("[" + set + "]")
		default:
			writeRune(&r.out, c, r.flags)
		}
	}
}

// The sets of Java that are not Go's.
const (
	horizontal = ` \t\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	vertical   = `\n\x0b\f\r\x{85}\x{2028}\x{2029}`
	spaces     = ` \t\n\x0b\f\r`
)

// notSpaces and the others are complements, as ranges, so that they can stand in a class.
var escapedSets = map[rune]string{
	'd': "0-9", 'w': "0-9A-Za-z_", 's': spaces, 'h': horizontal, 'v': vertical,
	'D': `\x00-/:-\x{10ffff}`, 'W': `\x00-/:-@\[-\^\x60\x7b-\x{10ffff}`, 'S': `\x00-\x08\x0e-\x1f!-\x{10ffff}`,
}

// escaped reads an escape that may stand in a class too: the inside of a class, or one
// code point.
func (r *javaReader) escaped() (set string, c rune, ok bool) {
	start := r.at
	c = r.next()
	if set, ok := escapedSets[c]; ok {
		return set, 0, true
	}
	switch c {
	case 't':
		return "", '\t', true
	case 'n':
		return "", '\n', true
	case 'r':
		return "", '\r', true
	case 'f':
		return "", '\f', true
	case 'a':
		return "", 7, true
	case 'e':
		return "", 0x1b, true
	case 'u':
		return r.hexadecimal(4)
	case 'x':
		return r.hexadecimal(2)
	case 'p', 'P':
		return r.property(c == 'P')
	}
	if c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
		if strings.ContainsRune("CEFIJKLMOPQSTUVXYgijlmoqyz", c) && !strings.ContainsRune("QEXNGBbkAZz", c) {
			r.bad("Illegal/unsupported escape sequence", start)
		} else {
			r.refuse()
		}
		return "", 0, false
	}
	return "", c, true
}

func (r *javaReader) hexadecimal(digits int) (set string, c rune, ok bool) {
	if digits == 2 && r.peek() == '{' || r.at+digits > len(r.text) {
		r.refuse()
		return "", 0, false
	}
	if _, err := fmt.Sscanf(r.text[r.at:r.at+digits], "%x", &c); err != nil || c >= 0xd800 && c < 0xe000 {
		r.refuse()
		return "", 0, false
	}
	r.at += digits
	return "", c, true
}

// posix are the classes that are ASCII alone in Java.
var posix = map[string]string{
	"Lower": "a-z", "Upper": "A-Z", "ASCII": `\x00-\x7f`, "Alpha": "A-Za-z", "Digit": "0-9", "Alnum": "0-9A-Za-z",
	"Punct": `!-/:-@\[-\x60\x7b-~`, "Graph": "!-~", "Print": " -~", "Blank": ` \t`, "Cntrl": `\x00-\x1f\x7f`,
	"XDigit": "0-9A-Fa-f", "Space": spaces,
}

// property reads \p{…}: categories and scripts, which Go has too.
func (r *javaReader) property(not bool) (set string, c rune, ok bool) {
	name := string(r.peek())
	size := 1
	if r.peek() == '{' {
		inner, _, closed := strings.Cut(r.text[r.at+1:], "}")
		if !closed {
			r.bad("Unclosed character family", len(r.text))
			return "", 0, false
		}
		name, size = inner, len(inner)+2
	}
	if ascii, isPosix := posix[name]; isPosix && !not {
		r.at += size
		return ascii, 0, true
	}
	for _, prefix := range []string{"Is", "script=", "sc=", "general_category=", "gc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	_, isCategory := unicode.Categories[name]
	_, isScript := unicode.Scripts[name]
	if !isCategory && !isScript {
		r.refuse()
		return "", 0, false
	}
	r.at += size
	letter := "p"
	if not {
		letter = "P"
	}
	return `\` + letter + "{" + name + "}", 0, true
}

// class reads a class of characters, whose bracket is read.
func (r *javaReader) class() string {
	var out strings.Builder
	out.WriteByte('[')
	if r.skip("^") {
		out.WriteByte('^')
	}
	empty := true
	for r.more() && (empty || r.peek() != ']') {
		if r.peek() == '[' || strings.HasPrefix(r.text[r.at:], "&&") {
			r.refuse()
			break
		}
		set, c, ok := r.member()
		if !ok {
			break
		}
		empty = false
		last := c
		if set == "" && r.peek() == '-' && !strings.HasPrefix(r.text[r.at:], "-]") {
			r.at++
			if r.peek() == '[' {
				r.refuse()
				break
			}
			if !r.more() {
				r.bad("Illegal character range", r.at)
				break
			}
			if set, last, ok = r.member(); !ok || set != "" || last < c {
				r.bad("Illegal character range", r.at-1)
				break
			}
		}
		r.writeMember(&out, set, c, last)
	}
	if r.err == nil && !r.skip("]") {
		r.bad("Unclosed character class", len(r.text)-1)
	}
	out.WriteByte(']')
	return out.String()
}

func (r *javaReader) member() (set string, c rune, ok bool) {
	if c = r.next(); c != '\\' {
		return "", c, true
	}
	if !r.more() || r.peek() == 'Q' || r.peek() == 'R' {
		r.refuse()
		return "", 0, false
	}
	return r.escaped()
}

func (r *javaReader) writeMember(out *strings.Builder, set string, first, last rune) {
	if set != "" {
		out.WriteString(set)
		return
	}
	fmt.Fprintf(out, `\x{%x}-\x{%x}`, first, last)
	if r.flags&flagCaseless == 0 {
		return
	}
	if r.flags&flagUnicodeCase != 0 {
		r.refuse()
		return
	}
	for _, shift := range []struct{ from, to, by rune }{{'a', 'z', 'A' - 'a'}, {'A', 'Z', 'a' - 'A'}} {
		if from, to := max(first, shift.from), min(last, shift.to); from <= to {
			fmt.Fprintf(out, `\x{%x}-\x{%x}`, from+shift.by, to+shift.by)
		}
	}
}

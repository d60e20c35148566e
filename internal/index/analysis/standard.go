package analysis

import "unicode/utf8"

// The types of tokens that tokenizers tell.
const (
	typeAlphaNum  = "<ALPHANUM>"
	typeNum       = "<NUM>"
	typeHangul    = "<HANGUL>"
	typeKatakana  = "<KATAKANA>"
	typeIdeograph = "<IDEOGRAPHIC>"
	typeHiragana  = "<HIRAGANA>"
	typeSoutheast = "<SOUTHEAST_ASIAN>"
	typeEmoji     = "<EMOJI>"
	typeWord      = "word"
)

// standard splits at the word boundaries of UAX #29, as Lucene's StandardTokenizer does:
// beside words, it keeps single ideographs, single hiragana, runs of southeast Asian
// letters, and emoji. Tokens end after max UTF-16 units, and the rest is the next token.
type standard struct {
	max   int
	lower bool // terms in lower case, which saves a filter
}

// What the bytes of ASCII are to the fast path.
const (
	asciiLetter = 1 << iota
	asciiDigit
	asciiLow // '_'
	asciiUpper
	asciiMid  // may stand inside a word
	asciiWord = asciiLetter | asciiDigit | asciiLow
)

var ascii = func() (table [256]uint8) {
	for b := range 256 {
		switch {
		case b >= 'a' && b <= 'z':
			table[b] = asciiLetter
		case b >= 'A' && b <= 'Z':
			table[b] = asciiLetter | asciiUpper
		case b >= '0' && b <= '9':
			table[b] = asciiDigit
		case b == '_':
			table[b] = asciiLow
		case b >= utf8.RuneSelf, b == '.', b == ',', b == ':', b == ';', b == '\'':
			table[b] = asciiMid
		}
	}
	return table
}()

func (f standard) tokenize(s *stream) {
	text := s.text
	for i := 0; i < len(text); {
		if b := text[i]; ascii[b]&asciiWord == 0 && b < utf8.RuneSelf && !beginsKeycap(text, i) {
			i++
			continue
		}
		end, typ, seen := i, "", uint8(0)
		for end < len(text) && end-i <= f.max && ascii[text[end]]&asciiWord != 0 {
			seen |= ascii[text[end]]
			end++
		}
		switch {
		case end-i > f.max, seen&(asciiLetter|asciiDigit) == 0, end < len(text) && !breaks(text, end):
			end, typ = wordAt(text, i, f.max)
			seen = asciiUpper // perhaps
		case seen&asciiLetter != 0:
			typ = typeAlphaNum
		default:
			typ = typeNum
		}
		if typ == "" {
			i = f.behind(text, i)
			continue
		}
		term := text[i:end:end]
		if f.lower && seen&asciiUpper != 0 {
			term = lowered(s, term)
		}
		s.add(term, i, end, typ)
		i = end
	}
}

// behind is where to look next when no token begins at i. Low lines join words and are
// none by themselves: of a long run of them only the end is looked at.
func (f standard) behind(text []byte, i int) int {
	end := i
	for end < len(text) && text[end] == '_' {
		end++
	}
	if end-i > f.max {
		return end - f.max
	}
	_, size := utf8.DecodeRune(text[i:])
	return i + size
}

// beginsKeycap tells whether # or * stands before something that is not ASCII.
func beginsKeycap(text []byte, i int) bool {
	return (text[i] == '#' || text[i] == '*') && i+1 < len(text) && text[i+1] >= utf8.RuneSelf
}

// breaks tells whether a word of ASCII surely ends before place i, where no word byte is.
func breaks(text []byte, i int) bool {
	b := text[i]
	if b >= utf8.RuneSelf {
		return false
	}
	if ascii[b]&asciiMid == 0 && b != '"' {
		return true
	}
	return i+1 >= len(text) || text[i+1] < utf8.RuneSelf && ascii[text[i+1]]&asciiWord == 0
}

// wordAt is the end and the type of the token that begins at i, or "" when none does:
// the longest of those that the rules allow, and of equally long ones the plainer type.
func wordAt(text []byte, i, most int) (end int, typ string) {
	text = window(text, i, most)
	c, next := classAt(text, i)
	switch c {
	case han:
		return skipExtend(text, next), typeIdeograph
	case hiragana:
		return skipExtend(text, next), typeHiragana
	case complex, complexExtend:
		return complexRun(text, i), typeSoutheast
	}
	end, typ = scanWord(text, i)
	if e := emojiAt(text, i); e >= end && e > i {
		return e, typeEmoji
	}
	return end, typ
}

// window cuts the text so that a token from i has at most so many UTF-16 units.
func window(text []byte, i, most int) []byte {
	if len(text)-i <= most {
		return text
	}
	units := 0
	for at := i; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		units += utf16Units(r)
		if units > most {
			return text[:at]
		}
		at += size
	}
	return text
}

func utf16Units(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// skipExtend is the end of the extending code points from i.
func skipExtend(text []byte, i int) int {
	for i < len(text) {
		c, next := classAt(text, i)
		if !c.extends() {
			break
		}
		i = next
	}
	return i
}

func complexRun(text []byte, i int) int {
	for i < len(text) {
		c, next := classAt(text, i)
		if c != complex && !c.extends() {
			break
		}
		i = next
	}
	return i
}

// scan is a word while it grows.
type scan struct {
	text []byte
	end  int   // of what is a word for sure
	last class // the class of its last code point that does not extend
	kind kinds // what the word has
}

type kinds uint8

const (
	hasLetter kinds = 1 << iota
	hasHangul
	hasNumeric
	hasKatakana
	hasLow // extendNumLet
)

// scanWord is the longest word or number from i (rules WB5 to WB13b).
func scanWord(text []byte, i int) (int, string) {
	w := scan{text: text, end: i}
	for at := i; at < len(text); {
		c, next := classAt(text, at)
		next = skipExtend(text, next)
		switch {
		case c == extendNumLet:
			if w.kind == 0 && !w.leads(next) {
				return i, ""
			}
		case c.isLetter() || c.isNumeric() || c == katakana:
			if w.kind != 0 && w.last != extendNumLet && !joins(w.last, c) {
				return w.end, w.kind.typ()
			}
		default:
			if at = w.across(c, next); at == 0 {
				return w.end, w.kind.typ()
			}
			continue
		}
		w.take(c, next)
		at = next
	}
	return w.end, w.kind.typ()
}

// leads tells whether low lines, of which one ends before i, lead to a word.
func (w *scan) leads(i int) bool {
	for i < len(w.text) {
		c, next := classAt(w.text, i)
		if c != extendNumLet {
			return c.isLetter() || c.isNumeric() || c == katakana
		}
		i = skipExtend(w.text, next)
	}
	return false
}

// joins tells whether two code points, neither of them a low line, are never apart.
func joins(a, b class) bool {
	if a == katakana || b == katakana {
		return a == b
	}
	return (a.isLetter() || a.isNumeric() || a == quote) && (b.isLetter() || b.isNumeric())
}

// across tries to go on over a mid code point, which ends before next, to what may
// follow it. It gives the end, or 0. A Hebrew letter may be followed by a quote, but not
// when it follows a mid code point itself.
func (w *scan) across(c class, next int) int {
	after, end := classAt(w.text, next)
	end = skipExtend(w.text, end)
	switch {
	case w.last == hebrew && c == quote:
		w.take(c, next)
		return next
	case w.last == hebrew && after == hebrew && c == doubleQuote:
		w.take(after, end)
		w.last = quote
	case w.last.isLetter() && after.isLetter() && (c == midLetter || c == midNumLet || c == quote):
		w.take(letter, end)
	case w.last.isNumeric() && after.isNumeric() && (c == midNum || c == midNumLet || c == quote):
		w.take(after, end)
	default:
		return 0
	}
	return end
}

func (w *scan) take(c class, end int) {
	w.end, w.last = end, c
	switch {
	case c == hangul:
		w.kind |= hasHangul
	case c.isLetter(), c == quote:
		w.kind |= hasLetter
	case c.isNumeric():
		w.kind |= hasNumeric
	case c == katakana:
		w.kind |= hasKatakana
	default:
		w.kind |= hasLow
	}
}

// typ is the type of a word that has all that.
func (k kinds) typ() string {
	switch k {
	case 0, hasLow:
		return ""
	case hasNumeric, hasNumeric | hasLow:
		return typeNum
	case hasHangul:
		return typeHangul
	case hasKatakana:
		return typeKatakana
	}
	return typeAlphaNum
}

// The code points that decide what an emoji is.
const (
	joiner   = "\u200d"
	pictured = "\ufe0f"
)

// emojiAt is the end of the emoji that begins at i, or i.
func emojiAt(text []byte, i int) int {
	c, next := classAt(text, i)
	switch c {
	case regional:
		if second, end := classAt(text, skipExtend(text, next)); second == regional {
			return skipExtend(text, end)
		}
		return i
	case digit, keycap:
		return keycapEnd(text, i, next)
	case modifier:
		return emojiRun(text, i, skipPlain(text, next))
	}
	return emojiRun(text, i, i)
}

// keycapEnd is the end of a keycap, whose key is text[i:next], or i.
func keycapEnd(text []byte, i, next int) int {
	end := i
	for next < len(text) {
		c, after := classAt(text, next)
		if !c.extends() || c == textual {
			break
		}
		if hasAt(text, next, pictured) {
			if c, after = classAt(text, after); c == enclosing {
				return skipPlain(text, after)
			}
			break
		}
		if c == enclosing {
			end = skipPlain(text, after)
		}
		next = after
	}
	return end
}

// emojiRun is the end of the emoji that begins at i, and of those that are joined to it,
// when it is known to reach to end. Joiners may precede the first one.
func emojiRun(text []byte, i, end int) int {
	for {
		at := end
		if end > i {
			for hasAt(text, at-len(joiner), joiner) {
				at -= len(joiner)
			}
			if !hasAt(text, at, joiner) {
				return end
			}
		}
		for hasAt(text, at, joiner) {
			at += len(joiner)
		}
		c, next := classAt(text, at)
		if c != emoji && c != emojiLetter && (c != modifier || end == i) {
			return end
		}
		end = skipPlain(text, next)
		if hasAt(text, end, pictured) {
			end += len(pictured)
		}
	}
}

func hasAt(text []byte, i int, what string) bool {
	return i >= 0 && i+len(what) <= len(text) && string(text[i:i+len(what)]) == what
}

// skipPlain is the end of what extends from i, but for variation selectors.
func skipPlain(text []byte, i int) int {
	for i < len(text) {
		c, next := classAt(text, i)
		if !c.extends() || c == textual || hasAt(text, i, pictured) {
			break
		}
		i = next
	}
	return i
}

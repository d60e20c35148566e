package analysis

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode/utf8"
)

// class is what a code point is to the standard tokenizer. The names are those of the
// property Word_Break of UAX #29, and of the parts of emoji (UTS #51).
type class uint8

const (
	other class = iota
	letter
	hangul
	hebrew
	emojiLetter // a letter that is an emoji when it stands alone: ℹ
	digit       // ASCII: begins keycap emoji
	numeric
	katakana
	extendNumLet
	extend
	enclosing // the keycap, which extends
	textual   // the variation selector that makes an emoji plain text, which extends
	modifier  // of skin, which extends
	complexExtend
	complex
	midLetter
	midNum
	midNumLet
	quote
	doubleQuote
	han
	hiragana
	regional
	emoji
	keycap // # and *
)

var classNames = map[string]class{
	"letter": letter, "hangul": hangul, "hebrew": hebrew, "emojiLetter": emojiLetter, "digit": digit,
	"numeric": numeric, "katakana": katakana, "extendNumLet": extendNumLet, "extend": extend,
	"enclosing": enclosing, "textual": textual, "modifier": modifier, "complexExtend": complexExtend,
	"complex": complex, "midLetter": midLetter, "midNum": midNum, "midNumLet": midNumLet, "quote": quote,
	"doubleQuote": doubleQuote, "han": han, "hiragana": hiragana, "regional": regional, "emoji": emoji,
	"keycap": keycap,
}

//go:embed classes.txt
var classText string

// classes are those of the first two planes; above them only ranges of han and extend
// are, which classRanges keeps.
var classes, classRanges = readClasses(classText)

type classRange struct {
	first, last rune
	class       class
}

const planes = 0x20000

func readClasses(text string) (*[planes]class, []classRange) {
	var table [planes]class
	var above []classRange
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		c, ok := classNames[words[0]]
		if !ok {
			panic("analysis: classes.txt: no class " + words[0])
		}
		for _, word := range words[1:] {
			first, last, isRange := strings.Cut(word, "-")
			if !isRange {
				last = first
			}
			r := classRange{mustCodePoint(first), mustCodePoint(last), c}
			for p := r.first; p <= min(r.last, planes-1); p++ {
				table[p] = c
			}
			if r.last >= planes {
				above = append(above, r)
			}
		}
	}
	return &table, above
}

func mustCodePoint(hex string) rune {
	n, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		panic("analysis: classes.txt: " + err.Error())
	}
	return rune(n)
}

func classOf(r rune) class {
	if r < planes {
		return classes[r]
	}
	for _, above := range classRanges {
		if r >= above.first && r <= above.last {
			return above.class
		}
	}
	return other
}

// classAt is the class of the code point that begins at i, and where the next one begins.
// At the end of text it is other.
func classAt(text []byte, i int) (class, int) {
	if i >= len(text) {
		return other, i
	}
	if b := text[i]; b < utf8.RuneSelf {
		return classes[b], i + 1
	}
	r, size := utf8.DecodeRune(text[i:])
	return classOf(r), i + size
}

// extends tells whether the class continues whatever is before it (rule WB4).
func (c class) extends() bool { return c >= extend && c <= complexExtend }

func (c class) isLetter() bool  { return c >= letter && c <= emojiLetter }
func (c class) isNumeric() bool { return c == digit || c == numeric }

package date

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// compiler turns a pattern of java.time's letters into elements.
//
// Our own table of named formats (see names) says more than those letters can,
// in characters that the letters' language reserves: a range of digits and a
// sign in braces ("u{4-10+}": four digits, up to ten after a plus; "d{1-2}";
// "u{1-5-}": a minus is allowed), "S{.1-9}" for a dot with one to nine digits
// of the second, "I", "J" and "i" for the ISO week year, week and day, "{i}"
// for letters in either case from here on.
type compiler struct {
	pattern string
	at      int
	named   bool // the braces are allowed

	levels [][]element // of open brackets
	// value is the place of the last number that digits may follow directly, in
	// the innermost level; -1: there is none.
	value int
}

// bounded by its length: a pattern comes from a mapping.
const patternLimit = 10_000

// compile makes a layout of a pattern. It refuses what java.time refuses.
func compile(pattern string, named bool) (*layout, *exception.Error) {
	if len(pattern) > patternLimit {
		return nil, refusal("pattern of %d bytes is too long", len(pattern))
	}
	c := &compiler{pattern: pattern, named: named, levels: make([][]element, 1), value: -1}
	for c.at < len(pattern) {
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	for len(c.levels) > 1 {
		c.closeBracket()
	}
	l := &layout{elements: c.levels[0], strict: true}
	l.asDays = mentions(l.elements, dayOfYear)
	return l, nil
}

func refusal(format string, args ...any) *exception.Error {
	return exception.New(exception.IllegalArgument, format, args...)
}

func mentions(elements []element, f field) bool {
	for i := range elements {
		e := &elements[i]
		if e.kind == number && e.field == f || mentions(e.inner, f) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// step takes one construct of the pattern.
func (c *compiler) step() *exception.Error {
	switch cur := c.pattern[c.at]; {
	case isLetter(cur):
		return c.letters()
	case cur == '\'':
		return c.quoted()
	case cur == '[':
		c.at++
		c.levels = append(c.levels, nil)
		c.value = -1
	case cur == ']':
		c.at++
		if len(c.levels) == 1 {
			return refusal("Pattern invalid as it contains ] without previous [")
		}
		c.closeBracket()
	case cur == '{' && c.named && strings.HasPrefix(c.pattern[c.at:], "{i}"):
		c.at += 3
		c.add(element{kind: ignoreCase})
	case cur == '{', cur == '}', cur == '#':
		return refusal("Pattern includes reserved character: '%c'", cur)
	default:
		end := c.at + 1
		for end < len(c.pattern) && c.pattern[end] >= 0x80 && c.pattern[end] < 0xC0 {
			end++ // the rest of a character
		}
		c.add(element{kind: literalText, literal: c.pattern[c.at:end]})
		c.at = end
	}
	return nil
}

func (c *compiler) top() *[]element { return &c.levels[len(c.levels)-1] }

// add appends an element that no number can run into.
func (c *compiler) add(e element) {
	*c.top() = append(*c.top(), e)
	c.value = -1
}

// addNumber appends a number. Of numbers side by side the first gives way: it
// leaves the digits that those of fixed width after it need.
func (c *compiler) addNumber(e element) {
	list := c.top()
	switch fixed := e.min == e.max && e.sign == unsigned; {
	case c.value >= 0 && fixed:
		(*list)[c.value].following += e.max
	case c.value >= 0:
		(*list)[c.value].following = 0
		c.value = len(*list)
	default:
		c.value = len(*list)
	}
	*list = append(*list, e)
}

func (c *compiler) closeBracket() {
	inner := *c.top()
	c.levels = c.levels[:len(c.levels)-1]
	if len(inner) > 0 {
		c.add(element{kind: optional, inner: inner})
	}
	c.value = -1
}

// quoted takes 'text', where two quotes stand for one; two alone are a quote.
func (c *compiler) quoted() *exception.Error {
	var text strings.Builder
	for c.at++; c.at < len(c.pattern); c.at++ {
		if c.pattern[c.at] != '\'' {
			text.WriteByte(c.pattern[c.at])
			continue
		}
		if c.at+1 >= len(c.pattern) || c.pattern[c.at+1] != '\'' {
			c.at++
			if text.Len() == 0 {
				text.WriteByte('\'')
			}
			c.add(element{kind: literalText, literal: text.String()})
			return nil
		}
		c.at++
		text.WriteByte('\'')
	}
	return refusal("Pattern ends with an incomplete string literal: %s", c.pattern)
}

// run counts the equal letters from here and goes past them.
func (c *compiler) run() (letter byte, count int) {
	start := c.at
	letter = c.pattern[start]
	for c.at++; c.at < len(c.pattern) && c.pattern[c.at] == letter; c.at++ {
	}
	return letter, c.at - start
}

// letters takes a run of one letter, and after a run of p what it pads.
func (c *compiler) letters() *exception.Error {
	letter, count := c.run()
	pad := 0
	if letter == 'p' {
		pad = count
		if c.at >= len(c.pattern) || !isLetter(c.pattern[c.at]) {
			return refusal("Pad letter 'p' must be followed by valid pad pattern: %s", c.pattern)
		}
		letter, count = c.run()
	}
	// A padded element stands for itself: numbers do not run into it.
	list := len(*c.top())
	if pad > 0 {
		c.value = -1
	}
	if err := c.letter(letter, count); err != nil {
		return err
	}
	if pad > 0 {
		top := c.top()
		inner := append([]element{}, (*top)[list:]...)
		*top = append((*top)[:list], element{kind: padded, pad: pad, inner: inner})
		c.value = -1
	}
	return nil
}

// braces takes the digits and the sign in braces after a letter of a named
// format.
func (c *compiler) braces(e *element) bool {
	if !c.named || c.at >= len(c.pattern) || c.pattern[c.at] != '{' {
		return false
	}
	end := c.at + strings.IndexByte(c.pattern[c.at:], '}')
	text := c.pattern[c.at+1 : end]
	c.at = end + 1
	text, e.point = strings.CutPrefix(text, ".")
	if rest, ok := strings.CutSuffix(text, "+"); ok {
		text, e.sign = rest, plusBeyond
	} else if rest, ok := strings.CutSuffix(text, "-"); ok {
		text, e.sign = rest, minusOnly
	}
	low, high, ok := strings.Cut(text, "-")
	if !ok {
		high = low
	}
	e.min, _ = strconv.Atoi(low)
	e.max, _ = strconv.Atoi(high)
	return true
}

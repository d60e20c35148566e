package date

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// anyDigits is the width of a number that a single letter stands for.
const anyDigits = 19

// fieldOf are the letters that stand for a field that is a number or a name.
var fieldOf = [128]field{
	'G': era, 'u': year, 'y': yearOfEra, 'D': dayOfYear, 'M': month, 'L': month, 'd': day,
	'Q': quarter, 'q': quarter, 'g': julianDay, 'Y': weekYear, 'w': week, 'W': weekOfMonth,
	'E': weekday, 'e': localWeekday, 'c': localWeekday, 'F': alignedWeekday, 'a': half,
	'h': clockHourOfHalf, 'K': hourOfHalf, 'k': clockHour, 'H': hour, 'm': minute, 's': second,
	'S': nano, 'A': milliOfDay, 'n': nano, 'N': nanoOfDay, 'I': isoWeekYear, 'J': isoWeek, 'i': weekday,
}

// letter takes one run of a letter.
func (c *compiler) letter(letter byte, count int) *exception.Error {
	f := fieldOf[letter]
	e := element{kind: number, field: f, min: count, max: count}
	switch letter {
	case 'I', 'J', 'i':
		if !c.named {
			return refusal("Unknown pattern letter: %c", letter)
		}
		if !c.braces(&e) && count == 1 {
			e.max, e.sign = anyDigits, minusOnly
		}
		c.addNumber(e)
	case 'u', 'y', 'Y':
		return c.years(e, count)
	case 'Q', 'M', 'q', 'L', 'E', 'e', 'c':
		return c.numberOrName(letter, count, e)
	case 'a':
		if count > 1 {
			return tooMany(letter)
		}
		c.add(element{kind: nameOf, field: f, names: halves})
	case 'G':
		return c.name(letter, count, f)
	case 'S':
		e.kind = fractionOf
		c.fraction(e)
		return fractionWidth(count)
	case 'n', 'N', 'A', 'g':
		e.max = anyDigits
		if letter == 'g' {
			e.sign = minusOnly
		}
		if count > anyDigits {
			return tooWide(count)
		}
		c.addNumber(e)
	case 'V', 'v', 'z', 'O', 'X', 'x', 'Z', 'B':
		return c.zone(letter, count)
	case 'W', 'F', 'd', 'h', 'H', 'k', 'K', 'm', 's', 'D', 'w':
		return c.shortNumber(letter, count, e)
	default:
		return refusal("Unknown pattern letter: %c", letter)
	}
	return nil
}

func tooMany(letter byte) *exception.Error { return refusal("Too many pattern letters: %c", letter) }

func tooWide(count int) *exception.Error {
	return refusal("The minimum width must be from 1 to 19 inclusive but was %d", count)
}

func fractionWidth(count int) *exception.Error {
	if count > 9 {
		return refusal("Minimum width must be from 0 to 9 inclusive but was %d", count)
	}
	return nil
}

// years: one letter takes any digits, two are of this century, from four on
// more digits come after a plus.
func (c *compiler) years(e element, count int) *exception.Error {
	e.max = anyDigits
	switch {
	case c.braces(&e):
	case count == 1:
		e.sign = minusOnly
	case count == 2:
		e.kind, e.max = yearOfCentury, 2
	case count < 4:
		e.sign = minusOnly
	case count > anyDigits:
		return tooWide(count)
	default:
		e.sign = plusBeyond
	}
	c.addNumber(e)
	return nil
}

// shortNumber: one letter takes any digits, two take two.
func (c *compiler) shortNumber(letter byte, count int, e element) *exception.Error {
	limit := 2
	switch letter {
	case 'W', 'F':
		limit = 1
	case 'D':
		limit = 3
	}
	if count > limit {
		return tooMany(letter)
	}
	switch {
	case c.braces(&e):
	case letter == 'W':
	case letter == 'w' && !c.named:
		e.max = 2
	case count == 1:
		e.max, e.sign = anyDigits, minusOnly
	case letter == 'D' && count == 2:
		e.max = 3
	}
	c.addNumber(e)
	return nil
}

func (c *compiler) fraction(e element) {
	if c.braces(&e); e.min == e.max && !e.point {
		c.addNumber(e)
	} else {
		c.add(e)
	}
}

// numberOrName: one or two letters are a number, three to five a name.
func (c *compiler) numberOrName(letter byte, count int, e element) *exception.Error {
	if letter == 'E' || count > 2 {
		return c.name(letter, count, e.field)
	}
	switch {
	case letter == 'c' && count == 2:
		return refusal("Invalid pattern \"cc\"")
	case letter == 'c' || letter == 'e':
		if c.named {
			e.max, e.sign = anyDigits, minusOnly
		}

	case c.braces(&e):
	case count == 1:
		e.max, e.sign = anyDigits, minusOnly
	}
	c.addNumber(e)
	return nil
}

// name: up to three letters are short, four full, five one letter.
func (c *compiler) name(letter byte, count int, f field) *exception.Error {
	if count > 5 {
		return tooMany(letter)
	}
	if f == localWeekday {
		f = weekday
	}
	c.add(element{kind: nameOf, field: f, names: namesOf(f, max(count, 3), strings.IndexByte("qLc", letter) >= 0)})
	return nil
}

// zone: letters that stand for zones and offsets.
func (c *compiler) zone(letter byte, count int) *exception.Error {
	e := element{kind: offsetFrom}
	switch letter {
	case 'V':
		if count != 2 {
			return refusal("Pattern letter count must be 2: %c", letter)
		}
		e.kind = zoneID
	case 'v', 'B':
		if count != 1 && count != 4 && (letter == 'v' || count != 5) {
			return refusal("Wrong number of pattern letters: %c", letter)
		}
		if e.kind = zoneID; letter == 'B' {
			e = element{kind: nameOf, field: half, names: halves}
			if count == 5 {
				e.names = initials
			}
		}
	case 'z':
		if count > 4 {
			return tooMany(letter)
		}
		e.kind = zoneID
	case 'O':
		if count != 1 && count != 4 {
			return refusal("Pattern letter count must be 1 or 4: %c", letter)
		}
		e.kind, e.style = greenwich, uint8(count)
	default:
		if count > 5 {
			return tooMany(letter)
		}
		e = offsetElement(letter, count)
	}
	c.add(e)
	return nil
}

// offsetElement: X writes Z for zero, x and Z do not; the count tells which of
// minutes and seconds are needed and whether colons part them.
func offsetElement(letter byte, count int) element {
	e := element{kind: offsetFrom, style: uint8(count), literal: "Z"}
	zero := [...]string{1: "+00", 2: "+0000", 3: "+00:00", 4: "+0000", 5: "+00:00"}
	switch {
	case letter == 'x':
		e.literal = zero[count]
	case letter == 'Z' && count < 4:
		e.style, e.literal = 2, zero[2]
	case letter == 'Z' && count == 4:
		return element{kind: greenwich, style: 4}
	}
	return e
}

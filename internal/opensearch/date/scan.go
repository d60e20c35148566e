package date

import "strings"

// scan reads a text by the elements of a layout. Places in the text are byte
// offsets; a failed step returns the place of its failure as -1-place.
type scan struct {
	text  string
	limit int // where the text ends
	scanned
	overflow bool // an offset has more than 23 hours: not told as a place
}

// scanned is what an optional part that fails takes back. It holds no pointers,
// so that texts need not outlive their scan.
type scanned struct {
	fieldValues
	zone    int64 // seconds east of Greenwich
	hasZone bool
	anyCase bool
}

func newScan(text string) scan { return scan{text: text, limit: len(text)} }

// failed marks a place as that of a failure.
func failed(at int) int { return -1 - at }

// run takes the elements one after the other.
func (s *scan) run(elements []element, at int) int {
	for i := range elements {
		if at = s.element(&elements[i], at); at < 0 {
			return at
		}
	}
	return at
}

func (s *scan) element(e *element, at int) int {
	switch e.kind {
	case literalText:
		if !s.match(at, e.literal) {
			return failed(at)
		}
		return at + len(e.literal)
	case number, yearOfCentury:
		return s.number(e, at)
	case fractionOf:
		return s.fraction(e, at)
	case nameOf:
		return s.name(e, at)
	case offsetFrom:
		return s.offset(e, at)
	case zoneID:
		return s.zoneID(at)
	case greenwich:
		return s.greenwich(e, at)
	case padded:
		return s.padded(e, at)
	case ignoreCase:
		s.anyCase = true
		return at
	}
	before := s.scanned // optional
	end := s.run(e.inner, at)
	if end < 0 {
		s.scanned = before
		return at
	}
	return end
}

// match tells whether literal stands at a place.
func (s *scan) match(at int, literal string) bool {
	rest := s.text[at:s.limit]
	return strings.HasPrefix(rest, literal) ||
		s.anyCase && len(rest) >= len(literal) && strings.EqualFold(rest[:len(literal)], literal)
}

// digit is the value of the digit at a place, or more than 9.
func (s *scan) digit(at int) byte {
	if at >= s.limit {
		return 255
	}
	return s.text[at] - '0'
}

// keep keeps a value that was read from start to end; two different values of
// one field fail.
func (s *scan) keep(f field, value int64, start, end int) int {
	if old, ok := s.get(f); ok && old != value {
		return failed(start)
	}
	s.put(f, value)
	return end
}

func (s *scan) number(e *element, at int) int {
	if at == s.limit {
		return failed(at)
	}
	start, plus, minus := at, false, false
	switch s.text[at] {
	case '+':
		if e.sign != plusBeyond {
			return failed(at)
		}
		plus, start = true, at+1
	case '-':
		if e.sign == unsigned {
			return failed(at)
		}
		minus, start = true, at+1
	}
	// The digits that numbers after this one need are left to them, unless this
	// one would be too short then.
	limit := e.max + e.following
	count := s.digits(start, limit)
	if count < e.min {
		return failed(start)
	}
	if e.following > 0 {
		count = min(count, max(e.min, count-e.following))
	}
	value, count := s.digitsValue(start, count, minus)
	switch {
	case minus && value == 0:
		return failed(start - 1) // no minus zero
	case minus:
		value = -value
	case e.sign == plusBeyond && plus && count <= e.min:
		return failed(start - 1)
	case e.sign == plusBeyond && !plus && count > e.min:
		return failed(start)
	}
	if e.kind == yearOfCentury {
		value += 2000
		if e.field == weekYear && value == 2099 {
			value = 1999 // the week year of 2000-01-01, where the century begins
		}
	}
	return s.keep(e.field, value, start, start+count)
}

// digits counts the digits from a place, up to a limit.
func (s *scan) digits(at, limit int) (count int) {
	for count < limit && s.digit(at+count) <= 9 {
		count++
	}
	return count
}

// digitsValue is the value of digits; if it does not fit, it is the value
// without the last one. The least number is its own negative.
func (s *scan) digitsValue(at, count int, minus bool) (value int64, taken int) {
	for i := range count {
		digit := int64(s.text[at+i] - '0')
		least := minus && value == long/10 && digit == long%10+1 && i == count-1
		if value > (long-digit)/10 && !least {
			return value, i
		}
		value = value*10 + digit
	}
	return value, count
}

func (s *scan) fraction(e *element, at int) int {
	start := at
	if e.point {
		if at == s.limit || s.text[at] != '.' {
			return failed(at)
		}
		start++
	}
	count := s.digits(start, e.max)
	if start+e.min > s.limit || count < e.min {
		return failed(start)
	}
	var value int64
	for i := range 9 {
		value *= 10
		if i < count {
			value += int64(s.text[start+i] - '0')
		}
	}
	return s.keep(e.field, value, start, start+count)
}

// name takes the longest name; of equal ones, the last.
func (s *scan) name(e *element, at int) int {
	best := -1
	for i, n := range e.names {
		if s.match(at, n.text) && (best < 0 || len(n.text) >= len(e.names[best].text)) {
			best = i
		}
	}
	if best < 0 {
		return failed(at)
	}
	return s.keep(e.field, e.names[best].value, at, at+len(e.names[best].text))
}

// padded takes as many bytes as the pad is wide: blanks, then what is padded.
func (s *scan) padded(e *element, at int) int {
	end := at + e.pad
	if end > s.limit {
		return failed(at)
	}
	start := at
	for start < end && s.text[start] == ' ' {
		start++
	}
	limit := s.limit
	s.limit = end
	next := s.run(e.inner, start)
	s.limit = limit
	if next != end {
		return failed(at + start)
	}
	return end
}

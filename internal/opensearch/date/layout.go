package date

// A layout is one way to read or write a date: java.time's DateTimeFormatter as
// OpenSearch builds it.
type layout struct {
	elements []element
	strict   bool // dates must exist: no 31 April, no 24:00
	lenient  bool // dates may lie beyond their month
	utc      bool // a date without zone has one, UTC
	asDays   bool // names a day of the year, not a month
	defaults []fieldValue

	kind special
}

// special are the layouts that are not made of elements.
type special uint8

const (
	ordinary special = iota
	isoForms         // ordinary, but isoTime reads most texts
	millisOfEpoch
	secondsOfEpoch
	rfc3339
	neverRead // epochs are read in two ways, for the server's words
)

// fieldValue is the value that a field gets if the text has none.
type fieldValue struct {
	field field
	value int64
}

// An element reads and writes one part of a text.
type element struct {
	kind  elementKind
	field field
	sign  sign
	style uint8 // offsets: see offsetStyles; texts: the width

	min, max int
	// following is the number of digits that the elements after this one need,
	// of digits that no sign or literal separates from this one's.
	following int

	point   bool   // a fraction: begins with a dot
	literal string // a literal, or what an offset of zero is written as
	names   []name
	inner   []element
	pad     int
}

type elementKind uint8

const (
	literalText elementKind = iota
	number
	yearOfCentury // two digits: 2000 to 2099
	fractionOf
	nameOf
	offsetFrom
	zoneID
	greenwich // GMT+1, GMT+01:00
	optional
	padded
	ignoreCase
)

// sign tells which signs a number may have.
type sign uint8

const (
	unsigned   sign = iota
	minusOnly       // java.time's NORMAL
	plusBeyond      // EXCEEDS_PAD: a plus if and only if there are more than min digits
)

// roundUp is the layout that fills up what a text does not tell with the end
// of the day rather than its start.
func (l *layout) roundUp() *layout {
	up := *l
	up.strict, up.lenient, up.utc = false, false, false
	if up.kind == isoForms || up.kind == rfc3339 {
		up.kind = ordinary // those fill up with the start
	}
	if l.asDays {
		up.defaults = append(up.defaults, fieldValue{dayOfYear, 1})
	} else {
		up.defaults = append(up.defaults, fieldValue{month, 1}, fieldValue{day, 1})
	}
	up.defaults = append(up.defaults, fieldValue{hour, 23}, fieldValue{minute, 59}, fieldValue{second, 59}, fieldValue{nano, 999_999_999})
	return &up
}

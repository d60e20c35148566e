package date

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Format reads dates in one or more ways and writes them in the first. It is
// immutable and may be used from many goroutines.
type Format struct {
	spec    string
	parsers []*layout
	roundUp []*layout
	printer *layout
}

// ParseFormat reads the format of a mapping or a query: names and java.time
// patterns, parted by "||". Errors are those of the server:
// illegal_argument_exception.
func ParseFormat(spec string) (*Format, error) {
	f, err := parseFormat(spec)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func parseFormat(spec string) (*Format, *exception.Error) {
	if spec == "" {
		return nil, refusal("No date pattern provided")
	}
	f := &Format{spec: spec}
	text := strings.TrimPrefix(spec, "8") // a prefix of the past
	patterns := strings.Split(text, "||")
	switch {
	case text == "":
		return nil, exception.New("index_out_of_bounds_exception", "Index 0 out of bounds for length 0")
	case slices.Contains(patterns, ""):
		return nil, refusal("Cannot have empty element in multi date format pattern: %s", text)
	}
	for _, pattern := range patterns {
		pattern = strings.Trim(pattern, blanks)
		if pattern == "" {
			return nil, refusal("No date pattern provided")
		}
		parsers, printer, err := namedOrPattern(pattern)
		if err != nil {
			return nil, err
		}
		for _, l := range parsers {
			f.parsers = append(f.parsers, l)
			f.roundUp = append(f.roundUp, l.roundUp())
		}
		if f.printer == nil {
			f.printer = printer
		}
	}
	return f, nil
}

// MustFormat is ParseFormat for formats that are known to be right.
func MustFormat(spec string) *Format {
	f, err := ParseFormat(spec)
	if err != nil {
		panic(err)
	}
	return f
}

// blanks are the characters that Java trims.
const blanks = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

func namedOrPattern(pattern string) (parsers []*layout, printer *layout, err *exception.Error) {
	if parsers, printer, ok := named(pattern); ok {
		return parsers, printer, nil
	}
	l, err := compile(pattern, false)
	if err != nil {
		return nil, nil, refusal("Invalid format: [%s]: %s", pattern, err.Reason).CausedBy(err)
	}
	return []*layout{l}, l, nil
}

// PrintedAs reads dates as f does, and prints them as another format.
func (f *Format) PrintedAs(other *Format) *Format {
	changed := *f
	changed.printer = other.printer
	return &changed
}

// String is the text that the format was made of.
func (f *Format) String() string { return f.spec }

// Parse reads a date: milliseconds since 1970 and the nanoseconds of that
// millisecond, 0 to 999,999. What the text does not tell is the first of its
// kind: 1970, January, midnight, UTC. Errors are those of the server:
// illegal_argument_exception for a text that the format does not read,
// date_time_exception or arithmetic_exception for some that it reads.
func (f *Format) Parse(text string) (millis int64, nanos int, err error) {
	t, e := f.parse(text, f.parsers, zone{})
	if e != nil {
		return 0, 0, e
	}
	return t.millis()
}

// ParseMillis is Parse as fields of type date keep it: dates that milliseconds of
// 64 bits cannot hold are the first or last that they can.
func (f *Format) ParseMillis(text string) (int64, error) {
	t, e := f.parse(text, f.parsers, zone{})
	if e != nil {
		return 0, e
	}
	millis, _, err := t.millis()
	switch {
	case err == nil:
		return millis, nil
	case t.seconds < 0:
		return -long - 1, nil
	}
	return long, nil
}

// ParseNanos is Parse as fields of type date_nanos keep it: nanoseconds since
// 1970. Dates before and after 2262-04-11 are an illegal_argument_exception.
func (f *Format) ParseNanos(text string) (int64, error) {
	t, e := f.parse(text, f.parsers, zone{})
	switch last := (instant{long / 1_000_000_000, long % 1_000_000_000}); {
	case e != nil:
		return 0, e
	case t.seconds < 0:
		return 0, refusal("date[%s] is before the epoch in 1970 and cannot be stored in nanosecond resolution", t.text())
	case t.seconds > last.seconds || t.seconds == last.seconds && t.nanos > last.nanos:
		return 0, refusal("date[%s] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution", t.text())
	}
	return t.seconds*1e9 + t.nanos, nil
}

// text is the instant as Java prints it: a fraction in groups of three digits.
func (t instant) text() string {
	digits := 9
	for digits > 0 && t.nanos%pow10(12-digits) == 0 {
		digits -= 3
	}
	w := writing{nano: t.nanos}
	w.day, w.second = divide(t.seconds, secondsOfDay)
	out := append([]byte(dayText(w.day)), 'T')
	for i, unit := range [...]field{hour, minute, second} {
		if i > 0 {
			out = append(out, ':')
		}
		out = appendPadded(out, w.value(unit), 2)
	}
	if digits > 0 {
		out = appendFraction(out, t.nanos/pow10(9-digits), digits, digits)
	}
	return string(append(out, 'Z'))
}

const long = 1<<63 - 1

// millis refuses what does not fit 64 bits.
func (t instant) millis() (millis int64, nanos int, err error) {
	low, rest := t.nanos/1e6, t.nanos%1e6
	switch first, last := long/1000, int64(long%1000); {
	case t.seconds > int64(first) || t.seconds == int64(first) && low > last:
	case t.seconds < -int64(first)-1 || t.seconds == -int64(first)-1 && low < 1000-last-1:
	default:
		return t.seconds*1000 + low, int(rest), nil
	}
	return 0, 0, exception.New(exception.Arithmetic, "long overflow")
}

// parse tries the parsers in their order.
func (f *Format) parse(text string, parsers []*layout, given zone) (instant, *exception.Error) {
	if text == "" {
		return instant{}, refusal("cannot parse empty date")
	}
	for _, l := range parsers {
		t, sure := l.fast(text, given)
		if sure == yes {
			return t, nil
		}
		if sure == no && l.kind == secondsOfEpoch {
			if err := beyond(text); err != nil {
				return instant{}, err
			}
		}
		if sure == no && len(parsers) > 1 {
			continue
		}
		t, fault := l.read(text, given)
		switch {
		case fault == nil:
			return t, nil
		case fault.late != nil:
			return instant{}, fault.late
		case len(parsers) > 1:
		default:
			return instant{}, f.failure(text, fault.tell(text))
		}
	}
	return instant{}, f.failure(text, exception.New(exception.DateTimeParse, "Failed to parse with all enclosed parsers"))
}

func (f *Format) failure(text string, cause *exception.Error) *exception.Error {
	return refusal("failed to parse date field [%s] with format [%s]", strings.Clone(text), f.spec).CausedBy(cause)
}

// fast reads what needs no fields.
func (l *layout) fast(text string, given zone) (t instant, sure certainty) {
	var ok bool
	switch l.kind {
	case isoForms:
		if given == (zone{}) {
			t.seconds, t.nanos, sure = isoTime(text)
		}
		return t, sure
	case millisOfEpoch:
		t.seconds, t.nanos, ok = epochMillis(text, len(l.defaults) > 0)
	case secondsOfEpoch:
		t.seconds, t.nanos, ok = epochSecond(text, len(l.defaults) > 0)
	case neverRead:
		return t, no
	default:
		return t, unsure
	}
	if !ok || t.seconds > lastSecond || t.seconds < -lastSecond {
		return t, no
	}
	t.seconds -= given.eastOf(t.seconds)
	return t, yes
}

// A mishap is why a layout does not read a text.
type mishap struct {
	at     int              // the place, or -1
	trails bool             // the text goes on there
	cause  *exception.Error // of fields that make no date
	late   *exception.Error // of a date that does not exist after all: told alone
	words  *exception.Error // told as they are
}

// tell is the mishap in the words of java.time.
func (m *mishap) tell(text string) *exception.Error {
	quote := strings.Clone(abbreviate(text)) // the caller's text may change
	switch {
	case m.words != nil:
		return m.words
	case m.cause != nil:
		return exception.New(exception.DateTimeParse, "Text '%s' could not be parsed: %s", quote, m.cause.Reason).CausedBy(m.cause)
	case m.trails:
		return exception.New(exception.DateTimeParse, "Text '%s' could not be parsed, unparsed text found at index %d", quote, m.at)
	}
	return exception.New(exception.DateTimeParse, "Text '%s' could not be parsed at index %d", quote, m.at)
}

// abbreviate keeps 64 characters.
func abbreviate(text string) string {
	for i, count := 0, 0; i < len(text); count++ {
		if count == 64 {
			return text[:i] + "..."
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return text
}

// read takes a text apart.
func (l *layout) read(text string, given zone) (instant, *mishap) {
	if l.kind == rfc3339 {
		return rfc3339Time(text)
	}
	s := newScan(text)
	end := s.run(l.elements, 0)
	switch {
	case s.overflow:
		return instant{}, &mishap{cause: exception.New(exception.DateTime, "Value out of range: Hour[0-23], Minute[0-59], Second[0-59]")}
	case end < 0:
		at := failed(end) // of something padded perhaps beyond the text
		within := min(at, len(text))
		return instant{}, &mishap{at: utf8.RuneCountInString(text[:within]) + at - within}
	case end < len(text):
		return instant{}, &mishap{at: utf8.RuneCountInString(text[:end]), trails: true}
	}
	for _, d := range l.defaults {
		if !s.has(d.field) {
			s.put(d.field, d.value)
		}
	}
	r := resolved{fieldValues: s.fieldValues, strict: l.strict, lenient: l.lenient, zone: s.zone, hasZone: s.hasZone}
	if l.utc && !r.hasZone {
		r.hasZone = true
	}
	if err := r.resolve(); err != nil {
		return instant{}, &mishap{cause: err}
	}
	t, err := r.instant(given)
	if err != nil {
		return instant{}, &mishap{late: err}
	}
	return t, nil
}

// Format writes milliseconds since 1970 in the first of the format's ways, in
// UTC.
func (f *Format) Format(millis int64) string { return f.FormatNanos(millis, 0) }

// FormatNanos is Format for times finer than a millisecond: nanos are those of
// the millisecond.
func (f *Format) FormatNanos(millis int64, nanos int) string {
	return string(f.AppendFormat(make([]byte, 0, 32), millis, nanos, nil))
}

// AppendFormat is FormatNanos at the end of out, in a zone; nil is UTC.
func (f *Format) AppendFormat(out []byte, millis int64, nanos int, location *time.Location) []byte {
	seconds, rest := divide(millis, 1000)
	return f.printer.append(out, instant{seconds, rest*1e6 + int64(nanos)}, zone{location: location})
}

package date

import "strconv"

// append writes an instant in a zone.
func (l *layout) append(out []byte, t instant, z zone) []byte {
	switch l.kind {
	case millisOfEpoch:
		return appendEpoch(out, t.seconds, t.nanos, 1000, 6)
	case secondsOfEpoch:
		return appendEpoch(out, t.seconds, t.nanos, 1, 9)
	}
	east := z.eastAt(t.seconds)
	w := writing{}
	w.day, w.second = divide(t.seconds+east, secondsOfDay)
	w.nano, w.east = t.nanos, east
	if z.location != nil {
		w.zone = z.location.String()
	}
	return w.elements(out, l.elements)
}

// writing is a date that is being written.
type writing struct {
	day, second, nano, east int64
	zone                    string
}

func (w *writing) elements(out []byte, elements []element) []byte {
	for i := range elements {
		out = w.element(out, &elements[i])
	}
	return out
}

func (w *writing) element(out []byte, e *element) []byte {
	switch e.kind {
	case literalText:
		return append(out, e.literal...)
	case number:
		return appendNumber(out, w.value(e.field), e)
	case yearOfCentury:
		rest := w.value(e.field) % 100
		return appendPadded(out, max(rest, -rest), 2)
	case fractionOf:
		return w.fraction(out, e)
	case nameOf:
		for _, n := range e.names {
			if n.value == w.value(e.field) {
				return append(out, n.text...)
			}
		}
	case offsetFrom:
		return w.offset(out, e)
	case zoneID:
		return w.zoneID(out)
	case greenwich:
		return w.greenwich(out, e)
	case optional:
		return w.elements(out, e.inner)
	case padded:
		text := w.elements(nil, e.inner)
		for range e.pad - len(text) {
			out = append(out, ' ')
		}
		return append(out, text...)
	}
	return out
}

// appendNumber writes at least min digits; more of them after a plus, where
// the element asks for it.
func appendNumber(out []byte, value int64, e *element) []byte {
	if e.sign == plusBeyond && value >= pow10(min(e.min, 18)) {
		out = append(out, '+')
	}
	return appendPadded(out, value, e.min)
}

// fraction writes the digits that are not zero, at least min and at most max.
func (w *writing) fraction(out []byte, e *element) []byte {
	value := w.nano / pow10(9-e.max)
	if e.point {
		return appendFraction(out, value, e.max, e.min)
	}
	start := len(out)
	out = appendFraction(out, value, e.max, e.min)
	return append(out[:start], out[start+1:]...)
}

// value is a field of the date or of the time.
func (w *writing) value(f field) int64 {
	if traits[f].timeOfDay {
		return w.timeValue(f)
	}
	y, m, d := civil(w.day)
	switch f {
	case year:
		return y
	case yearOfEra:
		return yearOfEraOf(y)
	case era:
		return eraOf(y)
	case month:
		return m
	case day:
		return d
	case dayOfYear:
		return w.day - epochDay(y, 1, 1) + 1
	case weekday, localWeekday:
		return weekdayOf(w.day)
	case alignedWeekday:
		return (d-1)%7 + 1
	case quarter:
		return (m-1)/3 + 1
	case julianDay:
		return w.day + 40587
	case weekOfMonth:
		return weekInMonth(w.day)
	}
	wy, ww := weekOf(w.day)
	if f == weekYear || f == isoWeekYear {
		return wy
	}
	return ww
}

func (w *writing) timeValue(f field) int64 {
	hours := w.second / 3600
	switch f {
	case hour:
		return hours
	case clockHour:
		return (hours+23)%24 + 1
	case hourOfHalf:
		return hours % 12
	case clockHourOfHalf:
		return (hours+11)%12 + 1
	case half:
		return hours / 12
	case minute:
		return w.second / 60 % 60
	case second:
		return w.second % 60
	case nano:
		return w.nano
	case milliOfDay:
		return w.second*1000 + w.nano/1e6
	}
	return w.second*1e9 + w.nano // nanoOfDay
}

func (w *writing) offset(out []byte, e *element) []byte {
	if w.east == 0 {
		return append(out, e.literal...)
	}
	sign, east := byte('+'), w.east
	if east < 0 {
		sign, east = '-', -east
	}
	out = appendPadded(append(out, sign), east/3600, 2)
	colons := e.style == 3 || e.style == 5
	for i, part := range [...]int64{east / 60 % 60, east % 60} {
		if e.style == 1 && (i == 1 || part == 0) || i == 1 && (e.style < 4 || part == 0) {
			break
		}
		if colons {
			out = append(out, ':')
		}
		out = appendPadded(out, part, 2)
	}
	return out
}

func (w *writing) zoneID(out []byte) []byte {
	if w.zone != "" && w.zone != "UTC" {
		return append(out, w.zone...)
	}
	return w.offset(out, &colonOffset)
}

func (w *writing) greenwich(out []byte, e *element) []byte {
	out = append(out, "GMT"...)
	if w.east == 0 {
		return out
	}
	sign, east := byte('+'), w.east
	if east < 0 {
		sign, east = '-', -east
	}
	out = append(out, sign)
	if e.style == 4 {
		out = appendPadded(out, east/3600, 2)
	} else {
		out = strconv.AppendInt(out, east/3600, 10)
	}
	if e.style == 4 || east%3600 != 0 {
		out = appendPadded(append(out, ':'), east/60%60, 2)
	}
	if east%60 != 0 {
		out = appendPadded(append(out, ':'), east%60, 2)
	}
	return out
}

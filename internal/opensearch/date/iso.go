package date

// certainty is what a fast path says of a text.
type certainty int8

const (
	unsure certainty = iota // ask the layout
	yes
	no
)

// isoTime reads the forms of strict_date_optional_time that documents have:
// uuuu-MM-dd, with 'T'HH:mm:ss, .SSS to nine digits, and Z or an offset. All
// other texts, right and wrong, are left to the layout, except plain numbers:
// those are surely no such date, and most often epoch_millis comes next.
//
// It must never answer other than the layout: a test holds them together.
func isoTime(text string) (seconds int64, nanos int64, sure certainty) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' {
		return 0, 0, plainNumber(text)
	}
	y, m, d := twoDigits(text, 0)*100+twoDigits(text, 2), twoDigits(text, 5), twoDigits(text, 8)
	if y < 0 || m < 1 || m > 12 || d < 1 || d > 28 && d > daysOfMonth(y, m) {
		return 0, 0, unsure
	}
	seconds = epochDay(y, m, d) * secondsOfDay
	if len(text) == 10 {
		return seconds, 0, yes
	}
	clock, nanos, zone := isoClock(text)
	if zone < 0 {
		return 0, 0, unsure
	}
	east, ok := isoOffset(text[zone:])
	if !ok {
		return 0, 0, unsure
	}
	return seconds + clock - east, nanos, yes
}

// isoClock reads 'T'HH:mm:ss and a fraction behind a date; zone is where what
// follows begins, or negative.
func isoClock(text string) (seconds, nanos int64, zone int) {
	if len(text) < 19 || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, 0, -1
	}
	h, m, s := twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)
	if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59 {
		return 0, 0, -1
	}
	zone = 19
	if len(text) > 19 && text[19] == '.' {
		zone, nanos = fraction(text, 20)
	}
	return h*3600 + m*60 + s, nanos, zone
}

// twoDigits is far below zero unless there are two digits.
func twoDigits(text string, at int) int64 {
	a, b := text[at]-'0', text[at+1]-'0'
	if a > 9 || b > 9 {
		return -1 << 20
	}
	return int64(a)*10 + int64(b)
}

// fraction reads one to nine digits as nanoseconds; next is negative if there
// are more, or none.
func fraction(text string, at int) (next int, nanos int64) {
	unit := int64(1e9)
	for next = at; next < len(text) && text[next]-'0' <= 9; next++ {
		if unit == 1 {
			return -1, 0
		}
		nanos = nanos*10 + int64(text[next]-'0')
		unit /= 10
	}
	if next == at {
		return -1, 0
	}
	return next, nanos * unit
}

// isoOffset reads nothing, Z, +hh:mm and +hhmm.
func isoOffset(text string) (east int64, ok bool) {
	switch {
	case text == "" || text == "Z":
		return 0, true
	case len(text) == 6 && text[3] == ':', len(text) == 5:
	default:
		return 0, false
	}
	h, m := twoDigits(text, 1), twoDigits(text, len(text)-2)
	if h < 0 || h > 17 || m < 0 || m > 59 {
		return 0, false
	}
	east = h*3600 + m*60
	switch text[0] {
	case '+':
		return east, true
	case '-':
		return -east, true
	}
	return 0, false
}

// plainNumber says no to texts of more than four digits.
func plainNumber(text string) certainty {
	if len(text) < 5 {
		return unsure
	}
	for i := 0; i < len(text); i++ {
		if text[i]-'0' > 9 {
			return unsure
		}
	}
	return no
}

package date

import (
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// A zone is a place's local time: seconds east of Greenwich, or a location.
type zone struct {
	east     int64
	location *time.Location // nil: east
}

const widest = 18 * 3600

var wide = exception.New(exception.DateTime, "Zone offset not in valid range: -18:00 to +18:00")

// offset reads the forms of offsetElement.
func (s *scan) offset(e *element, at int) int {
	if at == s.limit {
		return failed(at)
	}
	if s.match(at, e.literal) {
		return s.keep(offset, 0, at, at+len(e.literal))
	}
	sign := int64(1)
	switch s.text[at] {
	case '+':
	case '-':
		sign = -1
	default:
		return failed(at)
	}
	colons := e.style == 3 || e.style == 5
	parts, next := [3]int64{}, at+1
	for i := range parts {
		needed := i == 0 || i == 1 && e.style > 1
		if i == 2 && e.style < 4 {
			break
		}
		value, end := s.part(next, colons && i > 0)
		switch absent := end < 0 || value > 59; {
		case absent && needed:
			return failed(at)
		case !absent:
			parts[i], next = value, end
			continue
		}
		break
	}
	if parts[0] > 23 {
		s.overflow = true
		return failed(at)
	}
	return s.keep(offset, sign*(parts[0]*3600+parts[1]*60+parts[2]), at, next)
}

// part reads two digits, after a colon if there must be one.
func (s *scan) part(at int, colon bool) (value int64, end int) {
	if colon {
		if at >= s.limit || s.text[at] != ':' {
			return 0, -1
		}
		at++
	}
	if s.digit(at) > 9 || s.digit(at+1) > 9 {
		return 0, -1
	}
	return twoDigits(s.text, at), at + 2
}

// colonOffset is what follows the name of a zone: +hh:mm, and :ss if need be.
var colonOffset = element{kind: offsetFrom, style: 5, literal: "Z"}

// utcNames are the names of UTC among the names of zones.
var utcNames = []string{"Etc/Universal", "Etc/Greenwich", "Etc/Zulu", "Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/GMT0", "Etc/GMT+0",
	"Etc/GMT-0", "Universal", "Greenwich", "Zulu", "UTC", "UCT", "GMT0", "GMT", "UT"}

// zoneID reads an offset, a name of UTC with or without one, or Z.
func (s *scan) zoneID(at int) int {
	if at == s.limit {
		return failed(at)
	}
	if c := s.text[at]; c == '+' || c == '-' {
		return s.zoneOffset(at, at)
	}
	for _, prefix := range [...]string{"UTC", "UT", "GMT0", "GMT"} {
		if s.match(at, prefix) {
			return s.zoneOffset(at, at+len(prefix))
		}
	}
	for _, known := range utcNames {
		if s.match(at, known) {
			return s.keepZone(0, at+len(known))
		}
	}
	if s.match(at, "Z") {
		return s.keepZone(0, at+1)
	}
	return failed(at)
}

// zoneOffset reads the offset after a prefix, which may be empty.
func (s *scan) zoneOffset(start, at int) int {
	if at > start && (at == s.limit || s.text[at] == '0' || s.match(at, "Z")) {
		return s.keepZone(0, at)
	}
	inner := scan{text: s.text, limit: s.limit, scanned: scanned{anyCase: s.anyCase}}
	end := inner.offset(&colonOffset, at)
	s.overflow = inner.overflow
	switch {
	case end < 0 && at == start:
		return failed(start)
	case end < 0:
		return s.keepZone(0, at)
	}
	east := inner.value[offset]
	switch far := east > widest || east < -widest; {
	case far && at == start:
		return failed(start)
	case far:
		return s.keepZone(0, at)
	}
	return s.keepZone(east, end)
}

func (s *scan) keepZone(east int64, end int) int {
	s.zone, s.hasZone = east, true
	return end
}

// greenwich reads GMT, GMT+1, GMT-01:30.
func (s *scan) greenwich(e *element, at int) int {
	if !s.match(at, "GMT") {
		return failed(at)
	}
	start := at
	at += 3
	if at == s.limit || s.text[at] != '+' && s.text[at] != '-' {
		return s.keep(offset, 0, start, at)
	}
	sign := int64(1)
	if s.text[at] == '-' {
		sign = -1
	}
	hours, end := s.part(at+1, false)
	if end < 0 {
		if e.style == 4 || s.digit(at+1) > 9 {
			return failed(start)
		}
		hours, end = int64(s.digit(at+1)), at+2
	}
	minutes, next := s.part(end, true)
	if next < 0 && e.style == 4 {
		return failed(start)
	}
	if next < 0 {
		minutes, next = 0, end
	}
	seconds, last := s.part(next, true)
	if last < 0 {
		seconds, last = 0, next
	}
	return s.keep(offset, sign*(hours*3600+minutes*60+seconds), start, last)
}

// eastOf is the offset of a local time in a zone: in the gap of a change the
// one before it, in an overlap the earlier one.
func (z zone) eastOf(local int64) int64 {
	if z.location == nil {
		return z.east
	}
	before, after := z.eastAt(local-secondsOfDay), z.eastAt(local+secondsOfDay)
	if before == after {
		return before
	}
	if z.eastAt(local-before) == before || z.eastAt(local-after) != after {
		return before
	}
	return after
}

// eastAt is the offset at an instant.
func (z zone) eastAt(seconds int64) int64 {
	if z.location == nil {
		return z.east
	}
	_, east := time.Unix(seconds, 0).In(z.location).Zone()
	return int64(east)
}

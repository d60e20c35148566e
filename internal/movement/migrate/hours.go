package migrate

import (
	"fmt"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Hours are those of each day in which a migration may be at work, from one minute of the day
// to another, which may be of the next day, in a zone: "22:00-06:00 Europe/Berlin",
// "22:00-06:00 +02:00", "22:00-06:00" for UTC. The zero value, and "00:00-24:00", are always.
type Hours struct {
	from, to time.Duration // since midnight; from == to: always
	zone     *time.Location
}

const day = 24 * time.Hour

// ParseHours reads what [Hours.String] gives of hours that are not always, and "00:00-24:00", which
// is; fault.Usage for anything else.
func ParseHours(text string) (Hours, error) {
	bad := func() (Hours, error) {
		err := fault.New(fault.Usage, "%q are no hours", text)
		return Hours{}, fault.WithNext(err, "write FROM-TO and a zone, for example 22:00-06:00 Europe/Berlin, or 22:00-06:00 +02:00")
	}
	span, zone, _ := strings.Cut(strings.TrimSpace(text), " ")
	first, last, ok := strings.Cut(span, "-")
	from, err := minute(first)
	to, err2 := minute(last)
	if !ok || err != nil || err2 != nil || from == to || from == day {
		return bad()
	}
	if from == 0 && to == day {
		return Hours{}, nil
	}
	h := Hours{from: from, to: to % day, zone: time.UTC}
	switch zone = strings.TrimSpace(zone); {
	case zone == "" || zone == "UTC" || zone == "Z":
	case zone[0] == '+' || zone[0] == '-':
		at, err := time.Parse("-07:00", zone)
		if err != nil {
			return bad()
		}
		_, offset := at.Zone()
		h.zone = time.FixedZone(zone, offset)
	case zone == "Local": // each machine would read it as another
		return bad()
	default:
		if h.zone, err = time.LoadLocation(zone); err != nil {
			return bad()
		}
	}
	return h, nil
}

// minute reads HH:MM as the time since midnight.
func minute(text string) (time.Duration, error) {
	if text == "24:00" {
		return day, nil
	}
	at, err := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err
}

func (h Hours) always() bool { return h.from == h.to }

// IsZero tells whether they are always.
func (h Hours) IsZero() bool { return h.always() }

// String is what [ParseHours] reads; "" for always.
func (h Hours) String() string {
	if h.always() {
		return ""
	}
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60) }
	return clock(h.from) + "-" + clock(h.to) + " " + h.zone.String()
}

// MarshalText is String.
func (h Hours) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is ParseHours; "" is always.
func (h *Hours) UnmarshalText(text []byte) (err error) {
	*h = Hours{}
	if len(text) > 0 {
		*h, err = ParseHours(string(text))
	}
	return err
}

// length is how long the hours of a day last.
func (h Hours) length() time.Duration {
	if h.always() {
		return day
	}
	return (h.to - h.from + day) % day
}

// window is the span of hours that is open at t, or else the next one.
func (h Hours) window(t time.Time) (opens, closes time.Time) {
	local := t.In(h.zone)
	for back := -1; ; back++ {
		at := func(since time.Duration, days int) time.Time {
			return time.Date(local.Year(), local.Month(), local.Day()+days, int(since.Hours()), int(since.Minutes())%60, 0, 0, h.zone)
		}
		opens, closes = at(h.from, back), at(h.to, back)
		if h.to < h.from {
			closes = at(h.to, back+1)
		}
		if t.Before(closes) {
			return opens, closes
		}
	}
}

// Open tells whether t is within the hours; if not, until is when they begin.
func (h Hours) Open(t time.Time) (open bool, until time.Time) {
	if h.always() {
		return true, time.Time{}
	}
	opens, _ := h.window(t)
	if opens.After(t) {
		return false, opens
	}
	return true, time.Time{}
}

// Takes is how long, from t on, it takes until so much time within the hours has passed.
func (h Hours) Takes(t time.Time, work time.Duration) time.Duration {
	if h.always() || work <= 0 {
		return work
	}
	begin := t
	if days := work/h.length() - 1; days > 0 { // but for the first and the last
		if days > forever/day {
			return forever
		}
		t, work = t.Add(days*day), work-days*h.length()
	}
	for {
		opens, closes := h.window(t)
		if opens.Before(t) {
			opens = t
		}
		if !opens.Add(work).After(closes) {
			return opens.Add(work).Sub(begin)
		}
		t, work = closes, work-closes.Sub(opens)
	}
}

// Within is how much of the time from one instant to another lies within the hours.
func (h Hours) Within(from, to time.Time) (sum time.Duration) {
	if !to.After(from) {
		return 0
	}
	if h.always() {
		return to.Sub(from)
	}
	if days := to.Sub(from)/day - 1; days > 0 {
		sum, from = days*h.length(), from.Add(days*day)
	}
	for from.Before(to) {
		opens, closes := h.window(from)
		if opens.Before(from) {
			opens = from
		}
		if closes.After(to) {
			closes = to
		}
		if opens.Before(closes) {
			sum += closes.Sub(opens)
		}
		from = closes
		if opens.After(to) {
			break
		}
	}
	return sum
}

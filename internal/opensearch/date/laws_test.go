package date

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// nearISO draws texts that are dates or nearly so.
func nearISO(t *rapid.T) string {
	text := fmt.Sprintf("%04d-%02d-%02d", rapid.IntRange(0, 9999).Draw(t, "y"), rapid.IntRange(0, 13).Draw(t, "m"), rapid.IntRange(0, 32).Draw(t, "d"))
	if rapid.Bool().Draw(t, "time?") {
		text += fmt.Sprintf("T%02d:%02d:%02d", rapid.IntRange(0, 25).Draw(t, "h"), rapid.IntRange(0, 61).Draw(t, "mi"), rapid.IntRange(0, 61).Draw(t, "s"))
		text += rapid.SampledFrom([]string{"", "", ".1", ".123", ".123456789", ".1234567890", ".", ",5"}).Draw(t, "fraction")
		text += rapid.SampledFrom([]string{"", "Z", "z", "+01:00", "-0530", "+18:00", "+18:01", "+24:00", "+01", "UTC", "+01:60", "Z "}).Draw(t, "zone")
	}
	if cut := rapid.IntRange(0, 40).Draw(t, "cut"); cut < len(text) {
		text = text[:cut]
	}
	if at := rapid.IntRange(0, 60).Draw(t, "at"); at < len(text) {
		text = text[:at] + rapid.StringMatching("[0-9:.TZ+-]").Draw(t, "c") + text[at+1:]
	}
	return text
}

// TestFastAsTheLayout is invariant 2.
func TestFastAsTheLayout(t *testing.T) {
	layout := MustFormat("strict_date_optional_time").parsers[0]
	rapid.Check(t, func(t *rapid.T) {
		text := nearISO(t)
		seconds, nanos, sure := isoTime(text)
		slow, fault := layout.read(text, zone{})
		switch sure {
		case yes:
			if fault != nil || slow != (instant{seconds, nanos}) {
				t.Fatalf("%q is %d.%09d, and by the layout %v %v", text, seconds, nanos, slow, fault)
			}
		case no:
			if fault == nil {
				t.Fatalf("%q is no date, and by the layout %v", text, slow)
			}
		}
	})
}

// TestWrittenIsRead: what a format writes of a whole millisecond, it reads.
func TestWrittenIsRead(t *testing.T) {
	whole := []string{"strict_date_optional_time", "date_optional_time", "strict_date_time", "date_time", "epoch_millis", "basic_date_time",
		"strict_ordinal_date_time", "strict_week_date_time", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "uuuu-DDD HH:mm:ss,SSS", "EEE, d MMM uuuu hh:mm:ss.SSS a", "g A"}
	formats := make([]*Format, len(whole))
	for i, spec := range whole {
		formats[i] = MustFormat(spec)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		millis := rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, "millis")
		text := f.Format(millis)
		if back, nanos, err := f.Parse(text); err != nil || back != millis || nanos != 0 {
			t.Fatalf("%s of %d is %q, which is %d %d %v", f, millis, text, back, nanos, err)
		}
	})
}

// TestCalendarAsGo holds the calendar to package time.
func TestCalendarAsGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(-400*366*20, 400*366*30).Draw(t, "day")
		at := time.Unix(d*secondsOfDay, 0).UTC()
		y, m, n := civil(d)
		if int(y) != at.Year() || int(m) != int(at.Month()) || int(n) != at.Day() || epochDay(y, m, n) != d {
			t.Fatalf("day %d is %d-%d-%d, and to Go %s", d, y, m, n, at)
		}
		wy, ww := weekOf(d)
		if gy, gw := at.ISOWeek(); int(wy) != gy || int(ww) != gw || mondayOf(wy, ww)+weekdayOf(d)-1 != d {
			t.Fatalf("day %d is in week %d of %d, and to Go %d of %d", d, ww, wy, gw, gy)
		}
	})
}

// TestMathRounds: rounding down and up enclose the time, and do nothing twice.
func TestMathRounds(t *testing.T) {
	f := MustFormat("epoch_millis")
	zones := []*time.Location{nil, time.FixedZone("", 5*3600+1800), time.FixedZone("", -9*3600)}
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(-9e12, 9e12).Draw(t, "now")
		unit := rapid.SampledFrom(strings.Split("yMwdhms", "")).Draw(t, "unit")
		z := rapid.SampledFrom(zones).Draw(t, "zone")
		low, _, err := f.ParseMath("now/"+unit, now, false, z)
		high, _, err2 := f.ParseMath("now/"+unit, now, true, z)
		again, _, err3 := f.ParseMath("now/"+unit, high, false, z)
		if err != nil || err2 != nil || err3 != nil || low > now || high < now || again != low {
			t.Fatalf("%d rounds to %d and %d, and that to %d (%v %v %v)", now, low, high, again, err, err2, err3)
		}
	})
}

// FuzzParse: no format and no text panics, and two readings agree.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{{"strict_date_optional_time||epoch_millis", "2020-02-29T12:34:56.789Z"}, {"yyyyMMddHHmmssSSS", "20200229123456789"},
		{"[uuuu-MM-dd][MM/dd/uuuu]", "02/29/2020"}, {"YYYY-'W'ww-e", "2020-W09-6"}, {"EEE, dd MMM uuuu HH:mm:ss Z", "Sat, 29 Feb 2020 12:34:56 +0000"},
		{"pppd G hh a VV", "  1 AD 10 PM UTC+1"}, {"rfc3339_lenient", "2020-02-29T12:34:56,789z"}, {"epoch_second", "-1.5"}, {"uuuu||||q", ""}, {"O B g n A", "GMT+1"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, spec, text string) {
		format, err := ParseFormat(spec)
		if err != nil || len(text) > 1<<12 {
			return
		}
		millis, nanos, err := format.Parse(text)
		if again, _, _ := format.Parse(text); again != millis || nanos < 0 || nanos > 999_999 {
			t.Errorf("%q by %q is %d and %d, with %d", text, spec, millis, again, nanos)
		}
		if err == nil {
			_ = format.FormatNanos(millis, nanos)
		}
		for _, up := range []bool{false, true} {
			_, _, _ = format.ParseMath(text, 1582979696789, up, time.FixedZone("", 3600))
		}
		_, _ = ResolveName(text, 1582979696789)
		_, _ = ParseZone(text, nil)
	})
}

package gateway

import (
	"strconv"
	"strings"
	"time"
)

// scale is a unit and what it is called.
type scale struct {
	unit int64
	name string
}

// The units of sizes and times, the largest first.
var (
	byteScales = []scale{{1 << 50, "pb"}, {1 << 40, "tb"}, {1 << 30, "gb"}, {1 << 20, "mb"}, {1 << 10, "kb"}, {1, "b"}}
	timeScales = []scale{{24 * int64(time.Hour), "d"}, {int64(time.Hour), "h"}, {int64(time.Minute), "m"},
		{int64(time.Second), "s"}, {int64(time.Millisecond), "ms"}, {int64(time.Microsecond), "micros"}, {1, "nanos"}}
)

// inWords is an amount in the largest unit that it reaches, with one decimal that
// is cut and not rounded, and left out when it is 0.
func inWords(amount int64, scales []scale, zero string) string {
	if amount == 0 {
		return zero
	}
	for _, s := range scales {
		if amount < s.unit && s.unit > 1 {
			continue
		}
		text := strconv.FormatInt(amount/s.unit, 10)
		if tenth := amount % s.unit * 10 / s.unit; tenth > 0 {
			text += "." + strconv.FormatInt(tenth, 10)
		}
		return text + s.name
	}
	return strconv.FormatInt(amount, 10) + scales[len(scales)-1].name
}

func bytesInWords(n int64) string        { return inWords(n, byteScales, "0b") }
func timeInWords(d time.Duration) string { return inWords(int64(d), timeScales, "0s") }

// inUnit is an amount in a unit that a client names, without the unit's name; ok
// is false for a unit that is not known.
func inUnit(amount int64, unit string, scales []scale) (text string, ok bool) {
	for _, s := range scales {
		if unit == s.name || s.name != "b" && len(s.name) == 2 && strings.HasSuffix(s.name, "b") && unit == s.name[:1] {
			return strconv.FormatInt(amount/s.unit, 10), true
		}
	}
	return "", false
}

// sizeJSON are the members of a size: in words for people, and in bytes.
func sizeJSON(name, suffix string, n int64, human bool) object {
	if !human {
		return object{{name + suffix, n}}
	}
	return object{{name, bytesInWords(n)}, {name + suffix, n}}
}

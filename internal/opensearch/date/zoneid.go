package date

import (
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// ParseZone reads the id of a zone as requests have it: Z, an offset (+2, +02,
// +0200, +02:00, with seconds), UTC, GMT or UT with or without an offset, and
// the names of regions that regions knows (nil: none but those of UTC). Errors
// are those of the server: date_time_exception and zone_rules_exception.
func ParseZone(id string, regions Regions) (*time.Location, error) {
	location, err := zoneNamed(id, regions)
	if err != nil {
		return nil, err
	}
	return location, nil
}

func zoneNamed(id string, regions Regions) (*time.Location, *exception.Error) {
	if id == "Z" {
		return time.UTC, nil
	}
	if len(id) < 2 || id[0] == '+' || id[0] == '-' {
		return zoneOffset(id)
	}
	for _, prefix := range [...]string{"UTC", "GMT", "UT"} {
		rest, ok := strings.CutPrefix(id, prefix)
		switch {
		case !ok:
		case rest == "":
			return time.UTC, nil
		case rest[0] == '+' || rest[0] == '-':
			location, err := zoneOffset(rest)
			if err != nil {
				err = exception.New(exception.DateTime, "Invalid ID for offset-based ZoneId: %s", id).CausedBy(err)
			}
			return location, err
		}
	}
	return region(id, regions)
}

// region finds the zone of a place.
func region(id string, regions Regions) (*time.Location, *exception.Error) {
	for i := range len(id) {
		if c := id[i]; !isLetter(c) && (i == 0 || c-'0' > 9 && strings.IndexByte("~/._+-", c) < 0) {
			return nil, exception.New(exception.DateTime, "Invalid ID for region-based ZoneId, invalid format: %s", id)
		}
	}
	for _, name := range utcNames {
		if id == name {
			return time.UTC, nil
		}
	}
	if regions != nil && id != "Local" {
		if location, err := regions(id); err == nil {
			return location, nil
		}
	}
	return nil, exception.New(zoneRules, "Unknown time-zone ID: %s", id)
}

const zoneRules exception.Type = "zone_rules_exception"

// zoneOffset reads ±h, ±hh, ±hhmm, ±hh:mm, ±hhmmss and ±hh:mm:ss.
func zoneOffset(id string) (*time.Location, *exception.Error) {
	digits, colons := id, false
	switch len(id) {
	case 2:
		digits = id[:1] + "0" + id[1:]
	case 3, 5, 7:
	case 6, 9:
		colons = true
	default:
		return nil, exception.New(exception.DateTime, "Invalid ID for ZoneOffset, invalid format: %s", id)
	}
	var parts [3]int64
	for i, at := 0, 1; at < len(digits); i, at = i+1, at+2 {
		if colons && i > 0 {
			if digits[at] != ':' {
				return nil, exception.New(exception.DateTime, "Invalid ID for ZoneOffset, colon not found when expected: %s", id)
			}
			at++
		}
		if parts[i] = twoDigits(digits, at); parts[i] < 0 {
			return nil, exception.New(exception.DateTime, "Invalid ID for ZoneOffset, non numeric characters found: %s", id)
		}
	}
	if id[0] != '+' && id[0] != '-' {
		return nil, exception.New(exception.DateTime, "Invalid ID for ZoneOffset, plus/minus not found when expected: %s", id)
	}
	for i, part := range [...]struct {
		name string
		high int64
	}{{"hours", 18}, {"minutes", 59}, {"seconds", 59}} {
		if parts[i] > part.high {
			return nil, exception.New(exception.DateTime, "Zone offset %s not in valid range: value %d is not in the range -%d to %d",
				part.name, signed(id[0], parts[i]), part.high, part.high)
		}
	}
	east := parts[0]*3600 + parts[1]*60 + parts[2]
	if east > widest {
		return nil, wide
	}
	if east == 0 {
		return time.UTC, nil
	}
	return time.FixedZone(id, int(signed(id[0], east))), nil
}

package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// change says when a setting may be changed.
type change uint8

const (
	dynamic change = iota // at any time
	static                // while the index is closed
	final                 // never after creation
	private               // by the server alone
)

// setting is what is known of one setting.
type setting struct {
	name     string // without "index."
	change   change
	fallback string // its value when it is not set
	check    check
}

// check refuses a value, with the words of the server. The name has "index.".
type check func(name, value string) *exception.Error

func anything(string, string) *exception.Error { return nil }

func boolean(_, value string) *exception.Error {
	if value != "true" && value != "false" {
		return exception.NotBoolean(value)
	}
	return nil
}

func illegal(format string, args ...any) *exception.Error {
	return exception.New(exception.IllegalArgument, format, args...)
}

// integer is a whole number of 32 bits between two bounds.
func integer(least, most int64) check { return whole(32, least, most) }

// long is a whole number of 64 bits between two bounds.
func long(least, most int64) check { return whole(64, least, most) }

func whole(bits int, least, most int64) check {
	return func(name, value string) *exception.Error {
		n, err := strconv.ParseInt(value, 10, bits)
		switch {
		case err != nil:
			return illegal("Failed to parse value [%s] for setting [%s]", value, name).CausedBy(exception.NotNumber(value))
		case n < least:
			return illegal("Failed to parse value [%s] for setting [%s] must be >= %d", value, name, least)
		case n > most:
			return illegal("Failed to parse value [%s] for setting [%s] must be <= %d", value, name, most)
		}
		return nil
	}
}

// float is a number between two bounds.
func float(least, most float64) check {
	return func(name, value string) *exception.Error {
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			return illegal("Failed to parse value [%s] for setting [%s]", value, name).CausedBy(exception.NotNumber(value))
		case n < least:
			return illegal("Failed to parse value [%s] for setting [%s] must be >= %s", value, name, java.Double(least))
		case n > most:
			return illegal("Failed to parse value [%s] for setting [%s] must be <= %s", value, name, java.Double(most))
		}
		return nil
	}
}

// percent is a number from 0 to 100.
func percent(name, value string) *exception.Error {
	if err := float(0, math.MaxFloat64)(name, value); err != nil {
		return err
	}
	if n, _ := strconv.ParseFloat(value, 64); n > 100 {
		return illegal("forceMergeDeletesPctAllowed must be between 0.0 and 100.0 inclusive (got %s)", java.Double(n))
	}
	return nil
}

// ratio is a boolean or a number from 0 to 1.
func ratio(_, value string) *exception.Error {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case value == "true" || value == "false":
		return nil
	case err != nil:
		return illegal("Expected a boolean or a value in the interval [0..1] but was: [%s]", value).CausedBy(exception.NotNumber(value))
	case n < 0 || n > 1:
		return illegal("NoCFSRatio must be in the interval [0..1] but was: [%s]", java.Double(n))
	}
	return nil
}

// booleanOrNumber is how much of a source is logged: all, nothing, or so many characters.
func booleanOrNumber(name, value string) *exception.Error {
	if _, err := strconv.ParseInt(value, 10, 32); err == nil {
		return nil
	}
	return boolean(name, value)
}

// span is a time value, at least as long as least; "" bounds nothing.
func span(least string) check {
	return func(name, value string) *exception.Error {
		d, err := ParseSpan(name, value)
		if err != nil {
			return exception.From(err)
		}
		if least == "" {
			return nil
		}
		if bound, _ := ParseSpan("", least); d < bound {
			return illegal("failed to parse value [%s] for setting [%s], must be >= [%s]", value, name, least)
		}
		return nil
	}
}

// size is a number of bytes, at least least; "" bounds nothing.
func size(least string) check {
	return func(name, value string) *exception.Error {
		n, err := ParseSize(name, value)
		if err != nil {
			cause := exception.From(err)
			return illegal("%s", cause.Reason).CausedBy(cause)
		}
		if least == "" {
			return nil
		}
		if bound, _ := ParseSize("", least); n < bound {
			return illegal("failed to parse value [%s] for setting [%s], must be >= [%s]", value, name, least)
		}
		return nil
	}
}

// oneOf is one of a few words. The format gets name and value.
func oneOf(format string, words ...string) check {
	return func(name, value string) *exception.Error {
		for _, word := range words {
			if value == word {
				return nil
			}
		}
		if !strings.Contains(format, "%") {
			return illegal("%s", format)
		}
		return illegal("%s", formatted(format, name, value))
	}
}

// formatted is fmt.Sprintf without a complaint about arguments that are not printed.
func formatted(format string, args ...any) string {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "%!(EXTRA")
	return text
}

// anyCase is one of a few words, written in any case. The format gets the value in
// capitals.
func anyCase(format string, words ...string) check {
	return func(_, value string) *exception.Error {
		capitals := strings.ToUpper(value)
		for _, word := range words {
			if capitals == word {
				return nil
			}
		}
		return illegal(format, capitals)
	}
}

// expansion is "false" or a range of replicas, such as 0-1 and 0-all.
func expansion(name, value string) *exception.Error {
	low, high, dashed := strings.Cut(value, "-")
	if value == "false" {
		return nil
	}
	if !dashed {
		return illegal("failed to parse [%s] from value: [%s] at index -1", name, value)
	}
	least, err := strconv.ParseInt(low, 10, 32)
	if err != nil {
		return illegal("failed to parse [%s] from value: [%s] at index %d", name, value, len(low)).CausedBy(exception.NotNumber(low))
	}
	most, err := strconv.ParseInt(high, 10, 32)
	switch {
	case high == "all":
		return nil
	case err != nil:
		return illegal("failed to parse [%s] from value: [%s] at index %d", name, value, len(low)).CausedBy(exception.NotNumber(high))
	case least > most:
		return illegal("[%s] minReplicas must be =< maxReplicas but wasn't %d > %d", name, least, most)
	}
	return nil
}

// activeShards is a number of shard copies that must be there, or "all".
func activeShards(_, value string) *exception.Error {
	if value == "all" {
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case err != nil:
		return illegal("cannot parse ActiveShardCount[%s]", value).CausedBy(exception.NotNumber(value))
	case n < 0:
		return illegal("shard count cannot be a negative value")
	}
	return nil
}

// spans are the units of time values, longer suffixes first.
var spans = []struct {
	suffix string
	unit   time.Duration
}{
	{"nanos", time.Nanosecond}, {"micros", time.Microsecond}, {"ms", time.Millisecond},
	{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour},
}

// ParseSpan reads a time value such as 30s or 5m; -1 and 0 need no unit, and -1
// of any unit is given back as a negative span. What is too long for the type
// is given back as its longest. Errors name the setting.
func ParseSpan(name, value string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(value))
	for _, s := range spans {
		number, ok := strings.CutSuffix(text, s.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil {
			if _, err := strconv.ParseFloat(number, 64); err == nil {
				return 0, illegal("failed to parse [%s], fractional time values are not supported", value).CausedBy(exception.NotNumber(number))
			}
			return 0, illegal("failed to parse [%s]", value).CausedBy(exception.NotNumber(number))
		}
		if n < -1 {
			return 0, illegal("failed to parse setting [%s] with value [%s] as a time value: negative durations are not supported", name, value)
		}
		if n > int64(1<<63-1)/int64(s.unit) {
			return 1<<63 - 1, nil
		}
		return time.Duration(n) * s.unit, nil
	}
	switch {
	case text != "" && strings.Trim(text, "0") == "":
		return 0, nil
	case strings.HasPrefix(text, "-") && strings.TrimLeft(text[1:], "0") == "1":
		return -1, nil
	}
	return 0, illegal("failed to parse setting [%s] with value [%s] as a time value: unit is missing or unrecognized", name, value)
}

// sizes are the units of byte sizes, longer suffixes first.
var sizes = []struct {
	suffix string
	unit   int64
}{
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40}, {"pb", 1 << 50},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"p", 1 << 50}, {"b", 1},
}

// ParseSize reads a number of bytes such as 5gb; -1 and 0 need no unit. Errors
// name the setting.
func ParseSize(name, value string) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(value))
	for _, s := range sizes {
		number, ok := strings.CutSuffix(text, s.suffix)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= -1 && n <= int64(1<<63-1)/s.unit {
			return n * s.unit, nil
		}
		if f, err := strconv.ParseFloat(number, 64); err == nil && s.unit > 1 && f >= 0 && f*float64(s.unit) < 1<<62 {
			return int64(f * float64(s.unit)), nil
		}
		return 0, exception.New(exception.OpenSearchParse, "failed to parse setting [%s] with value [%s] as a size in bytes", name, value)
	}
	switch text {
	case "-1":
		return -1, nil
	case "0":
		return 0, nil
	}
	return 0, exception.New(exception.OpenSearchParse, "failed to parse setting [%s] with value [%s] as a size in bytes: unit is missing or unrecognized", name, value)
}

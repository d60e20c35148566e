package catalog

import (
	"math"
	"strconv"
	"time"
)

// MaxBuckets is how many buckets the aggregations of one answer may have where search.max_buckets is not set.
const MaxBuckets = 65535

// SearchRules are the settings of the cluster that bound searches.
type SearchRules struct {
	Buckets   int           // that an aggregation may show
	Scrolls   int           // that may be open
	Points    int           // in time that may be open
	KeepAlive time.Duration // the longest of scrolls
	KeepPoint time.Duration // the longest of points in time
	Timeout   time.Duration // of searches that name none; negative: none
}

// searchSettings are the settings of SearchRules.
var searchSettings = map[string]struct {
	fallback string
	check    check
}{
	"search.max_buckets":             {strconv.Itoa(MaxBuckets), integer(0, math.MaxInt32)},
	"search.max_open_scroll_context": {"500", integer(0, math.MaxInt32)},
	"search.max_open_pit_context":    {"300", integer(0, math.MaxInt32)},
	"search.default_keep_alive":      {"5m", span("1ms")},
	"search.max_keep_alive":          {"24h", span("1ms")},
	"point_in_time.max_keep_alive":   {"24h", span("1ms")},
	"search.default_search_timeout":  {"-1", span("")},
}

// SearchRules are what the settings of the cluster say of searches.
func (c Catalog) SearchRules() SearchRules {
	number := func(name string) int {
		n, _ := strconv.Atoi(c.cluster(name, searchSettings[name].fallback)) // what is stored was checked
		return n
	}
	long := func(name string) time.Duration {
		d, _ := ParseSpan(name, c.cluster(name, searchSettings[name].fallback))
		return d
	}
	return SearchRules{number("search.max_buckets"), number("search.max_open_scroll_context"), number("search.max_open_pit_context"),
		long("search.max_keep_alive"), long("point_in_time.max_keep_alive"), long("search.default_search_timeout")}
}

// checkKeeping refuses a longest time that is shorter than the usual one.
func (c Catalog) checkKeeping() error {
	text := func(name string) string { return c.cluster(name, searchSettings[name].fallback) }
	usual, _ := ParseSpan("", text("search.default_keep_alive"))
	for _, longest := range []struct{ name, of string }{{"search.max_keep_alive", ""}, {"point_in_time.max_keep_alive", " for PIT"}} {
		if most, _ := ParseSpan("", text(longest.name)); usual > most {
			return illegal("Default keep alive setting for request [search.default_keep_alive] should be smaller than max keep alive%s [%s], was (%s > %s)",
				longest.of, longest.name, text("search.default_keep_alive"), text(longest.name))
		}
	}
	return nil
}

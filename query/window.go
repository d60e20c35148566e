package query

import (
	"github.com/reshelve/reshelve/exception"
)

// New is the search of an empty body: the first ten of all documents, counted up
// to ten thousand.
func New() Search { return Search{Size: 10, TrackTotal: 10_000} }

// TrackTotal is the value of Search.TrackTotal for a number of track_total_hits.
func TrackTotal(n int64) (int64, error) {
	switch {
	case n == -1: // the server's own mark for counting all
		return -1, nil
	case n < 0:
		return 0, exception.New(exception.IllegalArgument, "[track_total_hits] parameter must be positive or equals to -1, got %d", n)
	}
	return n, nil
}

// Check refuses a search that cannot be run over any index: what the server finds
// out only at the shards.
func (s Search) Check() *exception.Error {
	switch {
	case s.After != nil && s.From > 0:
		return exception.New(exception.Search, "`from` parameter must be set to 0 when `search_after` is used.")
	case s.After != nil && len(s.Sort) == 0:
		return exception.New(exception.IllegalArgument, "Sort must contain at least one field.")
	case s.After != nil && len(s.After) != len(s.Sort):
		return exception.New(exception.IllegalArgument, "search_after has %d value(s) but sort has %d.", len(s.After), len(s.Sort))
	}
	return nil
}

// TooWide is about a search that asks for more hits than an index gives at a time:
// window, its index.max_result_window. Paged: they are pages of a scroll.
func TooWide(window, asked int, paged bool) *exception.Error {
	if paged {
		return exception.New(exception.IllegalArgument, "Batch size is too large, size must be less than or equal to: [%d] but was [%d]. "+
			"Scroll batch sizes cost as much memory as result windows so they are controlled by the [index.max_result_window] index level setting.", window, asked)
	}
	return exception.New(exception.IllegalArgument, "Result window is too large, from + size must be less than or equal to: [%d] but was [%d]. "+
		"See the scroll api for a more efficient way to request large data sets. "+
		"This limit can be set by changing the [index.max_result_window] index level setting.", window, asked)
}

package query

import (
	"math"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Values of Search.TrackTotal that are no number of hits.
const (
	TrackUsual int64 = -2            // nothing was said about it: 10,000, or all where a total must be exact
	TrackNone  int64 = -1            // and no total is shown; the server's own mark
	TrackAll   int64 = math.MaxInt32 // the server's own mark
)

// New is the search of an empty body: the first ten of all documents.
func New() Search { return Search{Size: 10, TrackTotal: TrackUsual} }

// TrackTotal is the value of Search.TrackTotal for a number of track_total_hits.
func TrackTotal(n int64) (int64, error) {
	if n < TrackNone {
		return 0, exception.New(exception.IllegalArgument, "[track_total_hits] parameter must be positive or equals to -1, got %d", n)
	}
	return n, nil
}

// TrackExactly makes the total of hits one that can be shown as a plain number.
func (s *Search) TrackExactly() error {
	switch s.TrackTotal {
	case TrackUsual:
		s.TrackTotal = TrackAll
	case TrackAll, TrackNone:
	default:
		return exception.New(exception.IllegalArgument, "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got %d", s.TrackTotal)
	}
	return nil
}

// Counted is TrackTotal as package search takes it. A total that is exact up to nought hits
// still says whether there is one.
func (s *Search) Counted() int64 {
	switch s.TrackTotal {
	case TrackUsual:
		return 10_000
	case TrackNone:
		return 0
	case TrackAll:
		return -1
	}
	return max(s.TrackTotal, 1)
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

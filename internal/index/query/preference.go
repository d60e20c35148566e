package query

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// CheckPreference refuses a preference that would find less than all documents, or that is
// none. Others change nothing here: there is one copy.
func CheckPreference(text string) error {
	kind, of, more := strings.Cut(text, ":")
	switch {
	case !strings.HasPrefix(text, "_"):
		return nil
	case more && (kind == "_shards" || kind == "_only_nodes"), text == "_replica":
		return exception.New(exception.IllegalArgument, "[preference] of [%s] is not supported by this version of reshelve", kind)
	case more && kind == "_prefer_nodes" && of != "":
		return nil
	}
	switch text {
	case "_local", "_only_local", "_primary", "_primary_first", "_replica_first", "_prefer_nodes:":
		return nil
	}
	return exception.New(exception.IllegalArgument, "no Preference for [%s]", text)
}

// urlHow looks at the parameters that say how a search is run, not what it finds.
func (s *Search) urlHow(param Param) error {
	for _, name := range []string{"ccs_minimize_roundtrips", "allow_partial_search_results"} {
		if _, err := flagOf(param, name); err != nil {
			return err
		}
	}
	cached, err := flagOf(param, "request_cache")
	if err != nil {
		return err
	}
	s.Cached = cached != nil && *cached
	took, err := flagOf(param, "phase_took")
	switch {
	case err != nil:
		return err
	case took != nil && *took:
		return exception.New(exception.IllegalArgument, "[phase_took] is not supported by this version of reshelve")
	}
	for _, number := range []struct {
		name, told string
		least      int
	}{
		{"batched_reduce_size", "batchedReduceSize must be >= 2", 2},
		{"max_concurrent_shard_requests", "maxConcurrentShardRequests must be >= 1", 1},
		{"pre_filter_shard_size", "preFilterShardSize must be >= 1", 1},
	} {
		n, err := numberOf(param, number.name)
		if err != nil {
			return err
		}
		if n != nil && *n < number.least {
			return exception.New(exception.IllegalArgument, "%s", number.told)
		}
	}
	if text, set := param("cancel_after_time_interval"); set {
		_, err = catalog.ParseSpan("cancel_after_time_interval", text)
	}
	return err
}

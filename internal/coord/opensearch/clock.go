package opensearch

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// resolution is how exact the server tells its time.
const resolution = time.Millisecond

// Now is coord.Store's: the clock of the server that the cluster has elected to
// lead it, so that all who ask hear one clock whichever server they ask. The error
// is half of the time that asking took, and half of a millisecond.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return coord.Time{}, err
	}
	defer done()
	return s.now(ctx)
}

func (s *Store) now(ctx context.Context) (coord.Time, error) {
	from := time.Now()
	answer, err := s.client.Do(ctx, http.MethodGet, []string{"_nodes", "_master", "stats", "process"},
		url.Values{"filter_path": {"nodes.*.timestamp"}}, nil)
	if err != nil {
		return coord.Time{}, s.explain(err)
	}
	var told struct {
		Nodes map[string]struct {
			Timestamp int64 `json:"timestamp"`
		} `json:"nodes"`
	}
	if err := s.read(answer, &told); err != nil {
		return coord.Time{}, err
	}
	for _, node := range told.Nodes {
		if node.Timestamp > 0 {
			told := coord.Time{At: time.UnixMilli(node.Timestamp).Add(resolution / 2), Error: resolution / 2}
			return s.clock.Answered(told, from), nil
		}
	}
	err = fault.At(fault.New(fault.Unavailable, "no server leads the cluster, so that nobody tells the time"), s.client.String())
	return coord.Time{}, fault.WithNext(err, "wait until the cluster has elected one")
}

package opensearch

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
)

// resolution is how exact the server tells its time.
const resolution = time.Millisecond

// clock makes a time that does not go back of a server's answers.
type clock struct {
	mu   sync.Mutex
	last time.Time // the latest that was told, without a monotonic part
	seen time.Time // when, by this machine, with one
}

// answered is the store's time when a request that was sent at from by this
// machine's clock and answered just now had the timestamp.
func (c *clock) answered(timestamp, from time.Time) coord.Time {
	now := time.Now()
	width := now.Sub(from) + resolution
	at := coord.Time{At: timestamp.Add(width / 2), Error: width / 2}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.At.Before(c.last) {
		at.Error += c.last.Sub(at.At)
		at.At = c.last
	}
	c.last, c.seen = at.At, now
	return at
}

// raise makes every later time at least at.
func (c *clock) raise(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.last) {
		c.last, c.seen = at, time.Now()
	}
}

// about is the server's time as far as it is known without asking.
func (c *clock) about() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Add(time.Since(c.seen))
}

// Now is coord.Store's: the clock of the server that the cluster has elected to
// lead it, so that all who ask hear one clock whichever server they ask. The error
// is half of the time that asking took, and half of a millisecond.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return coord.Time{}, err
	}
	defer end()
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
			return s.clock.answered(time.UnixMilli(node.Timestamp), from), nil
		}
	}
	err = fault.At(fault.New(fault.Unavailable, "no server leads the cluster, so that nobody tells the time"), s.client.String())
	return coord.Time{}, fault.WithNext(err, "wait until the cluster has elected one")
}

package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/fault"
)

// begin starts a call: its context ends with the store, too.
func (s *Store) begin(ctx context.Context) (context.Context, func(), error) {
	if s.life.Err() != nil {
		return nil, nil, coord.Closed()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// ask sends one request about the index. Path follows the index; an answer is
// decoded into into, unless that is nil.
func (s *Store) ask(ctx context.Context, method string, path []string, params url.Values, body []byte, into any) error {
	answer, err := s.client.Do(ctx, method, append([]string{s.index}, path...), params, body)
	if err != nil {
		return s.explain(err)
	}
	if into == nil {
		return nil
	}
	return s.read(answer, into)
}

// read decodes an answer.
func (s *Store) read(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fault.At(fault.New(fault.Unavailable, "its answer cannot be read: %w", err), s.client.String())
	}
	return nil
}

// explain gives what the server said the kind that it has for a coordination store.
// What it refused and what it did not answer in time may have happened or not, and is fault.Unavailable.
func (s *Store) explain(err error) error {
	if s.life.Err() != nil {
		return coord.Closed()
	}
	var told *exception.Error
	if !errors.As(err, &told) {
		return err
	}
	switch status := told.Status(); {
	case told.Type == exception.VersionConflict:
		return fault.Wrap(fault.Conflict, err)
	case told.Type == exception.IndexNotFound:
		err = fault.Wrap(fault.Unavailable, err)
		return fault.WithNext(err, "somebody deleted the index of the coordination store: stop all workers, and begin again")
	case told.Type == exception.ClusterBlock:
		err = fault.Wrap(fault.Unavailable, err)
		return fault.WithNext(err, "the server refuses writes: free space on its disks, or lift the block of index %s", s.index)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		err = fault.Wrap(fault.Unauthorised, err)
		return fault.WithNext(err, "the user needs to read, write, create and monitor index %s, and to monitor the cluster", s.index)
	case told.Type == exception.CircuitBreaking:
		return fault.Wrap(fault.Limit, err)
	case status == http.StatusTooManyRequests || status >= 500:
		return fault.Wrap(fault.Unavailable, err)
	}
	return err
}

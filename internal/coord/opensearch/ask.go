package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// ask sends one request about the index. Path follows the index; an answer is
// decoded into into, unless that is nil.
func (s *Store) ask(ctx context.Context, method string, path []string, params url.Values, body []byte, into any) error {
	return s.send(ctx, cluster.Request{Method: method, Path: path, Params: params, Body: body}, into)
}

// look is ask for what changes nothing, and may be asked again when no answer came.
func (s *Store) look(ctx context.Context, method string, path []string, params url.Values, body []byte, into any) error {
	return s.send(ctx, cluster.Request{Method: method, Path: path, Params: params, Body: body, Harmless: true}, into)
}

func (s *Store) send(ctx context.Context, r cluster.Request, into any) error {
	r.Path = append([]string{s.index}, r.Path...)
	answer, err := s.client.Send(ctx, r)
	if err != nil {
		return s.explain(err)
	}
	if into == nil {
		return nil
	}
	return s.read(answer.Body, into)
}

// read decodes an answer.
func (s *Store) read(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fault.At(fault.New(fault.Unavailable, "its answer cannot be read: %w", err), s.client.String())
	}
	return nil
}

// explain gives what the server said the kind that it has for a coordination store.
// What it refused to do now (429, 5xx, a block) is fault.Unavailable.
func (s *Store) explain(err error) error {
	if s.life.Over() {
		return coord.Closed()
	}
	var told *exception.Error
	if !errors.As(err, &told) {
		return err
	}
	switch status := told.Status(); {
	case told.Type == exception.IndexNotFound:
		err = fault.Wrap(fault.Unavailable, err)
		return fault.WithNext(err, "somebody deleted the index of the coordination store: stop all workers, and begin again")
	case status == http.StatusUnauthorized || status == http.StatusForbidden && told.Type != exception.ClusterBlock:
		err = fault.Wrap(fault.Unauthorised, err)
		return fault.WithNext(err, "the user needs to read, write, create and monitor index %s, and to monitor the cluster", s.index)
	case status == http.StatusTooManyRequests || status >= 500:
		return fault.Wrap(fault.Unavailable, err)
	}
	return err
}

// tooLarge tells whether an answer was refused that a smaller question would get.
func tooLarge(err error) bool {
	return fault.Is(err, fault.Limit) || exception.Is(err, exception.CircuitBreaking)
}

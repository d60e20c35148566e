package migrate

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/reshelve/reshelve/fault"
)

// hasIndex tells whether the target has an index (or an alias) of this name.
func (t *turn) hasIndex(ctx context.Context, name string) (bool, error) {
	_, err := t.target.Do(ctx, http.MethodGet, []string{name}, nil, nil)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// createIndex is fault.Conflict when there is one.
func (t *turn) createIndex(ctx context.Context, name string, body json.RawMessage) error {
	_, err := t.target.Do(ctx, http.MethodPut, []string{name}, nil, body)
	return err
}

func (t *turn) deleteIndex(ctx context.Context, name string) error {
	_, err := t.target.Do(ctx, http.MethodDelete, []string{name}, nil, nil)
	return err
}

func (t *turn) refreshIndex(ctx context.Context, name string) error {
	_, err := t.target.Do(ctx, http.MethodPost, []string{name, "_refresh"}, nil, nil)
	return err
}

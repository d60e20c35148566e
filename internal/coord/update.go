package coord

import (
	"bytes"
	"context"

	"github.com/reshelve/reshelve/internal/fault"
)

// try is one round of Update: won is false when somebody else was faster.
func try(ctx context.Context, s Store, key string, change func([]byte) ([]byte, error)) (won bool, record Record, err error) {
	record, err = s.Get(ctx, key)
	absent := fault.Is(err, fault.NotFound)
	if err != nil && !absent {
		return false, Record{}, err
	}
	if absent {
		record = Record{Key: key}
	}
	value, err := change(bytes.Clone(record.Value))
	if err != nil {
		return false, Record{}, err
	}
	if absent && value == nil || !absent && bytes.Equal(value, record.Value) {
		return true, record, nil
	}
	if absent {
		record.Revision, err = s.Create(ctx, key, value)
	} else {
		record.Revision, err = s.Swap(ctx, key, record.Revision, value)
	}
	if fault.Is(err, fault.Conflict) {
		return false, Record{}, nil
	}
	record.Value = value
	return err == nil, record, err
}

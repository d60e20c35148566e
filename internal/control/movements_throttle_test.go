package control

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// meetsOthers is a store whose first change waits until all others are about to make theirs.
type meetsOthers struct {
	coord.Store
	others *sync.WaitGroup
	once   sync.Once
}

func (s *meetsOthers) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	s.once.Do(func() {
		s.others.Done()
		s.others.Wait()
	})
	return s.Store.Swap(ctx, key, revision, value)
}

// TestTwoThatThrottleAtOnce both get what they asked for.
func TestTwoThatThrottleAtOnce(t *testing.T) {
	plain := memory.New()
	r := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Planned, Phases: migrate.Phases(), Plan: []byte(`{}`), Created: time.Now()}
	if err := drive.New(plain, 0).Plan(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	others.Add(2)
	documents, bytes := 7.0, 9.0
	var both sync.WaitGroup
	for _, change := range []LimitsChange{{DocumentsPerSecond: &documents}, {BytesPerSecond: &bytes}} {
		both.Go(func() {
			store := &meetsOthers{Store: plain, others: &others}
			if _, err := throttle(t.Context(), drive.New(store, 0), nil, Order{ID: "m", By: "ann"}, change); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	is, err := drive.New(plain, 0).Movement(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	var limits migrate.Limits
	if err := json.Unmarshal(is.Rate, &limits); err != nil || limits.DocumentsPerSecond != 7 || limits.BytesPerSecond != 9 {
		t.Errorf("%s: %v", is.Rate, err)
	}
}

package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// ailing is an engine whose health a test decides.
type ailing struct {
	*shardmemory.Engine
	health shard.Health
}

func (a *ailing) Health() shard.Health { return a.health }

// vetoed is the service of a store with the index "books", of two shards and 40 documents.
func vetoed(t *testing.T) (*MovementService, *ailing) {
	t.Helper()
	engine, records := &ailing{Engine: shardmemory.New(shardmemory.Options{})}, coordmemory.New()
	s, err := store.Open(t.Context(), records, engine, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Close(), engine.Close() })
	if _, err := s.CreateIndex(t.Context(), "books", []byte(`{"settings":{"number_of_shards":2}}`)); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		w := document.Write{Operation: document.Index, Target: "books", ID: string(rune('A' + i)), Condition: document.Always, Source: []byte(`{"n":1}`)}
		if a := s.Write(t.Context(), []document.Write{w}, document.Eventually); a[0].Err != nil {
			t.Fatal(a[0].Err)
		}
	}
	k := (&Control{}).newMovementService(records)
	k.attending = func() {}
	k.side = &side{coord: records, service: k, lane: &reshard.Lane{Store: s}}
	return k, engine
}

// TestTheWorstCaseCountsFiles: segments of short documents are larger than these.
func TestTheWorstCaseCountsFiles(t *testing.T) {
	k, _ := vetoed(t)
	planned, err := k.PlanReshape(t.Context(), ReshapeRequest{Kind: movement.Split, Shape: Shape{Index: "books", By: 2}})
	if err != nil {
		t.Fatal(err)
	}
	s := k.side.lane.Store
	readers, err := s.Readers(t.Context(), planned.Plan.Index, []uint32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	var files int64
	for _, r := range readers {
		for _, v := range r.Views() {
			files += int64(v.Bytes())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if planned.Worst < files || planned.Worst > files+40 {
		t.Errorf("%d bytes are thought to be needed of the disk, to write %d again", planned.Worst, files)
	}
}

// TestWhatASplitIsRefusedFor: each cause by its kind and name, with what to do about it; a plan
// tells it, and nothing is begun.
func TestWhatASplitIsRefusedFor(t *testing.T) {
	by := func(m int) Shape { return Shape{Index: "books", By: m, At: "./data"} }
	zero := uint32(0)
	for _, one := range []struct {
		name  string
		shape Shape
		ill   func(k *MovementService, e *ailing)
		kind  fault.Kind
		says  string
		next  string
	}{
		{"a store that takes no writes", by(2), func(_ *MovementService, e *ailing) { e.health.ReadOnly = errors.New("the disk is nearly full") },
			fault.Unavailable, "takes no writes: the disk is nearly full", "mend that"},
		{"a disk without room for the worst case", by(2), func(_ *MovementService, e *ailing) { e.health.Disk.Free, e.health.Disk.LowWater = 1001, 1000 },
			fault.Refused, "bytes more may be taken, and 1 are free", "free space, or split one shard at a time"},
		{"more than 1,024 shards", by(1024), nil, fault.Refused, "2048 shards, more than 1024", "make fewer parts"},
		{"a shard that would be too narrow", Shape{Index: "books", Shard: &zero, Cut: []string{"0000000000000001"}}, nil, fault.Refused, "is narrower than 4194304 keys", "make fewer or wider parts"},
		{"a second reshaping", by(2), func(k *MovementService, _ *ailing) {
			if _, err := k.BeginReshape(context.Background(), ReshapeRequest{Kind: movement.Split, Shape: by(3)}); err != nil {
				t.Fatal(err)
			}
		}, fault.Conflict, "is being reshaped by movement ", "reshelve movement status ID --at ./data"},
		{"a migration that writes to it", by(2), func(k *MovementService, _ *ailing) {
			plan, _ := json.Marshal(migrate.Plan{Indices: []migrate.Index{{Source: "old", Target: "books"}}})
			if err := k.d.Plan(context.Background(), movement.Record{ID: "m7", Kind: movement.Migrate, State: movement.Planned, Plan: plan, Created: time.Unix(1, 0)}); err != nil {
				t.Fatal(err)
			}
		}, fault.Conflict, "movement m7, which is planned, writes to index books", "reshelve movement status ID --at ./data"},
	} {
		t.Run(one.name, func(t *testing.T) {
			k, engine := vetoed(t)
			if one.ill != nil {
				one.ill(k, engine)
			}
			before, _ := k.d.Movements(t.Context())
			req := ReshapeRequest{Kind: movement.Split, Shape: one.shape}
			planned, err := k.PlanReshape(t.Context(), req)
			if err == nil {
				err = planned.Outcome()
			}
			next := fault.Next(err)
			if len(before) > 0 { // whose id is not known before
				next = strings.Replace(next, before[0].ID, "ID", 1)
			}
			if !fault.Is(err, one.kind) || !strings.Contains(err.Error(), one.says) || !strings.Contains(next, one.next) {
				t.Errorf("the plan: %v → %s", err, next)
			}
			if _, again := k.BeginReshape(t.Context(), req); again == nil || again.Error() != err.Error() {
				t.Errorf("the start: %v, the plan: %v", again, err)
			}
			if after, _ := k.d.Movements(t.Context()); len(after) != len(before) {
				t.Errorf("%d movements, %d before", len(after), len(before))
			}
		})
	}
}

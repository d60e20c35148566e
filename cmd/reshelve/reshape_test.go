package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// TestReshapingAServedStore is asked for by its URL and by its folder, and the process that
// serves it does it; whoever asks is told the same.
func TestReshapingAServedStore(t *testing.T) {
	c, data := control.New(wiring), filepath.Join(t.TempDir(), "data")
	_, err := c.Migrate(t.Context(), control.MigrateRequest{Target: data, Yes: true, Selection: control.Selection{Repository: repository}}, func(*control.Movement) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- c.Serve(ctx, control.ServeRequest{Data: data, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}, func(s control.Serving) { ready <- s.Address })
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	at := <-ready
	var planned *control.ReshapePlan
	request := control.ReshapeRequest{Kind: movement.Split, Shape: control.Shape{Index: "shelves", By: 2}, KeepWayBack: true, AskedBy: "ann",
		Wait: &control.WaitReshaping{Planned: func(p *control.ReshapePlan) { planned = p }, Told: func(*control.Movement) {}}}
	m, err := c.Reshape(t.Context(), at, request)
	if err != nil || m.State != movement.Switched || m.By != "ann" || planned == nil || planned.Plan.After != 4 || m.Reshaping == nil || m.Reshaping.Compared.Documents != 62 || len(m.Groups()) != 2 {
		t.Fatalf("%v %+v", err, m)
	}
	for _, place := range []string{at, data} {
		seen, err := c.Movement(t.Context(), place, m.ID)
		if err != nil || len(seen.Groups()) != 2 || seen.Groups()[0].State != "SPLIT" {
			t.Errorf("at %s: %v %+v", place, err, seen)
		}
		shelves, err := c.Placement(t.Context(), place, "shelves")
		if err != nil || len(shelves.Shards) != 4 || shelves.Movement != m.ID {
			t.Errorf("at %s: %v %+v", place, err, shelves)
		}
		again := request
		again.Wait = nil
		if _, err := c.Reshape(t.Context(), place, again); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), m.ID) || fault.Next(err) == "" {
			t.Errorf("a second one at %s: %v → %s", place, err, fault.Next(err))
		}
		preview, err := c.PreviewReshape(t.Context(), place, again)
		if err != nil || !fault.Is(preview.Outcome(), fault.Conflict) {
			t.Errorf("its plan at %s: %v %+v", place, err, preview)
		}
		if _, err := c.Placement(t.Context(), place, "nosuch"); !fault.Is(err, fault.NotFound) {
			t.Errorf("at %s: %v", place, err)
		}
	}
	if _, err := c.Tell(t.Context(), control.Order{At: at, ID: m.ID, Verb: movement.Finish}); err != nil {
		t.Error(err)
	}
	if m, err = c.Watch(t.Context(), data, m.ID, func(*control.Movement) {}); err != nil || m.State != movement.Finished {
		t.Errorf("%v %+v", err, m)
	}
	all, err := c.Movements(t.Context(), at)
	if err != nil || len(all) != 2 {
		t.Errorf("what was refused is on record: %v %v", err, all)
	}
}

// TestOnlyOurOwnShards are split: records hold none.
func TestOnlyOurOwnShards(t *testing.T) {
	c := control.New(wiring)
	for _, at := range []string{"local:" + t.TempDir(), "postgres://u@127.0.0.1:1/d"} {
		if _, err := c.Placement(t.Context(), at, "shelves"); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, err := c.Placement(t.Context(), filepath.Join(t.TempDir(), "none"), "shelves"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

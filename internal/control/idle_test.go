package control

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestIdle: nobody is said to work at a movement at once where no other process can, and else when nobody has held a piece of it for
// a while, nothing else is known to keep it, and it has something to do.
func TestIdle(t *testing.T) {
	now := time.Date(2026, 11, 21, 22, 15, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state    movement.State
		alone    bool
		workers  int
		heard    time.Duration // ago
		started  time.Duration
		hinders  bool
		beats    time.Duration
		contains string // "": nothing is said
	}{
		"a folder that nobody has open": {state: movement.Running, alone: true, workers: 2, contains: "no process has the folder open"},
		"one that ended there":          {state: movement.Finished, alone: true},
		"one that is paused there":      {state: movement.Paused, alone: true},
		"a worker holds a piece":        {state: movement.Running, workers: 1, heard: time.Hour, started: time.Hour},
		"one held it a moment ago":      {state: movement.Running, heard: 10 * time.Second, started: time.Hour},
		"it has just started":           {state: movement.Running, heard: time.Hour, started: 10 * time.Second},
		"for a while":                   {state: movement.Running, heard: 40 * time.Second, started: time.Hour, contains: "for 40s"},
		"an undoing, for a while":       {state: movement.Aborting, heard: 40 * time.Second, started: time.Hour, contains: "for 40s"},
		"slow heartbeats":               {state: movement.Running, heard: 40 * time.Second, started: time.Hour, beats: 10 * time.Second},
		"something is known":            {state: movement.Running, heard: time.Hour, started: time.Hour, hinders: true},
	} {
		policy := work.Default
		if c.beats > 0 {
			policy.Heartbeat = c.beats
		}
		plan, err := json.Marshal(migrate.Plan{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		m := &Movement{Record: movement.Record{State: c.state, Kind: movement.Migrate, Plan: plan, Started: now.Add(-c.started)},
			Progress: &migrate.Progress{Workers: c.workers, Heard: now.Add(-c.heard)}}
		if c.hinders {
			m.Progress.Hindrances = []migrate.Hindrance{{Cause: "it waits for its hours"}}
		}
		m.idle(c.alone, now)
		if (m.Idle == "") != (c.contains == "") || !strings.Contains(m.Idle, c.contains) {
			t.Errorf("%s: %q", name, m.Idle)
		}
		if c.alone && c.contains != "" && m.Progress.Workers > 0 {
			t.Errorf("%s: workers are counted", name)
		}
	}
}

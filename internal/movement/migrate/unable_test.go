package migrate_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/snapshot"
)

// TestWhatAProcessMayNotOpenHinders: the movement stays running, for others to work for, and its progress names the cause
// and what to do; so it does while the movement is undone.
func TestWhatAProcessMayNotOpenHinders(t *testing.T) {
	r := newRig(t, "opensearch-2.19.0-basic", "first")
	lane := &migrate.Lane{Reach: r.lane.Reach, Open: func(context.Context, string) (*snapshot.Repository, error) {
		return nil, fault.WithNext(fault.New(fault.Refused, "the operator has not allowed it"), "start it with --allow-repository")
	}}
	id := r.start(r.plan("shelves"))
	err := worker.Run(t.Context(), r.driver, map[movement.Kind]worker.Lane{movement.Migrate: lane},
		worker.Options{Name: "w", Movement: id, Pause: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	if !worker.IsUnable(err) {
		t.Fatal(err)
	}
	m, err := r.driver.Movement(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := migrate.ProgressOf(t.Context(), r.driver, &m)
	if err != nil {
		t.Fatal(err)
	}
	p.Judge(&m, nil, 0, time.Now())
	if m.State != movement.Running || len(p.Hindrances) != 1 || !strings.Contains(p.Hindrances[0].Cause, "has not allowed it") || p.Hindrances[0].Next != "start it with --allow-repository" {
		t.Errorf("%s: %+v", m.State, p.Hindrances)
	}
}

// TestADamagedInabilityHoldsNothing: neither the status nor an end.
func TestADamagedInabilityHoldsNothing(t *testing.T) {
	for verb, state := range map[movement.Verb]movement.State{movement.Abort: movement.Aborted, movement.Finish: movement.Finished} {
		r := newRig(t, "opensearch-2.19.0-basic", "first")
		id := r.start(r.plan("shelves"))
		r.work(id)
		if _, err := r.driver.Store().Create(t.Context(), worker.ClosingKey(id)+"/unable/torn", []byte(`{"worker":`)); err != nil {
			t.Fatal(err)
		}
		m, err := r.driver.Movement(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrate.ProgressOf(t.Context(), r.driver, &m); err != nil {
			t.Error(err)
		}
		r.tell(id, verb)
		if _, err := r.driver.Store().Get(t.Context(), worker.ClosingKey(id)+"/unable/torn"); err != nil {
			t.Fatal(err)
		}
		if m, _ := r.work(id); m.State != state {
			t.Errorf("%s: it is %s: %s", verb, m.State, m.Cause)
		}
	}
}

// TestASnapshotThatIsGoneHoldsTheMovement, whether it went away before anybody opened it or while the movement was paused;
// the movement is aborted then.
func TestASnapshotThatIsGoneHoldsTheMovement(t *testing.T) {
	for _, opened := range []bool{false, true} {
		r := newRig(t, "opensearch-2.19.0-basic", "first")
		plan := r.plan("shelves")
		repository := filepath.Join(t.TempDir(), "repo")
		if err := os.CopyFS(repository, os.DirFS(r.repository)); err != nil {
			t.Fatal(err)
		}
		plan.Repository = repository
		id := r.start(plan)
		if opened { // the phases up to the items
			for {
				m, err := r.driver.Movement(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				phase := m.Current()
				if phase.Name == "documents" {
					break
				}
				r.turn(&m, phase)
			}
		}
		r.tell(id, movement.Pause)
		// as the server leaves it that deletes both snapshots
		left, err := filepath.Glob(filepath.Join(repository, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range left {
			if name := filepath.Base(path); name != "index.latest" && !strings.HasPrefix(name, "index-") {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		roots, err := filepath.Glob(filepath.Join(repository, "index-*"))
		if err != nil || len(roots) == 0 {
			t.Fatal(roots, err)
		}
		for _, root := range roots {
			if err := os.WriteFile(root, []byte(`{"min_version":"7.12.0","uuid":"u","cluster_id":"c","snapshots":[],"indices":{},"index_metadata_identifiers":{}}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r.tell(id, movement.Resume)
		m, _ := r.work(id)
		if m.State != movement.Held && m.State != movement.Failed || m.Cause == "" || m.Next == "" {
			t.Errorf("opened %v: it is %s: %s → %s", opened, m.State, m.Cause, m.Next)
		}
		r.tell(id, movement.Abort)
		if m, _ := r.work(id); m.State != movement.Aborted || r.has("shelves") {
			t.Errorf("opened %v: it is %s: %s", opened, m.State, m.Cause)
		}
	}
}

// turn takes one turn of a phase by hand.
func (r *rig) turn(m *movement.Record, phase *movement.Phase) {
	r.Helper()
	tell := func(happened movement.Happening, outcome worker.Outcome) {
		if _, _, err := r.driver.Apply(r.Context(), m.ID, movement.Event{Happened: happened, Phase: phase.Key(), By: "w-0", Report: outcome.Report, Plan: outcome.Plan}); err != nil {
			r.Fatal(err)
		}
	}
	if phase.Started.IsZero() {
		tell(movement.PhaseBegun, worker.Outcome{})
		return
	}
	outcome, err := r.lane.Turn(r.Context(), worker.Slot{Driver: r.driver, Worker: "w-0", Logger: slog.New(slog.DiscardHandler)}, m, phase)
	if err != nil {
		r.Fatal(err)
	}
	if outcome.Done {
		tell(movement.PhaseDone, outcome)
	}
}

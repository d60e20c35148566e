package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// bulkRequest is the verb of the requests that bring documents.
const bulkRequest = "POST _bulk"

// migration is the scene of a fleet that brings snapshots to a target.
type migration struct {
	*world
	repository *Truth
	truth      *taken          // what the movement brings
	older      *taken          // what a delta goes on from
	since      map[string]bool // the indices of which a delta brings what has changed
	target     *target
	blobs      map[string]string // those that are lost or damaged
	limits     *limits
	operator   operator
	stolen     map[string]map[name]time.Time // index → document → when somebody deleted or changed it, or a straggler brought it back
	verified   time.Time                     // when the last comparison of the movement began
}

func newMigration(w *world, t *Truth) *migration {
	m := &migration{world: w, repository: t, blobs: map[string]string{}, stolen: map[string]map[name]time.Time{}}
	m.truth = t.snapshots[len(t.snapshots)-1]
	if w.script.Delta == "forth" {
		m.truth = t.snapshots[0]
	}
	m.limits = &limits{world: m}
	m.target = newTarget(m)
	m.operator.world = m
	return m
}

func (w *migration) begin() { w.plan("m", w.truth.plan) }

// plan stores a movement that has been started.
func (w *migration) plan(id string, plan migrate.Plan) {
	w.id, w.verified = id, time.Time{}
	plan.Policy, plan.IntoExisting = w.policy(), w.script.Into
	if w.script.Transform {
		plan.Transform = steps
	}
	body, err := json.Marshal(plan)
	if err != nil {
		panic(err) // numbers and strings
	}
	m := movement.Record{ID: id, Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: migrate.Phases(), Created: time.Now()}
	started, _, err := movement.Step(m, movement.Event{At: time.Now(), Verb: movement.Start, By: "operator"})
	if err != nil {
		panic(err)
	}
	value, err := json.Marshal(started)
	if err != nil {
		panic(err)
	}
	w.records.revision++
	key := "movements/" + id
	w.records.all[key], w.records.keys = coord.Record{Key: key, Value: value, Revision: w.records.revision}, nil
}

// live works as a worker of the fleet does.
func (w *migration) live(p *process) error {
	lane := &migrate.Lane{
		Open: func(ctx context.Context, _ string) (*snapshot.Repository, error) {
			return snapshot.Open(ctx, w.bucket(p))
		},
		Reach: func(ctx context.Context, _ string) (*cluster.Client, error) { return w.reach(ctx, p) },
	}
	d := drive.New(view{p}, w.policy().ClockTolerance)
	return worker.Run(p.ctx, d, map[movement.Kind]worker.Lane{movement.Migrate: lane},
		worker.Options{Name: p.name, Slots: w.script.Slots, Pause: time.Second, Logger: slog.New(slog.DiscardHandler)})
}

func (w *migration) befall(m Mishap) {
	switch m.What {
	case lost, damaged:
		number, _ := strconv.Atoi(m.Whom)
		w.after(m.At, func() { w.spoil(m, number, 1) })
		if m.For > 0 {
			w.after(m.At+m.For, func() { w.spoil(m, number, -1) })
		}
	case "limit", "hours":
		w.after(m.At, func() { w.limits.change(m) })
	case "verb":
		w.after(m.At, func() { w.operator.ask(movement.Verb(m.Whom), nil) })
	case "steal":
		w.after(m.At, func() { w.steal(m.Whom) })
	case "others":
		w.letOthersWrite(m)
	}
}

func (w *migration) weather() {
	w.target.full, w.target.picky = w.befalls("target", "full"), w.befalls("target", "picky")
	w.target.flood, w.target.refuses = w.befalls("target", "flood"), w.befalls("target", "refuses")
}

// late tells whether a request comes when it has no effect any more: servers carry out what
// nobody waits for, but not for longer than three heartbeats. A process that stood still with
// a request in its hands sends it whenever it wakes, and no server can tell. Documents that come so
// when their movement is aborted or has ended must have no effect, since they come by a name that is
// gone; that an index is made so, or an alias, is left out, since nothing can be done about it.
func (w *migration) late(c *call) bool {
	if c.to != "target" {
		return false
	}
	if c.woken && c.verb != bulkRequest {
		state := w.movement().State
		return state.Ended() && !w.deltaComes() || state == movement.Aborting
	}
	if c.woken {
		return false
	}
	return !c.gaveUp.IsZero() && time.Since(c.gaveUp) > 3*w.script.Heartbeat
}

// happened looks whether another movement is to follow.
func (w *migration) happened() {
	if m := w.movement(); m.State.Ended() && w.deltaComes() {
		w.delta(m)
	}
}

// rests lets the operator look, or everybody go.
func (w *migration) rests() {
	switch m := w.movement(); {
	case m.State.Ended() && !w.deltaComes():
		w.close()
	case m.State == movement.Held || m.State == movement.Failed || m.State == movement.Paused:
		w.operator.look(m)
	}
}

func (w *migration) died(*process) {}

func (w *migration) copies() bool {
	m := w.movement()
	phase := m.Current()
	return phase != nil && phase.Name == "documents"
}

// sends is L6: a worker without a lease sends no documents. A process that was suspended cannot know, and no
// process does when the store's clock leaps.
func (w *migration) sends(c *call) {
	if c.woken || c.process.dead || slices.ContainsFunc(w.script.Mishaps, func(m Mishap) bool { return m.What == "clock" && !strings.HasPrefix(m.Whom, "-") }) {
		return
	}
	holder := fmt.Appendf(nil, `"leaseHolderId":"%s-`, c.process.name)
	for _, r := range w.records.list("movement/" + w.id + "/") {
		var l work.Lease
		if bytes.Contains(r.Value, holder) && json.Unmarshal(r.Value, &l) == nil && l.Leased(w.policy(), w.records.now()) {
			return
		}
	}
	w.violate("L6", "%s sends documents, and holds no lease", c.process.name)
}

func (w *migration) ended() {
	if m := w.movement(); m.State.Ended() {
		w.hasEnded(m)
		w.left(m)
	}
}

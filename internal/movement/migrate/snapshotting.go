package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// Take is a snapshot that a movement takes before all else.
type Take struct {
	Cluster    string `json:"cluster"`              // the source: a URL without credentials
	Repository string `json:"repository,omitempty"` // its name on the source; "": the snapshot's
	// Register is what the source is told of the repository; nil when it knows it already.
	Register *cluster.Repository `json:"register,omitempty"`
	Indices  []string            `json:"indices,omitempty"` // patterns; none: all
	// Asked is what was asked for, from which the plan is completed once the snapshot is there.
	Asked json.RawMessage `json:"asked"`
}

// SnapshotName is the name of the snapshot that a movement takes. Whichever worker looks
// for it, or makes it, knows it; one that is there is an earlier attempt's.
func SnapshotName(id string) string { return "reshelve-" + strings.ToLower(id) }

// repository is the name of the repository on the source.
func (t *turn) repository() string {
	return cmp.Or(t.plan.Take.Repository, SnapshotName(t.movement.ID))
}

// SnapshotPhase comes before [Phases] when the plan has a snapshot to take.
func SnapshotPhase() movement.Phase { return movement.Phase{Name: phaseSnapshot} }

// Taken is how far the snapshot is.
type Taken struct {
	Snapshot   string `json:"snapshot"`
	Is         string `json:"is,omitempty"` // as the source tells it: IN_PROGRESS, SUCCESS, …
	Shards     int    `json:"shards"`
	ShardsDone int    `json:"shardsDone"`
	Bytes      int64  `json:"bytes"` // of files that the repository did not hold before
	BytesDone  int64  `json:"bytesDone"`
}

// taking is the piece of the snapshot.
type taking struct {
	work.Lease
	Taken
}

// The kinds of things that a movement makes on the source.
const (
	kindRepository = "source-repository" // its registration: finish and abort take it away
	kindSnapshot   = "source-snapshot"   // finish leaves it, abort deletes it
)

func (t *turn) takingKey() string { return t.key("phase", phaseSnapshot) }

// completedKey is that of the plan, as completed: it is stored before the piece is done, so
// that whoever ends the phase can say it.
func (t *turn) completedKey() string { return t.key("plan", "completed") }

// snapshotting lets one worker at a time take the snapshot, or wait for it, and complete the
// plan. A lease that ends meanwhile is handed over: who waits makes no progress of its own.
func (l *Lane) snapshotting(ctx context.Context, s worker.Slot, m *movement.Record) (worker.Outcome, error) {
	plan, err := ReadPlan(m)
	if err != nil {
		return worker.Outcome{}, err
	}
	t := &turn{sides: &sides{plan: plan}, Slot: s, movement: m, lane: l}
	first := taking{Lease: work.Lease{CreatorID: s.Worker}, Taken: Taken{Snapshot: SnapshotName(m.ID)}}
	if err := t.Driver.Make(ctx, t.takingKey(), first); err != nil {
		return worker.Outcome{}, err
	}
	source, err := l.Source(ctx, plan.Take.Cluster)
	if err != nil {
		return worker.Outcome{}, ours(err)
	}
	held, there, err := worker.Claim[taking](ctx, s, m, t.takingKey(), plan.Policy)
	switch {
	case err != nil:
		return worker.Outcome{}, err
	case held == nil && there.State == work.Failed:
		return worker.Outcome{Failed: true, Text: there.Cause, Piece: t.takingKey()}, nil
	case held == nil && there.State == work.Done:
		return t.taken(ctx, there.Taken)
	case held == nil:
		return worker.Outcome{}, nil
	}
	w := &waiting{turn: t, held: held, source: source}
	err = w.do()
	switch {
	case held.Lost() != nil:
	case errors.Is(err, errHandOver):
		return worker.Outcome{Worked: true}, held.Release("")
	case worker.IsUnable(err):
		if e := held.Release(""); e != nil {
			return worker.Outcome{}, e
		}
		return worker.Outcome{}, err
	}
	outcome, settling := worker.Settle(ctx, held, err)
	outcome.Piece, outcome.Next = t.takingKey(), fault.Next(err)
	if outcome.Done && settling == nil {
		return t.taken(ctx, held.Piece().Taken)
	}
	outcome.Done = false
	return outcome, settling
}

// taken is the outcome of the phase.
func (t *turn) taken(ctx context.Context, s Taken) (worker.Outcome, error) {
	record, err := t.Driver.Store().Get(ctx, t.completedKey())
	if err != nil {
		return worker.Outcome{}, err
	}
	text := fmt.Sprintf("snapshot %s: %s, %d shards", s.Snapshot, s.Is, s.Shards)
	return worker.Outcome{Worked: true, Done: true, Text: text, Plan: record.Value}, nil
}

// takenOf is how far the snapshot of a movement is; nil when none is taken, or nobody has begun.
func takenOf(ctx context.Context, d *drive.Driver, id string, plan *Plan) (*Taken, error) {
	if plan.Take == nil {
		return nil, nil
	}
	pieces, err := drive.Pieces[taking](ctx, d, work.Prefix(id)+"phase/"+phaseSnapshot)
	if piece, there := pieces[""]; there && err == nil {
		return &piece.Taken, nil
	}
	return nil, err
}

// waiting is a worker that takes the snapshot, or waits for it.
type waiting struct {
	*turn
	held   *drive.Held[taking, *taking]
	source *cluster.Client

	mu   sync.Mutex
	seen Taken
}

func (w *waiting) do() error {
	w.seen = w.held.Piece().Taken
	var limited context.Context
	err := worker.Beating(w.Slot, w.movement, w.held, w.plan.Policy, w.store, func(ctx context.Context) error {
		var end context.CancelFunc
		limited, end = context.WithTimeoutCause(ctx, w.held.Checkpoint(), errHandOver)
		defer end()
		return w.take(limited)
	})
	if err != nil && errors.Is(context.Cause(limited), errHandOver) {
		return errHandOver
	}
	if w.held.Lost() == nil {
		err = errors.Join(err, w.store())
	}
	return err
}

// store is the heartbeat: it keeps how far the snapshot is.
func (w *waiting) store() error {
	w.mu.Lock()
	seen := w.seen
	w.mu.Unlock()
	return w.held.Update(func(piece taking, now time.Time) (next taking, err error) {
		next = piece
		next.Lease, err = piece.Beat(w.Worker, now, seen != piece.Taken)
		next.Taken = seen
		return next, err
	})
}

// see takes what the source tells of the snapshot.
func (w *waiting) see(s *cluster.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = Taken{Snapshot: s.Name, Is: s.State, Shards: s.Shards, ShardsDone: s.ShardsDone, Bytes: s.Bytes, BytesDone: s.BytesDone}
}

// take takes the snapshot, waits for its end, and completes the plan from it.
func (w *waiting) take(ctx context.Context) error {
	if err := w.register(ctx); err != nil {
		return err
	}
	name := SnapshotName(w.movement.ID)
	if err := w.begin(ctx, name); err != nil {
		return err
	}
	done, err := w.source.AwaitSnapshot(ctx, w.repository(), name, min(w.plan.Policy.Heartbeat, looksEvery), w.see)
	if err != nil && (done == nil || done.State != partial || !w.plan.AllowPartial) {
		return err
	}
	repository, err := w.lane.Open(ctx, w.plan.Repository)
	if err != nil {
		return ours(err)
	}
	_, err = repository.Find(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err := fault.New(fault.Refused, "snapshot %s was taken, and is not at %s: repository %q of the source lies elsewhere", name, w.plan.Repository, w.repository())
		return fault.WithNext(err, "give as --snapshot-to where that repository lies as this machine sees it, or leave --snapshot-repository away")
	}
	if err != nil {
		return err
	}
	plan := w.plan
	plan.Snapshot = name
	if plan, err = w.lane.Complete(ctx, w.movement.ID, plan); err != nil {
		return err
	}
	return w.Driver.Put(ctx, w.completedKey(), plan)
}

// register makes the repository known to the source.
func (w *waiting) register(ctx context.Context) error {
	take := w.plan.Take
	if take.Register == nil {
		return nil
	}
	known, err := w.source.Repositories(ctx)
	if err != nil {
		return err
	}
	if _, there := known[w.repository()]; !there {
		e := movement.Entry{Kind: kindRepository, Name: w.repository(), By: w.Worker}
		if err := w.Driver.Intend(ctx, w.movement.ID, e); err != nil {
			return err
		}
	}
	_, err = w.source.RegisterRepository(ctx, w.repository(), *take.Register)
	return err
}

// looksEvery is how often the source is asked for the snapshot, at most.
const looksEvery = time.Second

// States of snapshots that are of use, or may become so.
const partial = "PARTIAL"

var ofUse = []string{"SUCCESS", "IN_PROGRESS", "STARTED"}

// begin creates the snapshot unless it is there. One that came to a bad end, which an
// operator has seen and resumed, makes room for another.
func (w *waiting) begin(ctx context.Context, name string) error {
	e := movement.Entry{Kind: kindSnapshot, Name: name, Keep: true, By: w.Worker}
	if err := w.Driver.Intend(ctx, w.movement.ID, e); err != nil {
		return err
	}
	there, err := w.source.Snapshot(ctx, w.repository(), name)
	switch {
	case fault.Is(err, fault.NotFound):
	case err != nil:
		return err
	case slices.Contains(ofUse, there.State) || there.State == partial && w.plan.AllowPartial:
		return nil
	default:
		if err := w.source.DeleteSnapshot(ctx, w.repository(), name); err != nil {
			return err
		}
	}
	for {
		err := w.source.CreateSnapshot(ctx, w.repository(), name, cluster.SnapshotOptions{Indices: w.plan.Take.Indices, GlobalState: true, Partial: w.plan.AllowPartial})
		switch {
		case err == nil || cluster.Exists(err): // by another worker, or a request of ours whose answer was lost
			return nil
		case fault.Is(err, fault.NotFound):
			return fault.Wrap(fault.Refused, err)
		case !fault.Is(err, fault.Conflict):
			return err
		}
		if err := drive.Wait(ctx, w.plan.Policy.Heartbeat); err != nil { // the source makes one snapshot at a time, and is at another
			return err
		}
	}
}

// removeFromSource takes away what the movement has made on the source.
func (t *turn) removeFromSource(ctx context.Context, e *movement.Entry) error {
	source, err := t.lane.Source(ctx, t.plan.Take.Cluster)
	if err != nil {
		return ours(err)
	}
	if e.Kind == kindRepository {
		return source.ForgetRepository(ctx, e.Name)
	}
	return source.DeleteSnapshot(ctx, t.repository(), e.Name)
}

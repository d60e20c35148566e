package migrate

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// Lane does the phases of migrations. Safe for concurrent use.
type Lane struct {
	// Open opens the repository at a location; Reach makes a client of a target. They add
	// the credentials, which no record holds.
	Open  func(ctx context.Context, location string) (*snapshot.Repository, error)
	Reach func(ctx context.Context, target string) (*cluster.Client, error)

	// Source makes a client of a cluster of which a snapshot is to be taken. Complete makes the
	// plan of a movement (id) of what the snapshot holds, and refuses what cannot be moved.
	Source   func(ctx context.Context, source string) (*cluster.Client, error)
	Complete func(ctx context.Context, id string, p Plan) (Plan, error)

	// Records opens the coordination store that a target itself has, for a while; nil when it
	// has none. It is needed where movements are recorded elsewhere.
	Records func(ctx context.Context, target string) (records coord.Store, leave func() error, err error)

	mu    sync.Mutex
	open  map[string]*sides // by movement
	parts chan struct{}     // filled by those that are read for comparisons
}

// sides are what a migration reads from and writes to, opened once in a process.
type sides struct {
	opening  chan struct{} // filled while somebody opens them
	opened   bool
	plan     Plan
	from     *snapshot.Repository
	snapshot *snapshot.Snapshot
	target   *cluster.Client
	writer   *cluster.Writer
	shapes   map[string]*transform.Program // see shapesOf
	places   map[string]map[string]string  // see placesOf
	ways     map[string]string             // see writeAliasesOf
	streams  map[string]*InStream          // of indices of the snapshot that are appended
	sharing  sharing
	// collapsed are those of the indices, as far as they are known, for whoever fills collapsing.
	collapsing chan struct{}
	collapsed  map[string]collapsed
	items      worker.Search
}

var _ worker.Lane = (*Lane)(nil)

// Turn does at most one piece of a phase.
func (l *Lane) Turn(ctx context.Context, s worker.Slot, m *movement.Record, phase *movement.Phase) (worker.Outcome, error) {
	if phase.Name == phaseSnapshot {
		return l.snapshotting(ctx, s, m)
	}
	t, err := l.turn(ctx, s, m)
	if err != nil {
		return worker.Outcome{}, err
	}
	if !t.mayGoOn(ctx, m) {
		return worker.Outcome{}, nil // nothing is owed before its hours begin
	}
	t.phase = phase
	t.Sees = func(now *movement.Record) bool { return t.sees(ctx, now) }
	switch phase.Name {
	case phaseMetadata:
		return t.single(ctx, phase, t.firstTemplates)
	case phaseIndices:
		return t.indices(ctx)
	case phaseTemplates:
		return t.single(ctx, phase, t.otherTemplates)
	case phaseItems:
		return worker.Single(ctx, s, m, t.key("phase", work.Safe(phase.Key())), t.plan.Policy, t.makeItems)
	case phaseDocuments:
		return t.withChanges(ctx, t.documents)
	case phaseRefresh:
		return worker.Single(ctx, s, m, t.key("phase", work.Safe(phase.Key())), t.plan.Policy, t.ready)
	case phaseAliases:
		if quiet, err := t.quiet(ctx); err != nil || !quiet {
			return worker.Outcome{}, err
		}
		return t.single(ctx, phase, t.aliases)
	case movement.RepairPhase:
		return t.repair(ctx, phase)
	case movement.RedrivePhase:
		return t.redrive(ctx, phase)
	case phaseVerify:
		return t.verify(ctx, phase)
	}
	return worker.Outcome{}, worker.Unable(fault.New(fault.Refused, "this version knows no phase %q of a migration", phase.Name))
}

// readsPart waits until another part of a side may be read for a comparison: what a process
// holds for them does not grow with its slots.
func (l *Lane) readsPart(ctx context.Context) (done func(), err error) {
	l.mu.Lock()
	if l.parts == nil {
		l.parts = make(chan struct{}, 2*compareAtOnce)
	}
	parts := l.parts
	l.mu.Unlock()
	select {
	case parts <- struct{}{}:
		return func() { <-parts }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// single lets one worker at a time do a phase; what do returns tells people what came of it.
func (t *turn) single(ctx context.Context, phase *movement.Phase, do func(context.Context) (string, error)) (worker.Outcome, error) {
	return worker.SingleTold(ctx, t.Slot, t.movement, t.key("phase", work.Safe(phase.Key())), t.plan.Policy, do)
}

// turn is one turn of one slot for one migration.
type turn struct {
	*sides
	worker.Slot
	movement *movement.Record
	lane     *Lane
	phase    *movement.Phase // nil at the end
}

func (t *turn) key(parts ...string) string {
	return work.Prefix(t.movement.ID) + strings.Join(parts, "/")
}

func (l *Lane) turn(ctx context.Context, s worker.Slot, m *movement.Record) (*turn, error) {
	l.mu.Lock()
	if l.open == nil {
		l.open = map[string]*sides{}
	}
	both, known := l.open[m.ID]
	if !known {
		both = &sides{opening: make(chan struct{}, 1), collapsing: make(chan struct{}, 1)}
		l.open[m.ID] = both
	}
	l.mu.Unlock()
	if !known {
		l.forgetEnded(ctx, s.Driver, m.ID)
	}
	select {
	case both.opening <- struct{}{}:
		defer func() { <-both.opening }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !both.opened { // or the next turn tries again
		if err := l.openBoth(ctx, both, m); err != nil {
			return nil, err
		}
		both.opened = true
	}
	return &turn{sides: both, Slot: s, movement: m, lane: l}, nil
}

// forgetEnded lets go of what was opened for other movements that have ended, or are gone: a process that lives long does
// not keep a repository for each.
func (l *Lane) forgetEnded(ctx context.Context, d *drive.Driver, but string) {
	l.mu.Lock()
	ids := slices.Sorted(maps.Keys(l.open))
	l.mu.Unlock()
	for _, id := range ids {
		if id == but {
			continue
		}
		m, err := d.Movement(ctx, id)
		if fault.Is(err, fault.NotFound) || err == nil && m.State.Ended() {
			l.mu.Lock()
			delete(l.open, id)
			l.mu.Unlock()
		}
	}
}

// ending is a turn of what ends a movement: the repository is not needed for that, and need
// not be there any more.
func (l *Lane) ending(ctx context.Context, s worker.Slot, m *movement.Record) (*turn, error) {
	plan, err := ReadPlan(m)
	if err != nil {
		return nil, err
	}
	target, err := l.Reach(ctx, plan.Target)
	return &turn{sides: &sides{plan: plan, target: target}, Slot: s, movement: m, lane: l}, ours(err)
}

// ours marks an error of opening what a movement needs that lies with this worker, if it does
// not lie with what is opened: another may have the credentials, or the mount, that it lacks.
func ours(err error) error {
	if drive.Passing(err) || fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Bug) || fault.Is(err, fault.Interrupted) {
		return err
	}
	return worker.Unable(err)
}

// gone is the error of a repository that can be read and lacks the snapshot: no worker gets on without it.
func (p *Plan) gone(err error) error {
	err = fault.New(fault.Refused, "snapshot %s, which is moved, is not in the repository %s any more: %s", p.Snapshot, p.Repository, err)
	return fault.WithNext(err, "reshelve movement abort, and migrate another snapshot; or bring that repository back to its place, then reshelve movement resume")
}

func (l *Lane) openBoth(ctx context.Context, both *sides, m *movement.Record) (err error) {
	if both.plan, err = ReadPlan(m); err != nil {
		return err
	}
	both.places, both.streams, both.ways = placesOf(&both.plan), both.plan.streams(), writeAliasesOf(&both.plan, label(m))
	if both.shapes, err = shapesOf(&both.plan); err != nil {
		return err
	}
	both.from, err = l.Open(ctx, both.plan.Repository)
	if err == nil {
		both.snapshot, err = both.from.Find(ctx, both.plan.SnapshotUUID)
		if fault.Is(err, fault.NotFound) {
			return both.plan.gone(err)
		}
	}
	if err == nil {
		both.target, err = l.Reach(ctx, both.plan.Target)
	}
	if err != nil {
		return ours(err)
	}
	var o cluster.WriterOptions
	if !strings.Contains(both.plan.Target, "://") { // a folder: what is on its way lies twice in one machine's memory
		o.MaxBytes, o.Concurrency = 1<<20, 4
	}
	both.writer, err = both.target.NewWriter(ctx, o)
	return err
}

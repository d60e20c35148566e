package control

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// MigrateRequest asks for the documents of a snapshot to be moved to a target. The zero value
// of a field is its default.
type MigrateRequest struct {
	Selection
	Target       string      // a URL, or a data folder, made when it is not there
	Rename       []string    // "old=new", names of indices
	Workers      int         // slots of this process; 2
	Policy       work.Policy // of leases
	ItemBytes    int64       // about, of one item; 1 GiB
	IntoExisting bool        // write into indices that hold documents
	NoVersions   bool        // send documents without the versions that the snapshot holds
	// Delta moves only what has changed since an earlier movement into the same indices; Since
	// says which: its ID, or the snapshot that it moved. "": the newest.
	Delta bool
	Since string
	// Transform are the steps that documents go through, in YAML or JSON; see package transform.
	Transform string
	// AllowFailures are how many documents may fail without holding the movement.
	AllowFailures int64
	Yes           bool // accept what loses meaning
	KeepWayBack   bool // stop before what cannot be undone
	Templates     TemplateRequest
	Metadata      migrate.Metadata
	// Planned is told the plan before anything starts; nil: nobody.
	Planned func(*Preview) `json:"-"`
	// Counting is called, while ids are counted, with how many documents of an index were read, of about so many. It may be nil.
	Counting func(index string, read, of int64) `json:"-"`
	Memory   int64                              // bytes to stay below when the target is a folder; 256 MiB
	// Limits are how fast, and when, it may be; throttle changes them while it runs.
	Limits  LimitsChange
	By, Why string
	Logger  *slog.Logger

	// FromCluster is a cluster of which a snapshot is taken first, into Repository, which it
	// knows, or is told of, as SnapshotRepository; "": the snapshot is there.
	FromCluster        string
	SnapshotRepository string

	// Coordinate is where the movement is recorded: "local:DIR", a URL of PostgreSQL, or, by
	// "auto", "target" and "", the target.
	Coordinate string
	NoWait     bool // plan and start it, and leave the work to workers

	own      string   // the movement whose plan is completed
	planned  *planned // what planMigration has made of the request; nil: it is yet to
	compares bool     // nothing is moved: see CompareRequest
	// admit looks at the target before the place of the records is made elsewhere. Its error ends the opening. It may be nil.
	admit func(*side) error
	// stored is called when the movement is on record, before it starts; nil: nobody is.
	stored func(ctx context.Context, d *drive.Driver, id string) error
}

// Movement is a movement as people and programs read it.
type Movement struct {
	movement.Record
	Progress  *migrate.Progress `json:"progress,omitempty"`  // of a migration
	Reshaping *Reshaping        `json:"reshaping,omitempty"` // of a split or a merge
	// Idle is why nobody is seen to work at it, though it has something to do; "" while somebody does, or that is not known.
	Idle string `json:"idle,omitempty"`
}

// Differences are how many documents the last comparison has found to differ.
func (m *Movement) Differences() (n int64) {
	if m.Progress != nil {
		for _, v := range m.Progress.Verified {
			n += v.Differences()
		}
	}
	if r := m.Reshaping; r != nil {
		way := &r.Way
		if r.Back != nil { // the last
			way = r.Back
		}
		n += way.Cloned.Differences() + way.Compared.Differences()
	}
	return n
}

// Differs tells whether the last comparison has found differences, also where nobody has counted in how many documents.
func (m *Movement) Differs() bool {
	return m.Differences() > 0 || m.Progress != nil && slices.ContainsFunc(m.Progress.Verified, func(v migrate.Verified) bool { return v.Differs() })
}

// Migrate plans the migration, starts it and works for it until it has ended or holds. Told
// is called from time to time with how far it is.
func (c *Control) Migrate(ctx context.Context, req MigrateRequest, told func(*Movement)) (done *Movement, err error) {
	if err := c.beforeMaking(ctx, &req); err != nil {
		return nil, err
	}
	side, err := c.sideOf(ctx, req.Target, &req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, side.leave()) }()
	d, id, err := c.begin(ctx, side, &req)
	if err != nil {
		return nil, err
	}
	if req.NoWait {
		return movementOf(ctx, d, side, id, req.Place())
	}
	return c.work(ctx, d, side, id, &req, told)
}

// beforeMaking refuses, where the target is a folder that is yet to be made, what would be
// refused after that: no empty folder stays behind.
func (c *Control) beforeMaking(ctx context.Context, req *MigrateRequest) error {
	if _, err := os.Stat(req.Target); !req.folder() || !os.IsNotExist(err) || checkFolder(req.Target, true) != nil {
		return nil
	}
	if req.FromCluster == "" {
		planned, err := c.planMigration(ctx, req)
		if err != nil {
			return err
		}
		req.planned = planned // what is read of the snapshot is read once
	}
	preview, err := c.Preview(ctx, *req)
	if err == nil && preview.refusal() != nil && req.Planned != nil {
		req.Planned(preview)
	}
	if err == nil {
		err = preview.refusal()
	}
	return err
}

// begin plans a migration into side, and starts it.
func (c *Control) begin(ctx context.Context, side *side, req *MigrateRequest) (d *drive.Driver, id string, err error) {
	limits, err := migrate.Limits{}.With(req.Limits)
	if err != nil {
		return nil, "", err
	}
	preview, err := c.prepare(ctx, req, side)
	if err == nil && req.Planned != nil {
		req.Planned(preview)
	}
	if err == nil {
		err = preview.refusal()
	}
	if err != nil {
		return nil, "", err
	}
	plan := preview.Plan
	body, err := json.Marshal(plan)
	if err != nil {
		return nil, "", fault.Wrap(fault.Bug, err)
	}
	d = drive.New(side.coord, plan.Policy.ClockTolerance)
	now, err := d.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	m := movement.Record{ID: newID(now), Kind: movement.Migrate, State: movement.Planned, Plan: body, Phases: phases(plan),
		KeepWayBack: req.KeepWayBack, Rate: limits.JSON(), Created: now}
	ctx, done := unhurried(ctx)
	defer done()
	if err := d.Plan(ctx, m); err != nil {
		return nil, "", err
	}
	if err := c.claimFor(ctx, d, side, req, plan, m.ID); err != nil {
		return nil, "", errors.Join(err, d.Forget(ctx, m.ID))
	}
	if req.stored != nil {
		if err := req.stored(ctx, d, m.ID); err != nil {
			return nil, "", errors.Join(err, d.Forget(ctx, m.ID))
		}
	}
	if _, _, err := d.Apply(ctx, m.ID, movement.Event{Verb: movement.Start, By: req.By, Why: req.Why}); err != nil {
		return nil, "", err
	}
	return d, m.ID, nil
}

// unhurried is a context for what must not be left half done: the end of ctx reaches it 10 s
// later.
func unhurried(ctx context.Context) (context.Context, func()) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(10*time.Second, end) })
	return late, func() { stop(); end() }
}

// work works for one movement and tells of it, until it ends or holds.
func (c *Control) work(ctx context.Context, d *drive.Driver, side *side, id string, req *MigrateRequest, told func(*Movement)) (*Movement, error) {
	l := &lookout{d: d, side: side, id: id, at: req.Place()}
	telling, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for l.pauseWithin(telling) {
			if m, err := l.look(telling); err == nil {
				told(m)
			}
		}
	}()
	err := worker.Run(ctx, d, c.asked(req).lanes(side), worker.Options{
		Name: workerName(), Slots: max(req.Workers, 1), Movement: id, Logger: req.Logger, Pause: 200 * time.Millisecond,
	})
	stop()
	<-stopped
	if err != nil {
		return nil, err
	}
	m, err := l.look(context.WithoutCancel(ctx))
	if err == nil {
		told(m)
	}
	return m, err
}

// movementOf reads a movement that at records, with its progress.
func movementOf(ctx context.Context, d *drive.Driver, side *side, id, at string) (*Movement, error) {
	r, err := d.Shown(ctx, id)
	if err != nil {
		return nil, err
	}
	r.Next = Orders(r.Next, id, at)
	m := &Movement{Record: r}
	if r.State.Unreadable() {
		return m, nil
	}
	if Reshapes(r.Kind) {
		m.Reshaping, err = side.reshaping(ctx, d, &r)
		return m, err
	}
	if len(r.Report) > 0 && json.Unmarshal(r.Report, &m.Progress) == nil {
		return m, nil
	}
	m.Progress, err = migrate.ProgressOf(ctx, d, &r)
	return m, err
}

func (req *MigrateRequest) setDefaults() {
	if req.Policy == (work.Policy{}) {
		req.Policy = work.Default
	}
	if req.ItemBytes == 0 {
		req.ItemBytes = 1 << 30
	}
}

// newID is a movement's: when it was planned, and some chance.
func newID(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
}

// workerName is unique among processes.
func workerName() string {
	host, _ := os.Hostname()
	return host + "-" + strings.ToLower(rand.Text()[:8])
}

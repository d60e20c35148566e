package control

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// MovementService gives a user interface the movements of one place. The one of a served store also takes
// orders, begins movements into the store, and works for those that it began, in this process and
// after a restart; other workers may join. Safe for concurrent use.
type MovementService struct {
	control *Control
	d       *drive.Driver
	side    *side  // of a served store; nil: it takes no orders
	at      string // what plans call that store
	logger  *slog.Logger

	mu      sync.Mutex
	looks   map[string]*cachedLook
	busy    map[string]bool       // movements that this process works for
	barred  map[string]barred     // those that it could not work for
	upkeeps map[[2]string]*upkeep // the last of each index and verb
	tasks   sync.WaitGroup
	ctx     context.Context // ends with the service; nil: it has no store
	stop    context.CancelFunc
	// attending makes it work for what it has begun; more than once is once.
	attending func()
	wake      chan struct{} // a movement has been begun
}

// serviceSlots are those that a served store gives to each movement that it began.
const serviceSlots = 2

// TakesOrders reports whether the service takes orders; else it only shows movements.
func (k *MovementService) TakesOrders() bool { return k.side != nil }

// newMovementService makes a service that only shows the movements of a place.
func (c *Control) newMovementService(records coord.Store) *MovementService {
	return &MovementService{control: c, d: drive.New(records, work.Default.ClockTolerance), looks: map[string]*cachedLook{}, busy: map[string]bool{}, barred: map[string]barred{}, stop: func() {}, wake: make(chan struct{}, 1)}
}

// serveMovements makes the service of an open folder, which is reached by dial. It works after attending was
// called, or when it has begun a movement. Close ends its work.
func (c *Control) serveMovements(opened *openedFolder, dir string, dial func(context.Context) (net.Conn, error), logger *slog.Logger) *MovementService {
	if c.permits == nil || c.permits.folders { // the orders of a service do not come from the operator of its process
		c, _ = c.bound(Allowed{}, "reshelve serve", false) // nothing in it can be malformed
	}
	k := c.newMovementService(opened.folder.Coord)
	k.at, k.logger = dir, logger
	transport := over(dial)
	k.side = &side{client: cluster.Via(transport, dir), coord: opened.folder.Coord, service: k, lane: opened.lane}
	ctx, stop := context.WithCancel(context.Background())
	k.ctx, k.stop = ctx, stop
	k.attending = sync.OnceFunc(func() {
		k.tasks.Go(func() {
			defer transport.CloseIdleConnections()
			k.attend(ctx)
		})
	})
	return k
}

// Close gives all leases back and ends the work.
func (k *MovementService) Close() {
	k.stop()
	k.tasks.Wait()
}

// hostKey is that of the record which says that the served store works for the movement. It
// stays until the end of the movement has been told, which the movement's other records do not.
func hostKey(id string) string { return worker.ClosingKey(id) + "/host" }

// attend works for every movement that the store began and that owes something, whoever has
// resumed it, until ctx ends.
func (k *MovementService) attend(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	if err := worker.TidyEnded(ctx, k.d); err != nil && ctx.Err() == nil {
		k.logger.Warn("pieces of movements that have ended are left until the next start", "error", err)
	}
	for said := ""; ctx.Err() == nil; k.rest(ctx) {
		all, err := k.d.Movements(ctx)
		if err != nil {
			continue
		}
		if err := worker.Tidy(ctx, k.d); err == nil {
			said = ""
		} else if ctx.Err() == nil && err.Error() != said { // it is tried again each second, and told once
			said = err.Error()
			k.logger.Warn("records of movements that have ended are left for now", "error", err, "next", fault.Next(err))
		}
		for i := range all {
			id := all[i].ID
			if len(all[i].Owed()) == 0 {
				k.mind(ctx, &all[i])
			}
			if len(all[i].Owed()) == 0 || !k.hosts(ctx, &all[i]) || !k.take(&all[i]) {
				continue
			}
			working.Go(func() {
				err := worker.Run(ctx, k.d, k.control.lanes(k.side), worker.Options{
					Name: workerName(), Slots: serviceSlots, Movement: id, Logger: k.logger, Pause: 200 * time.Millisecond})
				k.giveBack(&all[i], worker.IsUnable(err))
				if err != nil && ctx.Err() == nil {
					k.logger.Warn("the work for a movement ended", "movement", id, "error", err)
				}
			})
		}
	}
}

// mind lets the lane of splits and merges look after a movement that owes nothing.
func (k *MovementService) mind(ctx context.Context, m *movement.Record) {
	if k.side.lane == nil || !Reshapes(m.Kind) || m.State.Ended() {
		return
	}
	if err := k.side.lane.Mind(ctx, k.d, m); err != nil && ctx.Err() == nil {
		k.logger.Warn("a movement that rests was not looked after", "movement", m.ID, "error", err)
	}
}

// rest waits for a second, or until a movement has been begun.
func (k *MovementService) rest(ctx context.Context) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.wake:
	case <-ctx.Done():
	}
}

// hosts tells whether the served store works for a movement. Nobody else reshapes its indices,
// so it does so for those that were cut off before they had that record.
func (k *MovementService) hosts(ctx context.Context, m *movement.Record) bool {
	_, err := k.d.Store().Get(ctx, hostKey(m.ID))
	return err == nil || fault.Is(err, fault.NotFound) && Reshapes(m.Kind) && k.side.lane != nil
}

// barred is a movement that this process could not work for: it tries again after a while, or when something has happened
// to the movement.
type barred struct {
	events int64
	until  time.Time
}

// barredFor is how long it waits.
const barredFor = 30 * time.Second

// take marks a movement as one that this process works for; false when it is, or could not be a moment ago.
func (k *MovementService) take(m *movement.Record) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	bar := k.barred[m.ID]
	if k.busy[m.ID] || bar.events == m.Events && time.Now().Before(bar.until) {
		return false
	}
	k.busy[m.ID] = true
	delete(k.barred, m.ID)
	return true
}

func (k *MovementService) giveBack(m *movement.Record, unable bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.busy, m.ID)
	if unable {
		k.barred[m.ID] = barred{m.Events, time.Now().Add(barredFor)}
	}
}

// Begin plans a migration into the served store and starts it; the target of the request is
// the store. It does not wait for the work.
func (k *MovementService) Begin(ctx context.Context, req MigrateRequest) (*Movement, error) {
	req.Target, req.Logger = k.at, k.logger
	req.stored = func(ctx context.Context, d *drive.Driver, id string) error {
		return d.Make(ctx, hostKey(id), struct{}{})
	}
	_, id, err := k.control.begin(ctx, k.side, &req)
	if err != nil {
		return nil, err
	}
	k.attending()
	return k.Look(ctx, id)
}

// Movements are all, by ID, without their progress.
func (k *MovementService) Movements(ctx context.Context) ([]movement.Record, error) {
	return movementsAt(ctx, k.d, k.at)
}

// cachedLook is the newest look at one movement.
type cachedLook struct {
	mu sync.Mutex
	lookout
	at  time.Time
	got *Movement
}

// Look is one movement with its progress, which may be some seconds old where a look is
// expensive; not so its state.
func (k *MovementService) Look(ctx context.Context, id string) (*Movement, error) {
	r, err := k.d.Shown(ctx, id)
	if err != nil {
		return nil, k.ordered(err, id)
	}
	k.mu.Lock()
	seen := k.looks[id]
	if seen == nil {
		seen = &cachedLook{lookout: lookout{d: k.d, side: k.side, id: id, at: k.at}}
		k.looks[id] = seen
	}
	if r.State.Ended() || r.State.Unreadable() {
		delete(k.looks, id)
	}
	k.mu.Unlock()
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if seen.got != nil && seen.got.Events == r.Events && time.Since(seen.at) < pauseAfter(seen.took) {
		return seen.got, nil
	}
	m, err := seen.look(ctx)
	if err == nil {
		seen.got, seen.at = m, time.Now()
	}
	return m, err
}

// ordered is the function of that name for clients by HTTP.
func (k *MovementService) ordered(err error, id string) error {
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.WithNext(err, "GET /_reshelve/movements lists those that are there")
	case k.at == "": // it takes no orders
		return err
	}
	return ordered(err, id, k.at)
}

// Tell lets a verb happen to a movement. It does not wait for what workers then do.
func (k *MovementService) Tell(ctx context.Context, o Order) (*Movement, error) {
	id, err := k.control.carryOut(ctx, k.d, k.side, &o, func(id string) error { return k.d.Make(ctx, hostKey(id), struct{}{}) })
	if err != nil {
		return nil, k.ordered(err, o.ID)
	}
	if id != o.ID {
		k.attending()
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
	return k.Look(ctx, id)
}

// SetAside takes the damaged record of a movement out of the way; see [Control.SetAside].
func (k *MovementService) SetAside(ctx context.Context, id string) (*SetAside, error) {
	s, err := setAside(ctx, k.d, id)
	return s, k.ordered(err, id)
}

// Throttle changes the limits of a movement; see [Control.Throttle].
func (k *MovementService) Throttle(ctx context.Context, o Order, change LimitsChange) (*Movement, error) {
	o.At = k.at
	m, err := throttle(ctx, k.d, k.side, o, change)
	return m, k.ordered(err, o.ID)
}

// LimitsOf are the limits that a plain change asks for: nil stays, and "" are no hours.
func LimitsOf(documents, bytes *float64, hours *string) (c LimitsChange, err error) {
	c = LimitsChange{DocumentsPerSecond: documents, BytesPerSecond: bytes}
	if hours != nil {
		c.Hours = &migrate.Hours{}
		if *hours != "" {
			*c.Hours, err = ParseHours(*hours)
		}
	}
	return c, err
}

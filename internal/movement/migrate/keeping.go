package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// saveEvery is how often at most a comparison is written down: it may be some megabytes.
const saveEvery = 30 * time.Second

// sofar is how far a comparison is, beside what it has found.
type sofar struct {
	Scan      cluster.ScanState `json:"scan"`
	AsOf      time.Time         `json:"asOf"`
	Marks     [passes][]mark    `json:"marks"` // of the pass that goes on
	Read      int64             `json:"read"`  // documents, of all sides in all passes
	ReadFound int64             `json:"readFound"`
	Steps     transform.Tally   `json:"steps,omitempty"` // of the first pass: the others read some documents again
	Mended    Mended            `json:"mended"`
	Extra     Mended            `json:"extra,omitzero"`  // by the scan that deletes what is too many: apart, since it may begin again
	Begun     int               `json:"begun,omitempty"` // how often that has begun again
	// Absent and Unrefreshed are those of Verified.
	Absent      bool `json:"absent,omitempty"`
	Unrefreshed bool `json:"unrefreshed,omitempty"`
	// Deleting: more was perhaps deleted than Extra counts, which whoever goes on in the same scan counts again.
	Deleting bool `json:"deleting,omitempty"`
	// UUID is that of Verified, and Sights are those of check.
	UUID   string   `json:"uuid,omitempty"`
	Sights []string `json:"sights,omitempty"`
}

// What is read in parts has marks: the sides, and before a repair of a delta what the older snapshot held.
const (
	known  = reconcile.Sides
	passes = int(known) + 1
)

// written is what is written down of a comparison.
type written struct {
	sofar
	Run []byte `json:"run"`
	Was []byte `json:"was,omitempty"`
}

// save writes down how far the comparison is: in a record of its own, which nobody else
// writes, and only then in the piece, which only the holder of its lease can change. So the
// piece always names a record that is whole, whoever dies or sleeps in between.
func (c *comparing) save(ctx context.Context) error {
	c.saves <- struct{}{}
	defer func() { <-c.saves }()
	now, changed, err := c.snap()
	if err != nil || !changed {
		return err
	}
	if err := c.write(ctx, now); err != nil {
		c.mu.Lock()
		c.dirty = true
		c.mu.Unlock()
		return err
	}
	return nil
}

// snap is how far the comparison is at one instant; changed tells whether that is further than
// what was written down last.
func (c *comparing) snap() (now written, changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty || c.unkept { // the pass that has ended is written down with what it has seen
		return now, false, nil
	}
	now.sofar = c.sofar
	now.Steps = slices.Clone(now.Steps)
	for side := range now.Marks {
		now.Marks[side] = append([]mark(nil), now.Marks[side]...)
	}
	if c.scan != nil {
		now.Scan = c.scan.State()
	}
	now.Was = appendWas(nil, c.was)
	now.Run, err = c.run.AppendBinary(nil)
	c.dirty = err != nil
	return now, true, err
}

func (c *comparing) write(ctx context.Context, now written) error {
	c.saved++
	name := fmt.Sprintf("%s~%d", strings.ReplaceAll(work.Safe(c.Worker), "~", "%7e"), c.saved)
	if err := c.Driver.Put(ctx, c.stateKey(name), now); err != nil {
		return err
	}
	before := c.held.Piece().Kept
	err := c.held.Update(func(piece check, at time.Time) (check, error) {
		lease, err := piece.Beat(c.Worker, at, now.Read > piece.Read)
		piece.Lease, piece.Kept, piece.Read = lease, name, max(piece.Read, now.Read)
		return piece, err
	})
	if err != nil {
		return err
	}
	if before == "" {
		return nil
	}
	return c.Driver.Remove(ctx, c.stateKey(before))
}

// stateKey is the key of a record of how far the piece is; "" is the prefix of them.
func (c *comparing) stateKey(name string) string { return c.key("state", c.name, name) }

// load reads how far an attempt before has come; false when there was none, or nothing of it
// can be read. What nobody names any more is removed.
func (c *comparing) load(ctx context.Context) (there bool, err error) {
	kept := c.held.Piece().Kept
	records, err := drive.Pieces[json.RawMessage](ctx, c.Driver, c.stateKey(""))
	for name := range records {
		if err == nil && name != kept {
			err = c.Driver.Remove(ctx, c.stateKey(name))
		}
	}
	if err != nil {
		return false, err
	}
	if kept == "" {
		return false, nil
	}
	_, number, _ := strings.Cut(kept, "~")
	c.saved, _ = strconv.Atoi(number) // the next is another record, also of the same worker
	before, err := drive.Read[written](ctx, c.Driver, c.stateKey(kept))
	if err == nil {
		c.run, err = reconcile.ReadRun(before.Run)
	}
	if err == nil {
		c.was, err = readWas(before.Was)
	}
	if fault.Is(err, fault.Corrupt) || fault.Is(err, fault.NotFound) {
		c.Logger.Warn("how far a comparison was cannot be read, and it begins anew", "worker", c.Worker, "record", c.stateKey(kept), "error", err)
		return false, nil
	}
	c.sofar = before.sofar
	return err == nil, err
}

// keep does the work, and meanwhile writes down how far it is, and keeps the target's point in
// time alive. What was done is written down at the end too, if the lease lasts.
func (c *comparing) keep(ctx context.Context, do func(context.Context) error) error {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		save := time.NewTicker(max(min(saveEvery, c.held.Checkpoint()/4), time.Millisecond))
		defer save.Stop()
		renew := time.NewTicker(pointLives / 4)
		defer renew.Stop()
		for {
			select {
			case <-ended:
				return
			case <-save.C:
				if err := c.save(ctx); ctx.Err() == nil { // else it is saved below
					c.tell(err)
				}
			case <-renew.C:
				if scan := c.open(); scan != nil {
					_ = scan.Renew(ctx) // whoever reads is told
				}
			}
		}
	}()
	err := do(ctx)
	close(ended)
	<-stopped
	if err != nil && c.held.Lost() == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drive.StopWithin/2)
		defer cancel()
		c.tell(c.save(ctx))
	}
	return err
}

// tell says that a comparison could not be written down: it goes on, and whoever takes it over
// begins earlier.
func (c *comparing) tell(err error) {
	if err != nil && c.held.Lost() == nil {
		c.Logger.Warn("how far a comparison is could not be written down", "worker", c.Worker, "index", c.held.Piece().Target, "error", err)
	}
}

// forget removes what was written down; if that fails, the end of the movement does.
func (c *comparing) forget(ctx context.Context) {
	_ = c.Driver.RemoveAll(ctx, c.stateKey(""))
}

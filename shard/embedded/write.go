package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/placement"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/shard"
)

// A group is what is written under one permit, in one batch.
const (
	maxGroupBytes = 1 << 20 // of ids, routing values and sources
	maxGroupOps   = 4096
)

// group is how many of the first ops go under one permit: at least one.
func group(ops []shard.Op) int {
	bytes := 0
	for i := range ops {
		bytes += opBytes(&ops[i])
		if i > 0 && (bytes > maxGroupBytes || i == maxGroupOps) {
			return i
		}
	}
	return len(ops)
}

func opBytes(op *shard.Op) int { return len(op.ID) + len(op.Routing) + len(op.Source) }

// Write applies each group at once. It holds a permit while a group is applied, not
// while it is synced: a fence waits for the mark by itself.
func (s *local) Write(ctx context.Context, epoch int64, ops []shard.Op) []shard.Result {
	results := make([]shard.Result, len(ops))
	done, err := s.begin(epoch)
	if err != nil {
		return refuse(results, err)
	}
	defer done()
	var unsynced []*applied
	for from := 0; from < len(ops); {
		to := from + group(ops[from:])
		if s.gate.fenced() {
			s.settle(ctx, unsynced) // nobody else would
			unsynced = nil
		}
		a, err := s.writeGroup(ctx, epoch, ops[from:to], results[from:to])
		if err != nil {
			refuse(results[from:], err)
			break
		}
		unsynced = append(unsynced, a)
		from = to
	}
	s.settle(ctx, unsynced)
	return results
}

func refuse(results []shard.Result, err error) []shard.Result {
	for i := range results {
		results[i] = shard.Result{Err: err}
	}
	return results
}

// applied is a group that is in the truth and may not be synced yet.
type applied struct {
	db      *store
	batch   *pebble.Batch // nil: nothing was applied
	last    int64         // what the answers depend on: the last number given, or met by a conflict
	results []shard.Result
}

// writeGroup applies one group under a permit. With an error nothing was.
func (s *local) writeGroup(ctx context.Context, epoch int64, ops []shard.Op, results []shard.Result) (*applied, error) {
	size := batchSize(ops)
	if err := s.engine.writable(ctx, size); err != nil {
		return nil, err
	}
	if _, err := s.gate.enter(ctx, epoch); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	placed := s.gate.now()
	if placed.Epoch != epoch { // a Reload came between
		return nil, &shard.Stale{ID: s.id, Asked: epoch, Epoch: placed.Epoch}
	}
	db, done, err := s.engine.use()
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.rows(db, true)
	if err != nil {
		return nil, s.failure(err)
	}
	defer rows.Close()
	c := commit{rows: rows, shard: s, db: db, placed: placed, state: s.state, met: &s.met, changes: s.met.changes[:0], last: -1}
	c.batch = db.NewBatchWithSize(size)
	s.met.reset(len(ops))
	for i := range ops {
		results[i] = c.apply(&ops[i])
	}
	a := &applied{db: db, last: c.last, results: results}
	s.met.changes = c.changes
	if c.count == 0 {
		return a, c.batch.Close()
	}
	if err := c.finish(s.engine.options.Now()); err != nil {
		return nil, s.failure(err)
	}
	s.engine.wrote()
	s.state = c.state
	a.batch = c.batch
	s.ops.index.Add(c.puts)
	s.ops.remove.Add(int64(c.count) - c.puts)
	return a, nil
}

// batchSize is about what the batch of ops takes, so that it grows once.
func batchSize(ops []shard.Op) int {
	size := 256
	for i := range ops {
		size += opBytes(&ops[i]) + len(ops[i].ID) + 64
	}
	return size
}

// settle waits until groups are synced and moves the mark. Operations of a group
// that is not are Unknown; conflicts with rows that are not are Unavailable.
func (s *local) settle(ctx context.Context, groups []*applied) {
	for _, a := range groups {
		var err error
		if a.batch != nil {
			if err = a.db.await(a.batch); err == nil {
				s.mark.reach(a.last)
			}
		} else {
			err = s.mark.await(ctx, a.last)
		}
		if err != nil {
			s.doubt(a.results, err)
		}
	}
}

// doubt takes back what a failed sync makes uncertain.
func (s *local) doubt(results []shard.Result, cause error) {
	for i := range results {
		var conflict *shard.Conflict
		switch r := &results[i]; {
		case r.Err == nil:
			*r = shard.Result{Err: &shard.Unknown{Cause: s.failure(cause)}}
		case errors.As(r.Err, &conflict):
			*r = shard.Result{Err: fault.Wrap(fault.Unavailable, s.failure(cause))}
		}
	}
}

// commit is one group in the making. The shard's mutex is held.
type commit struct {
	shard   *local
	db      *store
	rows    *pebble.Iterator // as they are before the group
	placed  placement.Shard
	batch   *pebble.Batch
	met     *overlay
	state   state
	changes []byte
	count   int
	puts    int64
	last    int64
}

// apply decides one operation and puts its row into the batch.
func (c *commit) apply(op *shard.Op) shard.Result {
	if !c.placed.Range.Contains(op.Key) {
		return shard.Result{Err: &shard.Stale{ID: c.shard.id, Asked: c.placed.Epoch, Epoch: c.placed.Epoch}}
	}
	old, err := c.meet(op)
	if err != nil {
		return shard.Result{Err: c.shard.failure(err)}
	}
	version, outcome, refused := shard.Decide(op, old.Met)
	if refused != nil {
		c.last = max(c.last, old.SeqNo)
		return shard.Result{Versions: old.Versions, Present: old.Present, Err: refused}
	}
	if version < 0 {
		return shard.Result{Err: fault.New(fault.Refused, "document %q: version %d is negative", op.ID, version)}
	}
	c.state.last++
	c.last = c.state.last
	c.count++
	change := shard.Put
	h := head{deleted: op.Delete, routing: len(op.Routing),
		Versions: document.Versions{Version: version, SeqNo: c.state.last, PrimaryTerm: c.placed.Term}}
	if op.Delete {
		change = shard.Delete
	} else {
		c.puts++
	}
	row := c.put(op, h)
	if old.Known {
		_ = c.batch.Delete(append(appendName(c.met.key[:0], c.shard.id.Index, op.Key, op.ID), old.key[:old.size]...), nil)
	}
	c.state.tally(old, -1)
	c.state.tally(row, 1)
	c.changes = appendChange(c.changes, op.Key, op.ID, change, old.SeqNo)
	c.met.set(op, row)
	return shard.Result{Versions: row.Versions, Outcome: outcome, Present: old.Present}
}

// tally counts a row n times.
func (s *state) tally(row met, n int64) {
	switch {
	case !row.Known:
	case row.Present:
		s.docs += n
		s.bytes += n * row.bytes
	default:
		s.tombstones += n
	}
}

// put writes the row into the batch, without a copy in between.
func (c *commit) put(op *shard.Op, h head) met {
	row := met{Met: shard.Met{Known: true, Present: !op.Delete, Versions: h.Versions}, bytes: int64(opBytes(op))}
	encoded := appendHead(row.key[:0], h)
	row.size = len(encoded)
	source := op.Source
	if op.Delete {
		source = nil
	}
	d := c.batch.SetDeferred(rowPrefix+len(op.ID)+1+len(encoded), len(op.Routing)+len(source))
	_ = append(appendName(d.Key[:0], c.shard.id.Index, op.Key, op.ID), encoded...)
	copy(d.Value[copy(d.Value, op.Routing):], source)
	_ = d.Finish() // fails on indexed batches alone
	return row
}

// finish adds the run and the state and applies the batch, without waiting for
// the sync.
func (c *commit) finish(now time.Time) error {
	first := c.state.last - int64(c.count) + 1
	c.state.term = c.placed.Term
	head := appendRun(nil, c.placed.Term, now, c.count)
	d := c.batch.SetDeferred(runPrefix+1, len(head)+len(c.changes))
	appendRunKey(d.Key[:0], c.shard.id, first)
	copy(d.Value[copy(d.Value, head):], c.changes)
	_ = d.Finish()
	if err := c.batch.Set(stateKey(c.shard.id), appendState(nil, &c.state), nil); err != nil {
		return err
	}
	return c.db.apply(c.batch)
}

// meet is what an operation meets: a row of this group, or one of the truth.
func (c *commit) meet(op *shard.Op) (met, error) {
	if op.AutoID {
		return nothing, nil
	}
	if row, ok := c.met.get(op); ok {
		return row, nil
	}
	c.met.key = appendName(c.met.key[:0], c.shard.id.Index, op.Key, op.ID)
	if !c.rows.SeekPrefixGE(c.met.key) {
		return nothing, c.rows.Error()
	}
	_, id, h, err := splitRow(c.rows.Key())
	if err != nil {
		return nothing, err
	}
	return rowMet(c.rows, len(id), h), nil
}

// met is a row as writes meet it.
type met struct {
	shard.Met
	bytes int64         // that it counts for, when present: of id, routing and source
	key   [maxHead]byte // its head, as it is stored
	size  int           // of the head
}

// rowMet is the row under an iterator. Its value is not read.
func rowMet(rows *pebble.Iterator, id int, h head) met {
	lazy := rows.LazyValue()
	row := met{Met: shard.Met{Known: true, Present: !h.deleted, Versions: h.Versions}, bytes: int64(id + lazy.Len())}
	row.size = copy(row.key[:], rows.Key()[rowPrefix+id+1:])
	return row
}

var nothing = met{Met: shard.Met{Versions: document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}}}

// overlay is what the group in the making has written, and buffers that groups of
// a shard use again.
type overlay struct {
	rows    map[overlayKey]met
	changes []byte
	key     []byte
	single  bool // a group of one op meets nothing of its own
}

type overlayKey struct {
	key routing.Key
	id  string
}

// maxKept is how much of the buffers is kept from group to group.
const maxKept = 64 << 10

func (o *overlay) reset(ops int) {
	if o.rows == nil || len(o.rows) > 1024 {
		o.rows = map[overlayKey]met{}
	}
	clear(o.rows)
	if cap(o.changes) > maxKept {
		o.changes = nil
	}
	o.single = ops == 1
}

func (o *overlay) get(op *shard.Op) (met, bool) {
	if o.single {
		return met{}, false
	}
	row, ok := o.rows[overlayKey{op.Key, op.ID}]
	return row, ok
}

func (o *overlay) set(op *shard.Op, row met) {
	if !o.single {
		o.rows[overlayKey{op.Key, op.ID}] = row
	}
}

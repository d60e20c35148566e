package embedded

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

func init() {
	retryEvery, refuseEvery, retryAfter = time.Millisecond, time.Millisecond, time.Millisecond
}

// SetTiers gives engines that are opened from now on tiers for little data, until it is
// undone.
func SetTiers(fanIn int, early, held int64) (undo func()) {
	was := tiersOf
	tiersOf = func(Options) tiers { return tiers{fanIn: fanIn, early: early, builder: 4000, recent: 5000, held: held} }
	return func() { tiersOf = was }
}

// SetCommit gives the time after which something is committed, until it is undone.
func SetCommit(after time.Duration) (undo func()) {
	was := commitAfter
	commitAfter = after
	return func() { commitAfter = was }
}

// SetRest gives the time without a write after which a shard is at rest, until it is undone.
func SetRest(after time.Duration) (undo func()) {
	was := restAfter
	restAfter = after
	return func() { restAfter = was }
}

// Balanced reports whether entries that show so many documents are merged at rest.
func Balanced(shown ...int) bool {
	var entries []*entry
	for _, n := range shown {
		entries = append(entries, &entry{shown: n})
	}
	return balanced(entries)
}

// Committed is up to where the manifest of an open shard tells what is found.
func Committed(s shard.Shard) int64 { return s.(*local).segments.committed.Load() }

// Files is how many files are mapped.
func (e *Engine) Files() int {
	e.files.mu.Lock()
	defer e.files.mu.Unlock()
	return len(e.files.open)
}

// Strays are the files of an index that no manifest names, as sweeping sees them.
func (e *Engine) Strays(index uint32) (strays []string, err error) {
	found, err := e.files.list()
	if err != nil {
		return nil, err
	}
	db, done, err := e.use()
	if err != nil {
		return nil, nil // it is being opened again
	}
	defer done()
	names, err := named(db, index)
	for _, name := range found[index] {
		if !names[name] {
			strays = append(strays, name)
		}
	}
	return strays, err
}

// Overlaps is how many files wait to be merged, one above the other.
func (e *Engine) Overlaps() int { return int(e.db.Metrics().Levels[0].Sublevels) }

// StageNothing stages a shard that holds nothing, as what others become.
func (e *Engine) StageNothing(index uint32, from []uint32, number uint32) error {
	return e.storeStaged(index, from, []*staging{{Incarnation: shard.Incarnation{Number: number, Term: 1}, state: state{last: -1, pruned: -1}}})
}

// Used is how many bytes the engine takes on disk, now.
func (e *Engine) Used() int64 { return e.used() }

// SetManifest replaces the manifest of a shard that is closed.
func (e *Engine) SetManifest(id shard.ID, value []byte) error {
	return e.db.Set(manifestKey(id), value, pebble.Sync)
}

// ManifestOf is one of no entries.
func ManifestOf(committed int64) []byte {
	return encodeManifest(&manifest{committed: committed})
}

// LendOften lets Shed lend the slot of merges after each byte that it writes.
func LendOften() (undo func()) {
	was := lentAfter
	lentAfter = 1
	return func() { lentAfter = was }
}

// Commit writes what is in memory alone, now.
func Commit(s shard.Shard) error {
	_, err := s.(*local).segments.commit(context.Background())
	return err
}

// MergeFiles merges all files of a shard into one.
func MergeFiles(s shard.Shard) error {
	_, err := s.(*local).segments.mergeSome(context.Background(), nil, (*stack).files)
	return err
}

// MergeFilesUnstored merges them, and cannot store the manifest.
func MergeFilesUnstored(s shard.Shard) error {
	x := s.(*local).segments
	base := x.retained()
	defer base.release()
	r, err := x.rewrite(context.Background(), base.files(), true)
	if err != nil {
		return err
	}
	return x.inTurn(context.Background(), r.file, func() error { return x.replace(r) })
}

// HoldCounting keeps rows from being counted behind the scenes.
func (e *Engine) HoldCounting() (undo func()) {
	e.counting <- struct{}{}
	return func() { <-e.counting }
}

// Fail is a failure of the disk, after which the folder is opened again.
func (e *Engine) Fail(cause error) { e.failing(cause) }

// Counted is the range in which a shard counts.
func Counted(s shard.Shard) routing.Range {
	l := s.(*local)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.within
}

// InRAM is how many bytes of segments are in memory alone.
func (e *Engine) InRAM() int64 { return e.inRAM.Load() }

// SpoilState damages the stored state of a shard until mend is called.
func (e *Engine) SpoilState(id shard.ID) (mend func() error, err error) {
	was, err := get(e.db, stateKey(id))
	if err != nil {
		return nil, err
	}
	put := func(value []byte) error {
		db, done, err := e.use()
		if err != nil {
			return err
		}
		defer done()
		return db.Set(stateKey(id), value, pebble.Sync)
	}
	return func() error { return put(was) }, put([]byte{1})
}

// SealedSweep sweeps an index after a failure of which the engine does not know yet.
func (e *Engine) SealedSweep(index uint32) {
	e.turn.Lock() // it is not opened again meanwhile
	defer e.turn.Unlock()
	e.db.seal.shut(errors.New("a failure"))
	e.failure.Store(nil)
	e.sweep(index)
}

// WriteBegun is what is left of a write that has been admitted to a shard.
func WriteBegun(ctx context.Context, s shard.Shard, op shard.Op) error {
	l := s.(*local)
	_, err := l.writeGroup(ctx, l.gate.now().Epoch, []shard.Op{op}, make([]shard.Result, 1))
	return err
}

// SetRetry gives the time after which what has failed is tried again, until it is undone.
func SetRetry(after time.Duration) (undo func()) {
	was := retryAfter
	retryAfter = after
	return func() { retryAfter = was }
}

// SpoilValue makes a document one that cannot be read.
func (e *Engine) SpoilValue(s shard.Shard, ref shard.Ref) error {
	l := s.(*local)
	rows, err := l.rows(e.db, false)
	if err != nil {
		return err
	}
	_, found, err := l.find(rows, ref, true, nil)
	if !found {
		return errors.Join(err, rows.Close(), errors.New("it is not there"))
	}
	key := bytes.Clone(rows.Key())
	return errors.Join(rows.Close(), e.db.Set(key, []byte("spoiled"), pebble.Sync))
}

// ScanFor indexes the documents of some numbers out of the rows, and tells how many segments are in the making then.
func ScanFor(ctx context.Context, s shard.Shard, first, last int64) (making, segments int, err error) {
	x := s.(*local).segments
	x.shard.mu.Lock()
	v, base, err := x.viewed()
	x.shard.mu.Unlock()
	if err != nil {
		return 0, 0, err
	}
	defer base.release()
	h := x.harvest(ctx, v)
	err = h.scanned(v.within, []numbers{{first, last}}, newEdit(newStack(-1, v.within, nil, nil)))
	making, segments = x.shard.engine.Making(), len(h.entries)
	h.drop()
	x.shard.mu.Lock()
	defer x.shard.mu.Unlock()
	return making, segments, errors.Join(err, v.drop())
}

// HoldMerges takes the slot of merges, until it is undone.
func (e *Engine) HoldMerges() (undo func()) {
	e.merging <- struct{}{}
	return func() { <-e.merging }
}

// Making is how many segments are in the making.
func (e *Engine) Making() int { return cap(e.makers) - len(e.makers) }

// ShowMore has a shard say that there is a document more than it shows.
func ShowMore(s shard.Shard) {
	l := s.(*local)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.published.docs++
}

package embedded

import (
	"errors"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// durable is what a shard knows of its manifest. It is changed with the turn held.
type durable struct {
	manifest
	is     bool                     // there is one
	masks  map[uint64]*segment.Bits // that are stored, by entry
	unsure bool                     // something else may be stored
}

// load reads the manifest and opens its files. Entries whose files are damaged come as
// what they held. Without a manifest that fits the shard there is no stack. Taken is the term
// for which it was staged, if it has been taken up just now, and else 0.
func (x *segments) load(from pebble.Reader, taken int64) (st *stack, err error) {
	s := x.shard
	x.durable = durable{masks: map[uint64]*segment.Bits{}}
	value, err := get(from, manifestKey(s.id))
	if err != nil || value == nil {
		return nil, err
	}
	m, err := readManifest(value)
	if err == nil && (m.committed > s.state.last || m.committed < s.state.pruned) {
		err = fault.New(fault.Corrupt, "the manifest is of number %d, the changes go from %d to %d", m.committed, s.state.pruned+1, s.state.last)
	}
	if err != nil {
		x.durable.unsure = true
		x.damaged(err)
		return nil, nil
	}
	var lost []numbers
	var entries []*entry
	for _, listed := range m.entries {
		x.above(listed.number)
		e, err := x.open(from, listed, taken)
		switch {
		case err != nil && !scarce(err):
			x.damaged(err)
			x.durable.unsure = true
			lost = append(lost, listed.numbers)
		case err != nil:
			for _, e := range entries {
				e.release()
			}
			return nil, err
		default:
			entries = append(entries, e)
			x.durable.masks[e.number] = e.hidden
		}
	}
	x.durable.manifest, x.durable.is = m, true
	x.committed.Store(m.committed)
	st = newStack(m.committed, m.covers, lost, entries)
	if m.wider {
		ed := newEdit(st)
		ed.narrow(m.covers)
		all := st
		st = ed.rest()
		all.release()
	}
	return st, nil
}

// above lets numbers that are given from now on be greater than one.
func (x *segments) above(number uint64) {
	for was := x.numbers.Load(); was < number && !x.numbers.CompareAndSwap(was, number); { // a commit or a merge takes one meanwhile
		was = x.numbers.Load()
	}
}

// scarce reports whether a file cannot be opened now, but could at another time.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// damaged tells that documents are made findable again.
func (x *segments) damaged(cause error) {
	x.made[forDamage].Add(1)
	x.shard.engine.options.Logger.Error("store: a damaged segment is made again", "shard", place(x.shard.id), "cause", cause)
}

// open opens the file of an entry.
func (x *segments) open(from pebble.Reader, of listed, taken int64) (*entry, error) {
	id, e := x.shard.id, x.shard.engine
	var known *segment.Bits
	if taken > 0 {
		known = e.stagedMasks.get(maskOf{id, taken, of.number})
	}
	return openListed(e.files, from, id.Index, of, maskKey(id, of.number), known)
}

// openListed opens the file of an entry whose mask lies at a key, and may be known.
func openListed(files *files, from pebble.Reader, index uint32, of listed, mask []byte, known *segment.Bits) (*entry, error) {
	f, err := files.get(index, of.name)
	if err != nil {
		return nil, err
	}
	e := &entry{file: f, first: of.first, last: of.last, number: of.number, shown: f.Docs(), docs: f.Roots()}
	if !of.hides {
		return e, nil
	}
	if e.hidden = known; known == nil {
		var value []byte
		if value, err = get(from, mask); err == nil {
			e.hidden, err = segment.ReadBits(value, f.Docs())
		}
	}
	if err == nil {
		err = e.count()
	}
	if err != nil {
		f.release()
		return nil, err
	}
	return e, nil
}

// store makes a manifest of all entries of the shard's stack that are files, synced. What it
// claims is worked out from the stack alone (claim), so it holds whatever else was at work
// meanwhile; where it would claim less than the one that there is, whose changes may be gone,
// nothing is stored, and a commit is due. What does not show all that there is, is not stored
// either: it is being made again. The turn is held.
func (x *segments) store() error {
	st := x.retained()
	defer st.release()
	if err := errors.Join(x.shard.usable(), st.whole()); err != nil {
		return err
	}
	committed, ok := st.claim()
	if !ok || committed < x.committed.Load() {
		x.due.Store(true)
		return nil
	}
	next := durable{manifest: manifest{committed: committed, covers: st.covers}, is: true, masks: map[uint64]*segment.Bits{}}
	for _, e := range st.files() {
		next.entries = append(next.entries, listed{number: e.number, numbers: e.numbers(), name: e.name, hides: e.hidden != nil})
		next.masks[e.number] = e.hidden
	}
	return x.storeNext(next)
}

// storeNext replaces what is stored. The turn is held.
func (x *segments) storeNext(next durable) error {
	files := x.shard.engine.files
	files.naming.RLock()
	defer files.naming.RUnlock()
	db, done, err := x.shard.engine.use()
	if err != nil {
		return err
	}
	b := db.NewBatch()
	if err = x.write(b, &next); err == nil {
		x.durable.unsure = true
		err = db.apply(b)
	}
	done() // a failing disk may sync for long
	if err == nil {
		err = db.await(b)
	}
	if err != nil {
		return err
	}
	next.unsure = false
	files.named(x.shard.id.Index, next.entries)
	x.durable = next
	x.committed.Store(next.committed)
	return nil
}

// narrowStored makes the manifest one of a smaller range, before another shard may write
// outside of it. The turn is held.
func (x *segments) narrowStored(to routing.Range) error {
	d := x.durable
	if !d.is || covers(to, d.covers) {
		return nil
	}
	left, any := to.Meet(d.covers)
	if !any || d.unsure { // the next commit makes another
		return x.storeNext(durable{manifest: manifest{committed: -1}})
	}
	d.covers, d.wider, d.entries = left, true, slices.Clone(d.entries)
	return x.storeNext(d)
}

// write puts what is stored next into a batch: masks that are not stored yet, too.
func (x *segments) write(b *pebble.Batch, next *durable) (err error) {
	id, stored := x.shard.id, x.durable.masks
	if x.durable.unsure || !next.is {
		lower, upper := bounds(appendShard(nil, manifestSpace, id))
		err, stored = b.DeleteRange(lower, upper, nil), nil
	}
	if !next.is {
		return err
	}
	for number, mask := range next.masks {
		if mask != nil && stored[number] != mask {
			err = errors.Join(err, b.Set(maskKey(id, number), mask.AppendTo(nil), nil))
		}
	}
	for number, mask := range stored {
		if _, is := next.masks[number]; !is && mask != nil {
			err = errors.Join(err, b.Delete(maskKey(id, number), nil))
		}
	}
	return errors.Join(err, b.Set(manifestKey(id), encodeManifest(&next.manifest), nil))
}

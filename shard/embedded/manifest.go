package embedded

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
	"github.com/reshelve/reshelve/shard"
)

// manifest is what is stored of a shard's segments: entries whose segments are files, as
// of one sequence number. FORMAT.md tells how.
type manifest struct {
	committed int64 // what was written up to it is found
	covers    routing.Range
	wider     bool // the masks do not hide all that is outside of covers
	entries   []listed
}

// listed is an entry as it is stored; what it hides is stored beside.
type listed struct {
	number uint64 // from 1
	numbers
	name  string
	hides bool
}

const manifestVersion = 1

func encodeManifest(m *manifest) []byte {
	dst := binary.AppendUvarint(nil, manifestVersion)
	dst = binary.AppendUvarint(dst, uint64(m.committed+1))
	dst = appendFlag(dst, m.wider)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.covers.From))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.covers.To))
	dst = binary.AppendUvarint(dst, uint64(len(m.entries)))
	for _, e := range m.entries {
		for _, n := range [...]uint64{e.number, uint64(e.first), uint64(e.last), uint64(len(e.name))} {
			dst = binary.AppendUvarint(dst, n)
		}
		dst = append(dst, e.name...)
		dst = appendFlag(dst, e.hides)
	}
	return dst
}

func appendFlag(dst []byte, flag bool) []byte {
	if flag {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// flag is a byte that is 0 or 1.
func (d *decoder) flag() bool {
	b := d.byte()
	if b > 1 {
		d.fail()
	}
	return b == 1
}

// minListed is the least that an entry takes.
const minListed = 1 + 1 + 1 + 1 + 1 + 1

func readManifest(value []byte) (manifest, error) {
	d := decoder{rest: value, what: "manifest"}
	if d.number() != manifestVersion {
		d.fail()
	}
	m := manifest{committed: d.number() - 1, wider: d.flag()}
	m.covers = routing.Range{From: routing.Key(d.fixed()), To: routing.Key(d.fixed())}
	n := d.number()
	if n > int64(len(d.rest))/minListed || m.covers.From > m.covers.To {
		d.fail()
	}
	for i := int64(0); i < n && d.err == nil; i++ {
		e := listed{number: uint64(d.number()), numbers: numbers{d.number(), d.number()}, name: string(d.bytes())}
		e.hides = d.flag()
		if e.number == 0 || e.first > e.last || e.name == "" || e.name != filepath.Base(e.name) {
			d.fail()
		}
		m.entries = append(m.entries, e)
	}
	if len(d.rest) > 0 {
		d.fail()
	}
	return m, d.err
}

func manifestKey(id shard.ID) []byte { return append(appendShard(nil, manifestSpace, id), end) }

// maskKey is that of what an entry hides.
func maskKey(id shard.ID, number uint64) []byte {
	return append(binary.BigEndian.AppendUint64(appendShard(nil, manifestSpace, id), number), end)
}

// get reads a value as a copy; nil when there is none.
func get(from pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := from.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	value = append([]byte{}, value...)
	return value, closer.Close()
}

// named are the files that the manifests of an index name, those that are staged too.
func named(from pebble.Reader, index uint32) (map[string]bool, error) {
	names := map[string]bool{}
	err := errors.Join(
		namedIn(from, appendIndex(nil, manifestSpace, index), func(key []byte) bool { return len(key) == shardPrefix+1 }, names),
		namedIn(from, appendIndex(nil, stageSpace, index), isStagedManifest, names))
	return names, err
}

// namedIn adds the files that manifests name: what lies at keys with a prefix that are one's.
func namedIn(from pebble.Reader, prefix []byte, isManifest func(key []byte) bool, names map[string]bool) error {
	lower, upper := bounds(prefix)
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if !isManifest(it.Key()) {
			continue
		}
		var value []byte
		var m manifest
		if value, err = it.ValueAndErr(); err == nil {
			m, err = readManifest(value)
		}
		for _, e := range m.entries {
			names[e.name] = true
		}
	}
	return errors.Join(err, it.Error(), it.Close())
}

// durable is what a shard knows of its manifest. It is changed with the turn held.
type durable struct {
	manifest
	is     bool                     // there is one
	redone int64                    // of the stack that it was made of
	masks  map[uint64]*segment.Bits // that are stored, by entry
	unsure bool                     // something else may be stored
}

// has reports whether an entry is in the manifest.
func (d *durable) has(e *entry) bool {
	_, is := d.masks[e.number]
	return is
}

// of reports whether the manifest holds all that it should of what it names: files of the
// stack may take each other's place in it.
func (d *durable) of(st *stack) bool {
	return d.is && !d.unsure && d.redone == st.redone && len(st.lost) == 0
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
		x.numbers.Store(max(x.numbers.Load(), listed.number))
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
	st = newStack(m.committed, m.covers, lost, 0, entries)
	if m.wider {
		ed := newEdit(st)
		ed.narrow(m.covers)
		all := st
		st = ed.rest()
		all.release()
	}
	return st, nil
}

// scarce reports whether a file cannot be opened now, but could at another time.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// damaged tells that documents are made findable again.
func (x *segments) damaged(cause error) {
	x.shard.engine.options.Logger.Error("store: a damaged segment is made again", "shard", place(x.shard.id), "cause", cause)
}

// open opens the file of an entry.
func (x *segments) open(from pebble.Reader, of listed, taken int64) (*entry, error) {
	id, e := x.shard.id, x.shard.engine
	var known *segment.Bits
	if taken > 0 {
		known = e.masks.get(maskOf{id, taken, of.number})
	}
	return openListed(e.files, from, id.Index, of, maskKey(id, of.number), known)
}

// openListed opens the file of an entry whose mask lies at a key, and may be known.
func openListed(files *files, from pebble.Reader, index uint32, of listed, mask []byte, known *segment.Bits) (*entry, error) {
	f, err := files.get(index, of.name)
	if err != nil {
		return nil, err
	}
	e := &entry{file: f, first: of.first, last: of.last, number: of.number, shown: f.Docs()}
	if !of.hides {
		return e, nil
	}
	if e.hidden = known; known == nil {
		var value []byte
		if value, err = get(from, mask); err == nil {
			e.hidden, err = segment.ReadBits(value, f.Docs())
		}
	}
	if err != nil {
		f.release()
		return nil, err
	}
	e.shown -= e.hidden.Count()
	return e, nil
}

// store makes a manifest of those entries of a stack that belong to it, synced: of all
// that show what was written up to a number. The turn is held.
func (x *segments) store(committed int64, within routing.Range, st *stack, belongs func(*entry) bool) error {
	next := durable{manifest: manifest{committed: committed, covers: within, wider: !covers(within, st.covers)},
		is: true, redone: st.redone, masks: map[uint64]*segment.Bits{}}
	for _, e := range st.entries {
		if belongs(e) {
			next.entries = append(next.entries, listed{number: e.number, numbers: e.numbers(), name: e.name, hides: e.hidden != nil})
			next.masks[e.number] = e.hidden
		}
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

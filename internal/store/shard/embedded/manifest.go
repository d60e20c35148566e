package embedded

import (
	"encoding/binary"
	"errors"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
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
	given := map[uint64]bool{}
	for i := int64(0); i < n && d.err == nil; i++ {
		e := listed{number: uint64(d.number()), numbers: numbers{d.number(), d.number()}, name: string(d.bytes())}
		e.hides = d.flag()
		if e.number == 0 || given[e.number] || e.first > e.last || e.name == "" || e.name != filepath.Base(e.name) {
			d.fail()
		}
		given[e.number] = true
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
	err := errors.Join( // in this order: what is staged becomes a shard's own meanwhile, never the reverse
		namedIn(from, appendIndex(nil, stageSpace, index), isStagedManifest, names),
		namedIn(from, appendIndex(nil, manifestSpace, index), func(key []byte) bool { return len(key) == shardPrefix+1 }, names))
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

package embedded

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// First bytes of keys; FORMAT.md tells what follows.
const (
	rowSpace   = 'd'
	runSpace   = 'c'
	stateSpace = 's'
	holdSpace  = 'h'

	manifestSpace = 'm'
	stageSpace    = 'p'
)

// Lengths of the parts that keys begin with.
const (
	indexPrefix = 1 + 4         // space, index
	rowPrefix   = 1 + 4 + 8     // and the order key
	shardPrefix = 1 + 4 + 4     // space, index, shard
	runPrefix   = 1 + 4 + 4 + 8 // and the first sequence number
	stagePrefix = 1 + 4 + 4 + 8 // and the term
)

// end is the last byte of a name: of a whole key that has no head, and of what
// stands before the head in the key of a row.
const end = 0

// comparer orders names by their bytes, and rows of one name by their heads. The
// last byte of a key is the length of its head, itself included.
var comparer = &pebble.Comparer{
	Name:                 "reshelve.embedded.1",
	Split:                split,
	Compare:              compare,
	ComparePointSuffixes: bytes.Compare,
	CompareRangeSuffixes: bytes.Compare,
	Equal:                bytes.Equal,
	AbbreviatedKey:       pebble.DefaultComparer.AbbreviatedKey, // a name with a head is longer than 8 bytes
	FormatKey:            pebble.DefaultComparer.FormatKey,
	Separator:            separator,
	Successor:            func(dst, a []byte) []byte { return append(dst, a...) },
	ImmediateSuccessor:   func(dst, a []byte) []byte { return append(append(dst, a...), end) },
}

// split is the length of a key's name.
func split(key []byte) int {
	if len(key) == 0 {
		return 0
	}
	if head := int(key[len(key)-1]); head <= len(key) {
		return len(key) - head
	}
	return len(key)
}

func compare(a, b []byte) int {
	m, n := split(a), split(b)
	if order := bytes.Compare(a[:m], b[:n]); order != 0 {
		return order
	}
	return bytes.Compare(a[m:], b[n:])
}

// separator is a short key from a on that is before b: indexes of files are full of
// them. It is a name that differs from a's in one byte, which is higher, and ends there.
func separator(dst, a, b []byte) []byte {
	name, other := a[:split(a)], b[:split(b)]
	at := 0
	for at < len(name) && at < len(other) && name[at] == other[at] {
		at++
	}
	if at < len(name) && name[at]+1 == other[at] {
		at++
	}
	for at < len(name) && name[at] == 0xff {
		at++
	}
	if at+1 >= len(name) {
		return append(dst, a...)
	}
	return append(append(append(dst, name[:at]...), name[at]+1), end)
}

func appendIndex(dst []byte, space byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, space), index)
}

func appendShard(dst []byte, space byte, id shard.ID) []byte {
	return binary.BigEndian.AppendUint32(appendIndex(dst, space, id.Index), id.Number)
}

func stateKey(id shard.ID) []byte { return append(appendShard(nil, stateSpace, id), end) }

func holdKey(id shard.ID, name string) []byte {
	return append(append(appendShard(nil, holdSpace, id), name...), end)
}

// appendName is the name of a row.
func appendName(dst []byte, index uint32, key routing.Key, id string) []byte {
	dst = binary.BigEndian.AppendUint64(appendIndex(dst, rowSpace, index), uint64(key))
	return append(append(dst, id...), end)
}

func appendRunKey(dst []byte, id shard.ID, first int64) []byte {
	return append(binary.BigEndian.AppendUint64(appendShard(dst, runSpace, id), uint64(first)), end)
}

// bounds are the first key that begins with prefix and the first behind all.
func bounds(prefix []byte) (lower, upper []byte) {
	lower = append(bytes.Clone(prefix), end)
	upper = bytes.Clone(prefix)
	for i := len(upper) - 1; ; i-- { // spaces are letters, so it ends
		upper[i]++
		if upper[i] != 0 {
			return lower, append(upper[:i+1], end)
		}
	}
}

// rowBounds are the first key of a range and the first behind it.
func rowBounds(index uint32, r routing.Range) (lower, upper []byte) {
	lower = appendName(nil, index, r.From, "")
	if r.To == routing.MaxKey {
		_, upper = bounds(appendIndex(nil, rowSpace, index))
		return lower, upper
	}
	return lower, appendName(nil, index, r.To+1, "")
}

// firstOf reads a run's key.
func firstOf(key []byte) (int64, error) {
	if len(key) != runPrefix+1 || key[0] != runSpace || key[shardPrefix]&0x80 != 0 {
		return 0, fault.New(fault.Corrupt, "the key of a run of changes is % x", key)
	}
	return int64(binary.BigEndian.Uint64(key[shardPrefix:])), nil
}

// indexOf reads the index of any key.
func indexOf(key []byte) (uint32, error) {
	if len(key) < indexPrefix {
		return 0, fault.New(fault.Corrupt, "a key has %d bytes", len(key))
	}
	return binary.BigEndian.Uint32(key[1:]), nil
}

package embedded

import (
	"encoding/binary"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/shard"
)

// First bytes of keys; FORMAT.md tells what follows.
const (
	rowSpace    = 'd'
	runSpace    = 'c'
	stateSpace  = 's'
	holdSpace   = 'h'
	indexPrefix = 1 + 4         // space, index
	rowPrefix   = 1 + 4 + 8     // and the order key
	shardPrefix = 1 + 4 + 4     // space, index, shard
	runKeySize  = 1 + 4 + 4 + 8 // and the first sequence number
)

func appendIndex(dst []byte, space byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, space), index)
}

func appendShard(dst []byte, space byte, id shard.ID) []byte {
	return binary.BigEndian.AppendUint32(appendIndex(dst, space, id.Index), id.Number)
}

func appendRowKey(dst []byte, index uint32, key routing.Key, id string) []byte {
	dst = binary.BigEndian.AppendUint64(appendIndex(dst, rowSpace, index), uint64(key))
	return append(dst, id...)
}

func appendRunKey(dst []byte, id shard.ID, first int64) []byte {
	return binary.BigEndian.AppendUint64(appendShard(dst, runSpace, id), uint64(first))
}

// rowBounds are the first key of a range and the first behind it.
func rowBounds(index uint32, r routing.Range) (lower, upper []byte) {
	lower = appendRowKey(nil, index, r.From, "")
	if r.To == routing.MaxKey {
		return lower, after(appendIndex(nil, rowSpace, index))
	}
	return lower, appendRowKey(nil, index, r.To+1, "")
}

// after is the first key behind all that begin with prefix, which it changes.
// Prefixes begin with a space and so never hold 0xff alone.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; ; i-- {
		prefix[i]++
		if prefix[i] != 0 {
			return prefix[:i+1]
		}
	}
}

// refOf reads a row's key.
func refOf(key []byte) (shard.Ref, error) {
	if len(key) < rowPrefix || key[0] != rowSpace {
		return shard.Ref{}, fault.New(fault.Corrupt, "the key of a row has %d bytes", len(key))
	}
	order := binary.BigEndian.Uint64(key[indexPrefix:rowPrefix])
	return shard.Ref{Key: routing.Key(order), ID: string(key[rowPrefix:])}, nil
}

// firstOf reads a run's key.
func firstOf(key []byte) (int64, error) {
	if len(key) != runKeySize || key[0] != runSpace || key[shardPrefix]&0x80 != 0 {
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

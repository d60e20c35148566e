package embedded

import (
	"encoding/binary"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Flags of a row's head.
const (
	flagDeleted = 1 << iota
	flagRouting // the value begins with a routing value, whose length is in the head
	flagPacked  // the source is packed; its length is in the head
	flagsKnown  = flagDeleted | flagRouting | flagPacked
)

// head is what the key of a row holds behind its name: all that a write must know of
// what it meets, so that writes read no values. The newest row of a name comes first.
type head struct {
	document.Versions
	deleted bool
	routing int // length of the routing value
	packed  int // length of the source that is packed; 0: it is stored as it came
}

// maxHead is the most that an encoded head takes.
const maxHead = 8 + 1 + 4*binary.MaxVarintLen64 + 1

func appendHead(dst []byte, h head) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, ^uint64(h.SeqNo))
	flags := byte(0)
	if h.deleted {
		flags |= flagDeleted
	}
	if h.routing > 0 {
		flags |= flagRouting
	}
	if h.packed > 0 {
		flags |= flagPacked
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(h.PrimaryTerm))
	dst = binary.AppendUvarint(dst, uint64(h.Version))
	if h.routing > 0 {
		dst = binary.AppendUvarint(dst, uint64(h.routing))
	}
	if h.packed > 0 {
		dst = binary.AppendUvarint(dst, uint64(h.packed))
	}
	return append(dst, byte(len(dst)-begin+1))
}

// readHead reads a head with its length at the end.
func readHead(data []byte) (h head, err error) {
	d := decoder{what: "head of a row"}
	if len(data) > 0 {
		d.rest = data[:len(data)-1]
	}
	seqNo := ^d.fixed()
	flags := d.byte()
	h.PrimaryTerm, h.Version = d.number(), d.number()
	h.SeqNo, h.deleted = int64(seqNo), flags&flagDeleted != 0
	if flags&flagRouting != 0 {
		h.routing = int(min(d.number(), 1<<31-1))
	}
	if flags&flagPacked != 0 {
		h.packed = int(min(d.number(), 1<<31-1))
	}
	if seqNo > 1<<63-1 || flags&^flagsKnown != 0 || h.deleted && h.packed > 0 || len(d.rest) > 0 {
		d.fail()
	}
	return h, d.err
}

// splitRow reads the key of a row.
func splitRow(key []byte) (order routing.Key, id []byte, h head, err error) {
	n := split(key)
	if n < rowPrefix+1 || key[0] != rowSpace || key[n-1] != end {
		return 0, nil, head{}, fault.New(fault.Corrupt, "the key of a row is % x", key)
	}
	h, err = readHead(key[n:])
	return routing.Key(binary.BigEndian.Uint64(key[indexPrefix:])), key[rowPrefix : n-1], h, err
}

// rowOf is a row from its head and its value: the routing value, then the source,
// which becomes a part of the row where it is not packed, and is unpacked in space otherwise.
func rowOf(ref shard.Ref, h head, value []byte, noSource bool, space []byte) (row shard.Row, err error) {
	if len(value) < h.routing || h.deleted && len(value) > h.routing {
		return shard.Row{}, fault.New(fault.Corrupt, "the value of a row has %d bytes, %d of them routing", len(value), h.routing)
	}
	row = shard.Row{Ref: ref, Versions: h.Versions, Routing: string(value[:h.routing]), Deleted: h.deleted}
	switch {
	case noSource || h.deleted:
	case h.packed > 0:
		row.Source, err = unpack(space, value[h.routing:], h.packed)
	default:
		row.Source = value[h.routing:]
	}
	return row, err
}

// decoder reads the parts of a value; the first that is not there is its error.
type decoder struct {
	rest []byte
	what string
	err  error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = fault.New(fault.Corrupt, "a %s is torn, %d bytes before its end", d.what, len(d.rest))
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// number is a varint that fits a non-negative int64.
func (d *decoder) number() int64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > 1<<63-1 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return int64(n)
}

// fixed is 8 bytes, big-endian.
func (d *decoder) fixed() uint64 {
	if len(d.rest) < 8 {
		d.fail()
		return 0
	}
	n := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return n
}

// bytes are a length and as many bytes.
func (d *decoder) bytes() []byte {
	n := d.number()
	if n > int64(len(d.rest)) {
		d.fail()
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

package embedded

import (
	"encoding/binary"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/shard"
)

// Flags of a row's value.
const (
	flagDeleted = 1 << iota
	flagRouting
	flagsKnown = flagDeleted | flagRouting
)

// rowHead is what a row's value holds before routing and source.
type rowHead struct {
	seqNo, term, version int64
	deleted              bool
}

// appendHead writes the head of a row's value.
func appendHead(dst []byte, h *rowHead, routing string) []byte {
	flags := byte(0)
	if h.deleted {
		flags |= flagDeleted
	}
	if routing != "" {
		flags |= flagRouting
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(h.seqNo))
	dst = binary.AppendUvarint(dst, uint64(h.term))
	dst = binary.AppendUvarint(dst, uint64(h.version))
	if routing != "" {
		dst = binary.AppendUvarint(dst, uint64(len(routing)))
		dst = append(dst, routing...)
	}
	return dst
}

// splitRow reads a row's value: its head, and routing and source, which are parts of it.
func splitRow(value []byte) (h rowHead, routing, source []byte, err error) {
	d := decoder{rest: value, what: "row"}
	flags := d.byte()
	h.seqNo, h.term, h.version = d.number(), d.number(), d.number()
	if flags&flagRouting != 0 {
		routing = d.bytes()
	}
	h.deleted = flags&flagDeleted != 0
	if flags&^flagsKnown != 0 || h.deleted && len(d.rest) > 0 {
		d.fail()
	}
	return h, routing, d.rest, d.err
}

// rowOf is a row whose slices are parts of value.
func rowOf(ref shard.Ref, value []byte, noSource bool) (shard.Row, error) {
	h, routing, source, err := splitRow(value)
	if err != nil {
		return shard.Row{}, err
	}
	row := shard.Row{Ref: ref, Routing: string(routing), Deleted: h.deleted}
	row.Version, row.SeqNo, row.PrimaryTerm = h.version, h.seqNo, h.term
	if !noSource && !h.deleted {
		row.Source = source
	}
	return row, nil
}

// decoder reads the parts of a value; the first that is not there is its error.
type decoder struct {
	rest []byte
	what string
	err  error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = fault.New(fault.Corrupt, "the value of a %s is torn, %d bytes before its end", d.what, len(d.rest))
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

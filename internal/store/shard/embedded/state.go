package embedded

import (
	"encoding/binary"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// state is what is stored of a shard beside its rows and changes. It is written in
// the batch of every group.
type state struct {
	last       int64         // sequence number given out; -1: none
	pruned     int64         // changes up to it are gone; -1: none
	term       int64         // under which last was given
	within     routing.Range // in which the counts were made
	docs       int64
	tombstones int64
	bytes      int64 // of ids, routing and sources of the documents
	estimated  bool  // the tombstones and bytes of within were not counted
}

// uncounted is what formats before 4 stored as the range of a state whose counts are
// estimates. No shard owns one key alone, so they are counted when it is opened.
var uncounted = routing.Range{From: routing.MaxKey, To: routing.MaxKey}

func encodeState(s *state) []byte {
	var dst []byte
	for _, n := range [...]int64{s.last + 1, s.pruned + 1, s.term, max(s.docs, 0), max(s.tombstones, 0), max(s.bytes, 0)} { // an estimate may turn out too low
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.within.From))
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.within.To))
	if s.estimated {
		dst = append(dst, 1)
	}
	return dst
}

func readState(value []byte) (state, error) {
	d := decoder{rest: value, what: "state of a shard"}
	s := state{last: d.number() - 1, pruned: d.number() - 1, term: d.number(), docs: d.number(), tombstones: d.number(), bytes: d.number()}
	s.within = routing.Range{From: routing.Key(d.fixed()), To: routing.Key(d.fixed())}
	s.estimated = s.within == uncounted
	if len(d.rest) > 0 && d.rest[0] == 1 {
		s.estimated, d.rest = true, d.rest[1:]
	}
	if len(d.rest) > 0 || s.pruned > s.last || s.within.From > s.within.To {
		d.fail()
	}
	return s, d.err
}

func encodePosition(p shard.Position) []byte {
	dst := binary.AppendUvarint(nil, uint64(p.Incarnation))
	return binary.AppendUvarint(dst, uint64(p.SeqNo+1))
}

func readPosition(value []byte) (shard.Position, error) {
	d := decoder{rest: value, what: "hold"}
	p := shard.Position{Incarnation: d.number(), SeqNo: d.number() - 1}
	if len(d.rest) > 0 {
		d.fail()
	}
	return p, d.err
}

package embedded

import (
	"encoding/binary"
	"time"

	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// run is the changes of one commit group, in order and without holes.
type run struct {
	first int64
	term  int64
	at    time.Time // when the group was applied
	count int64
	rest  decoder // the changes that next has not read
}

// last is the sequence number of the last change.
func (r *run) last() int64 { return r.first + r.count - 1 }

// runHead is the head of a run's value; count changes follow.
func runHead(term int64, at time.Time, count int) []byte {
	dst := binary.AppendUvarint(nil, uint64(term))
	dst = binary.AppendUvarint(dst, uint64(max(at.UnixNano(), 0)))
	return binary.AppendUvarint(dst, uint64(count))
}

// appendChange writes one change of a run.
func appendChange(dst []byte, key routing.Key, id string, op shard.Operation, previous int64) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, byte(op)), uint64(key))
	dst = binary.AppendUvarint(dst, uint64(previous+1))
	dst = binary.AppendUvarint(dst, uint64(len(id)))
	return append(dst, id...)
}

// minChange is the least that a change takes.
const minChange = 1 + 8 + 1 + 1

// readRun reads the head of a run; next reads its changes.
func readRun(first int64, value []byte) (run, error) {
	d := decoder{rest: value, what: "run of changes"}
	r := run{first: first, term: d.number(), at: time.Unix(0, d.number()), count: d.number()}
	if r.count < 1 || r.count > int64(len(d.rest))/minChange || first < 0 || first+r.count < first {
		d.fail()
	}
	r.rest = d
	return r, d.err
}

// next reads the change with the given sequence number, which follows the one read
// before. After the last one nothing may be left.
func (r *run) next(seqNo int64) (shard.Change, error) {
	d := &r.rest
	c := shard.Change{SeqNo: seqNo, Op: shard.Operation(d.byte())}
	c.Key = routing.Key(d.fixed())
	c.Previous = d.number() - 1
	c.ID = string(d.bytes())
	if c.Op > shard.Delete || seqNo == r.last() && len(d.rest) > 0 {
		d.fail()
	}
	return c, d.err
}

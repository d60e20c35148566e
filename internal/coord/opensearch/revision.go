package opensearch

import (
	"github.com/reshelve/reshelve/internal/fault"
)

// A revision is made of what the server says of a document's last change:
//
//	63      62 … 41         40 … 1                  0
//	0   |   primary term  |  sequence number + 1  |  1: a deletion
//
// One shard has one sequence, and a term is the life of one primary, so that a later
// change has a larger revision, and the condition of a change is found in it again.
// The last bit keeps the revision of a deletion from being the condition of a swap.
const (
	termBits  = 22
	seqBits   = 40
	seqShift  = 1
	termShift = seqShift + seqBits
)

// position is where a change stands in the sequence of the shard.
type position struct {
	term, seq int64
}

// before is the position before the first change.
var before = position{seq: -1}

func (p position) revision(deleted bool) (int64, error) {
	if p.term < 1 || p.term >= 1<<termBits || p.seq < 0 || p.seq >= 1<<seqBits-1 {
		return 0, fault.New(fault.Limit, "primary term %d and sequence number %d make no revision", p.term, p.seq)
	}
	revision := p.term<<termShift | (p.seq+1)<<seqShift
	if deleted {
		revision |= 1
	}
	return revision, nil
}

// positionOf takes a revision apart. A revision that no change has yields a
// position whose term is 0.
func positionOf(revision int64) (p position, deleted bool) {
	if revision < 1<<termShift {
		return before, false
	}
	return position{
		term: revision >> termShift,
		seq:  revision>>seqShift&(1<<seqBits-1) - 1,
	}, revision&1 == 1
}

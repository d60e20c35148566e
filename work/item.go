package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/fault"
)

// ToEnd is the End of an item that reaches to the end of its shard.
const ToEnd = -1

// Item is one range of positions of a shard of a snapshot.
type Item struct {
	Lease
	Index string `json:"index"`
	Shard int    `json:"shard"`
	Start int64  `json:"start"` // the first position
	End   int64  `json:"end"`   // the position after the last; ToEnd
	// Cursor is the first position that is not acknowledged.
	Cursor             int64    `json:"cursor"`
	SuccessorWorkItems []string `json:"successorWorkItems,omitempty"`
	Counts
}

// Counts are what has become of the documents before the cursor.
type Counts struct {
	Read         int64 `json:"read"`         // live documents
	Acknowledged int64 `json:"acknowledged"` // by the target
	Conflicts    int64 `json:"conflicts"`    // a newer version stood there
	Failed       int64 `json:"failed"`       // in the list of failures
	Dropped      int64 `json:"dropped"`      // by a transformation
	Bytes        int64 `json:"bytes"`        // of sources, as read
	Retries      int64 `json:"retries"`      // of requests and documents
}

// Add adds what others counted.
func (c *Counts) Add(o Counts) {
	c.Read += o.Read
	c.Acknowledged += o.Acknowledged
	c.Conflicts += o.Conflicts
	c.Failed += o.Failed
	c.Dropped += o.Dropped
	c.Bytes += o.Bytes
	c.Retries += o.Retries
}

// Name is the item's: index__shard__start.
func (i *Item) Name() string { return fmt.Sprintf("%s__%d__%d", i.Index, i.Shard, i.Start) }

// Advance stores how far worker has come, and what became of the documents up to there.
func (i Item) Advance(worker string, now time.Time, cursor int64, counts Counts) (Item, error) {
	if i.Named() {
		return i, fault.New(fault.Bug, "%s goes on in its successor %q", i.Name(), i.SuccessorWorkItems)
	}
	if cursor < i.Cursor || cursor > i.End && i.End != ToEnd {
		return i, fault.New(fault.Bug, "the cursor of %s would go from %d to %d", i.Name(), i.Cursor, cursor)
	}
	l, err := i.Beat(worker, now, cursor > i.Cursor)
	if err != nil {
		return i, err
	}
	i.Lease, i.Cursor, i.Counts = l, cursor, counts
	return i, nil
}

// Successor is the item that goes on at i's cursor, named in i: the second of the four
// steps, and the third's record. Setup is how long it took from the claim to the first
// document: longer than a tenth of the lease, and the next lease is longer; shorter than a
// fortieth, and it is shorter. When i names a successor already, that one is given again.
// An item that has not come further has no successor: fault.Refused; release it.
func (i Item) Successor(p Policy, worker string, now time.Time, setup time.Duration) (named, successor Item, err error) {
	if err := i.Held(worker, now); err != nil {
		return i, Item{}, err
	}
	if i.Cursor == i.Start {
		return i, Item{}, fault.New(fault.Refused, "%s has not come further", i.Name())
	}
	successor = Item{Index: i.Index, Shard: i.Shard, Start: i.Cursor, End: i.End, Cursor: i.Cursor}
	successor.CreatorID = worker
	if !slices.Contains(i.SuccessorWorkItems, successor.Name()) && len(i.SuccessorWorkItems) > 0 {
		return i, Item{}, fault.New(fault.Bug, "%s names the successor %q already", i.Name(), i.SuccessorWorkItems)
	}
	successor.NextAcquisitionLeaseExponent = nextExponent(p, max(i.NextAcquisitionLeaseExponent-1, 0), setup)
	i.SuccessorWorkItems = []string{successor.Name()}
	return i, successor, nil
}

// nextExponent is that of a successor of a lease with exponent used.
func nextExponent(p Policy, used int, setup time.Duration) int {
	lease := p.Duration(used)
	switch {
	case setup > lease/10:
		used++
	case setup < lease/40:
		used--
	}
	return min(max(used, 0), maxExponent)
}

// Named is whether the item ends in a successor: what is left to do is to create it, and to
// complete the item.
func (i *Item) Named() bool { return len(i.SuccessorWorkItems) > 0 }
